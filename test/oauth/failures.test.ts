import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { OAUTH_FAILURES } from '../../src/authorization/oauth/failures.ts'
import { OIDC_FAILURES } from '../../src/authorization/oidc/failures.ts'
import { RESOURCE_FAILURES } from '../../src/authorization/resource/failures.ts'
import {
  contractAnswer,
  type FailureRow,
  failureFactory,
  NamedFailure,
  oauthErrorOf,
} from '../../src/platform/lib/failure.ts'
import { localized } from '../../src/platform/lib/localized-text.ts'
import { RescodeError } from '../../src/platform/lib/web/rescode.ts'
import { folderOf } from '../rooms.ts'

/** The failure tables of A1–A5 and of the standard dialect, and that no operation bypasses them. */

const TABLES: Readonly<Record<string, Readonly<Record<string, FailureRow>>>> = {
  oauth: OAUTH_FAILURES,
  resource: RESOURCE_FAILURES,
  oidc: OIDC_FAILURES,
}

const withoutComments = (source: string): string => source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '')

/** Files that list failures without using them. */
const LISTS = ['failures.ts', 'check-sequences.ts']

/** The sources of a module except its tables. */
const sourcesOf = (room: string): [file: string, source: string][] => {
  const folder = new URL(`../../${folderOf(room)}`, import.meta.url)
  return readdirSync(folder)
    .filter((file) => !LISTS.includes(file))
    .map((file) => [file, withoutComments(readFileSync(new URL(file, folder), 'utf8'))])
}

describe.each(Object.entries(TABLES))('the failures of %s', (room, table) => {
  it('are all used, and no other file names a rescode', () => {
    const sources = sourcesOf(room)
    const all = sources.map(([, source]) => source).join('\n')
    expect(Object.keys(table).filter((name) => !new RegExp(`'${name}'|\\.${name}\\b`).test(all))).toEqual([])
    const bypassing = sources.filter(([, source]) => /\b200[0-2]\d\b|RescodeError|\binvalidRequest\b/.test(source))
    expect(bypassing.map(([file]) => file)).toEqual([])
  })
})

describe.each(['oauth', 'resource'])('the failures of %s', (room) => {
  const table = TABLES[room] ?? {}

  it('that a caller must not distinguish get identical answers', () => {
    const alike = Object.entries(table).filter(([name]) => /^(code|token)_(forged|unknown|used|revoked)/.test(name))
    const answers = alike.map(([name, row]) => {
      const { rescode, message, status } = contractAnswer(failureFactory(table)(name, { value: 'x' }))
      expect(row.rescode).toBe(rescode)
      return `${rescode} ${status(true)} ${message}`
    })
    expect(answers.length).toBeGreaterThan(2)
    expect(new Set(answers)).toHaveLength(1)
  })
})

/** Failures that only the contract's dialect, or an operator, can meet. */
const CONTRACT_ONLY = {
  oauth: [
    'method_not_allowed',
    'url_too_long',
    'app_unknown',
    'credentials_missing',
    'credentials_in_body',
    'basic_contradicts_query',
    'redirect_uri_not_absolute',
    'redirect_uri_not_registered',
    'redirect_uri_with_fragment',
    'redirect_uri_with_answer',
    'state_malformed',
    'state_too_long',
    'state_differs',
    'user_refused',
    'grant_unknown',
  ],
  resource: ['no_phone_number'],
  oidc: ['signing_key_unknown'],
}

describe('the standard column', () => {
  it.each(Object.entries(TABLES))('of %s reports every failure that both dialects share', (room, table) => {
    const missing = Object.keys(table).filter((name) => table[name]?.standard === undefined)
    expect(CONTRACT_ONLY[room as keyof typeof CONTRACT_ONLY]).toEqual(expect.arrayContaining(missing))
  })

  it.each([
    [
      OAUTH_FAILURES,
      /^(code_(forged|unknown|used|of|expired|spent|verifier)|redirect_uri_differs|grant_withdrawn|refresh_)/,
    ],
    [RESOURCE_FAILURES, /^(token_(forged|unknown|revoked|expired)|app_not_approved|user_blocked)/],
    [OAUTH_FAILURES, /^(credentials_(missing|wrong)|basic_malformed)/],
  ])(
    'gives identical answers to failures that a caller must not distinguish',
    (table: Readonly<Record<string, FailureRow>>, alike) => {
      const rows = Object.entries(table).filter(([name, { standard }]) => standard && alike.test(name))
      const answers = rows.map(([name]) => oauthErrorOf(failureFactory(table)(name, { value: 'x' })))
      expect(answers.length).toBeGreaterThan(1)
      for (const answer of answers) expect(answer).toEqual(answers[0])
    },
  )

  it('restricts descriptions to the characters of RFC 6749, whatever the caller sent', () => {
    const standard = {
      error: 'invalid_request',
      status: 400,
      description: (name: string) => localized('parameter-repeated', { name: `"${name}"` }),
    } as const
    const { description } = oauthErrorOf(new NamedFailure('x', { rescode: 20007, standard }, { value: 'a"\\\n爱b' }))
    expect(description).toBe('ab is given twice')
  })
})

describe('a named failure in the contract’s dialect', () => {
  const answerOf = (row: FailureRow, facts = {}) => contractAnswer(new NamedFailure('some_name', row, facts))

  it.each<[string, FailureRow, object, unknown[]]>([
    ['the rescode alone', { rescode: 20006 }, {}, [200, 400, 'Invalid grant']],
    ['a message', { rescode: 20007, what: 'it is too old' }, {}, [200, 400, 'Invalid request: it is too old']],
    ['a status of its own', { rescode: 20007, status: 404, what: 'no' }, {}, [404, 404, 'Invalid request: no']],
    ['a native status of its own', { rescode: 20013, nativeStatus: 400 }, {}, [200, 400, 'Server error']],
    [
      'the value sent, cut at 128 characters and without control characters',
      { rescode: 20013, message: (code) => localized('invalid-code', { code }) },
      { value: `a\u0000\nb${'c'.repeat(200)}` },
      [200, 500, `Invalid authorization code: ab${'c'.repeat(126)}`],
    ],
    [
      'a value that String.replace would take for a pattern',
      { rescode: 20017, what: (type) => type },
      { value: '$&' },
      [200, 400, 'Unsupported grant type: $&; use authorization_code or refresh_token'],
    ],
  ])('answers with %s', (_name, row, facts, [status, nativeStatus, message]) => {
    const answer = answerOf(row, facts)
    expect([answer.status(false), answer.status(true), answer.message]).toEqual([status, nativeStatus, message])
  })

  it('logs its name and detail, never the value sent', () => {
    expect(answerOf({ rescode: 20006 }, { value: 'secret' }).failure).toEqual({ name: 'some_name' })
    expect(answerOf({ rescode: 20014 }, { detail: 'suspended' }).failure).toEqual({
      name: 'some_name',
      detail: 'suspended',
    })
  })

  it('sets Retry-After to at least a second', () => {
    expect(answerOf({ rescode: 20003, status: 429 }, { retryAfterS: 0 }).failure.headers).toEqual({
      'Retry-After': '1',
    })
  })

  it('inserts the value sent literally', () => {
    expect(new RescodeError(20007, { what: '$&' })).toMatchObject({ message: 'Invalid request: $&' })
  })
})
