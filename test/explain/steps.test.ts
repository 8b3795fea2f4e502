import { describe, expect, it } from 'vitest'
import { OAUTH_FAILURES } from '../../src/authorization/oauth/failures.ts'
import { CHECK_SEQUENCES, checkText, type Endpoint, refusingCheckOf } from '../../src/authorization/refusals/checks.ts'
import { RESOURCE_FAILURES } from '../../src/authorization/resource/failures.ts'
import { read } from '../documents/document.ts'

/** The order of checks in the REFERENCE must match the one that `gatehouse explain` shows. */

const TITLES: Readonly<Record<Endpoint, string>> = {
  A1: '### A1: order of checks',
  A2: '### A2: order of checks',
  A3: '### A3: order of checks',
  A4: '### A4 and A5: order of checks',
  A5: '### A4 and A5: order of checks',
}
/** Rows that do not reject the request with an error of area A. */
const NOT_REJECTING = ['user not signed in', 'user refuses']

function rowsOf(title: string): string[][] {
  const after = read('.github/REFERENCE.md').split(title)[1] ?? ''
  const list = /^(?:\d+\. .*\n)+/m.exec(after)?.[0] ?? ''
  return [...list.matchAll(/^(\d+)\. (.*) – (.*)$/gm)].map(([, ...cells]) => cells)
}
const withoutFailure = (check: string) => NOT_REJECTING.includes(check)
type Failures = Readonly<Record<string, { readonly rescode: number }>>
const OF_TOKENS: Failures = OAUTH_FAILURES
const OF_DATA: Failures = RESOURCE_FAILURES

describe.each(Object.entries(CHECK_SEQUENCES))('the sequence of checks of %s', (endpoint, sequence) => {
  const documented = rowsOf(TITLES[endpoint as Endpoint]).filter(
    ([, check = '']) => !withoutFailure(check) && !(endpoint === 'A5' && check.endsWith('(A4)')),
  )

  it('matches the rows of the REFERENCE word for word', () => {
    const implemented = Object.entries(sequence).map(([row, { check }]) => [row, check])
    const own = endpoint === 'A3' ? implemented.filter(([row]) => Number(row) > 8) : implemented
    expect(own).toEqual(documented.map(([row, check]) => [row, check]))
  })

  it('has failures with the rescodes of their rows', () => {
    const table = endpoint === 'A3' ? [...rowsOf(TITLES.A2).slice(0, 8), ...documented] : documented
    for (const [row = '', , rescodes = ''] of table) {
      for (const failure of sequence[Number(row)]?.failures ?? []) {
        const [name = ''] = failure.split(' ')
        const { rescode } = (endpoint < 'A4' ? OF_TOKENS : OF_DATA)[name] ?? OF_TOKENS[name] ?? {}
        expect(rescodes, `${endpoint} row ${row} ${failure}`).toContain(String(rescode))
      }
    }
  })
})

it('each check has a Chinese text, and neither language contains Markdown', () => {
  for (const { check } of Object.values(CHECK_SEQUENCES).flatMap((sequence) => Object.values(sequence))) {
    expect(checkText(check, 'zh-CN'), check).toMatch(/\p{Script=Han}/u)
    for (const locale of ['en', 'zh-CN'] as const) expect(checkText(check, locale)).not.toMatch(/`|\]\(/)
  }
})

it('a failure that is in no table has no step', () => {
  const refused = { endpoint: 'A2', failure: null, detail: null }
  expect(refusingCheckOf(refused)).toBeNull()
  expect(refusingCheckOf({ ...refused, endpoint: '/oauth2/token', failure: 'code_expired' })).toBeNull()
  expect(refusingCheckOf({ ...refused, failure: 'method_not_allowed' })).toEqual({ row: 1, check: 'not POST' })
})

it('what limits an app, and the challenge at A1, have rows of their own', () => {
  const rowOf = (endpoint: string, failure: string, detail: string | null = null) =>
    refusingCheckOf({ endpoint, failure, detail })?.row
  expect(rowOf('A3', 'too_many_refreshes')).toBe(14)
  expect(rowOf('A1', 'code_challenge_malformed')).toBe(17)
  expect(rowOf('A1', 'parameter_missing', 'code_challenge')).toBe(17)
})

it('a parameter in the body instead of the query has the step of a missing one', () => {
  const inBody = { endpoint: 'A2', failure: 'parameters_in_body', detail: 'grant_type' }
  expect(refusingCheckOf(inBody)?.row).toBe(8)
  expect(refusingCheckOf({ ...inBody, endpoint: 'A5', detail: 'access_token' })?.row).toBe(2)
})
