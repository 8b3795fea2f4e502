import Fastify from 'fastify'
import { describe, expect, it } from 'vitest'
import { OAUTH_CHECKS } from '../../src/authorization/oauth/check-sequences.ts'
import { OAUTH_FAILURES } from '../../src/authorization/oauth/failures.ts'
import { readConfig } from '../../src/platform/config/index.ts'
import { settings } from '../../src/platform/config/schema.ts'
import type { CheckSequence, FailureRow } from '../../src/platform/lib/failure.ts'
import { TEXTS } from '../../src/platform/lib/localized-text.ts'
import { RESCODES } from '../../src/platform/lib/web/rescode.ts'
import type { RunDeps } from '../../src/sandbox/certification/index.ts'
import { apiRoutes } from '../../src/sandbox/portal/api/routes.ts'
import { EXPLANATIONS, TOLERATED, WARNINGS } from '../../src/ticketing/mws/diagnose/mistakes.ts'
import { CONTESTANTS } from '../bench/contestants/contestant.ts'
import { verdicts } from '../bench/goals.ts'
import * as programs from '../interop/partners/partners.ts'
import { ARROWS, FLOORS, STANDS_ON } from '../rooms.ts'
import { cellsOf, expectRows, paragraphOf, read, rowOf, rowsAfter } from './document.ts'

/** Tables and figures in documents that repeat lists of the code. Others are checked next to the code they describe. */

const REFERENCE = '.github/REFERENCE.md'
type FailureTable = Readonly<Record<string, FailureRow>>
const CONTRIBUTING = '.github/CONTRIBUTING.md'

/** The default of a setting, as SETTINGS shows it. */
function defaultOf(name: string): string {
  const defaults = readConfig({}) as Readonly<Record<string, unknown>>
  const schema = settings.shape[name as keyof typeof settings.shape]
  if (schema.safeParse(undefined).data === undefined) return ''
  const value = defaults[name]
  if (typeof value === 'boolean') return value ? '`on`' : '`off`'
  const text = Array.isArray(value) ? value.join(',') : String(value)
  return text === '' ? '' : `\`${text}\``
}

describe('SETTINGS', () => {
  it('has an entry for each setting, as its text describes it', () => {
    const meanings = Object.entries(JSON.parse(read('views/locales/settings.en.json')))
    const expected = meanings.map(([name, meaning]) => {
      const byDefault = defaultOf(name)
      return `- \`${name}\`${byDefault && ` (${byDefault})`}: ${meaning}`
    })
    expectRows('.github/SETTINGS.md', 'settings', expected)
  })
})

describe('REFERENCE', () => {
  it('has a row for each rescode', () => {
    const rows = Object.entries(RESCODES).map(([rescode, { name, status, message }]) =>
      rowOf(rescode, name, status, TEXTS[message].replace(/\{(\w+)\}/, '*$1*')),
    )
    expectRows(REFERENCE, 'rescodes', rows)
  })

  it.each([
    ['A2', 1],
    ['A3', 9],
  ] as const)('has a row for each check of %s, from row %i on', (endpoint, first) => {
    const rescodesOf = (names: readonly string[]) => [
      ...new Set(names.map((name) => (OAUTH_FAILURES as FailureTable)[name.replace(/ .*/, '')]?.rescode)),
    ]
    const rows = Object.entries<CheckSequence[number]>(OAUTH_CHECKS[endpoint])
      .filter(([row]) => Number(row) >= first)
      .map(([row, { check, failures }]) => `${row}. ${check} – ${rescodesOf(failures).join('; ')}`)
    expectRows(REFERENCE, `checks of ${endpoint}`, rows)
  })
})

describe('ARCHITECTURE', () => {
  it('draws the floors, and what each stands on', () => {
    const [, drawing = ''] = read('.github/ARCHITECTURE.md').split('```mermaid\n')
    const floors = [...drawing.matchAll(/^ {2}(\w+)\["\1: (.*)"\]$/gm)].map(([, floor, rooms = '']) => [
      floor,
      rooms.split(' · ').sort(),
    ])
    expect(Object.fromEntries(floors)).toEqual(
      Object.fromEntries(Object.entries(FLOORS).map(([floor, rooms]) => [floor, [...rooms].sort()])),
    )
    const arrows = [...drawing.matchAll(/^ {2}top --> (.*)$|^ {2}(operations --> authorization.*)$/gm)]
    const drawn = arrows.map(([, one, other]) => String(one ?? other).split(' --> '))
    const below = (floor: string): string[] => [
      ...new Set(drawn.flatMap((line) => (line.includes(floor) ? line.slice(line.indexOf(floor) + 1) : []))),
    ]
    for (const [floor, lower] of Object.entries(STANDS_ON))
      expect(below(floor).sort(), floor).toEqual([...lower].sort())
  })

  it('lists the rooms', () => {
    const rooms = Object.keys(ARROWS).filter((room) => !['demo', 'cli', 'process'].includes(room))
    const listed = rowsAfter('.github/ARCHITECTURE.md', 'rooms').map((row) => /^- `([\w-]+)`: /.exec(row)?.[1])
    expect(listed.toSorted()).toEqual(rooms.sort())
  })
})

describe('the README of the signature tool', () => {
  const path = 'src/ticketing/mws/diagnose/README.md'
  const onlyWarnings: readonly string[] = WARNINGS.filter((name) => !TOLERATED.some((other) => other === name))
  const mistakes = Object.keys(EXPLANATIONS).filter((name) => !onlyWarnings.includes(name))

  it('names each mistake and no others', () => expectRows(path, 'mistakes', paragraphOf(mistakes)))

  it('names each warning', () => expectRows(path, 'warnings', paragraphOf(WARNINGS)))
})

describe('the README of the headless API', () => {
  it('has a row for each route', async () => {
    const routes: string[] = []
    const app = Fastify({ exposeHeadRoutes: false })
    app.addHook('onRoute', ({ method, url }) => void routes.push(`${method} ${url}`))
    await app.register(apiRoutes, { deps: {} as RunDeps })
    await app.ready()
    await app.close()
    const entries = rowsAfter('src/sandbox/portal/api/README.md', 'calls')
    const calls = entries.flatMap((line) => /^- ([A-Z]+ [^ ?]*)(?:\?\S*)? → /.exec(line)?.[1] ?? [])
    expect(calls.map((call) => call.replace(/\*(\w+)\*/g, ':$1')).sort()).toEqual(routes.sort())
  })
})

describe('the README of the benchmark', () => {
  const path = 'test/bench/README.md'

  it('has a row for each goal, with its limit', () => {
    const goals = verdicts({ rounds: {}, coldStarts: [] }).map(({ goal, limit }) => `${goal}: ${limit}`)
    const rows = rowsAfter(path, 'goals').map((row) => cellsOf(row).slice(0, 2).join(': '))
    expect(rows.toSorted()).toEqual(goals.sort())
  })

  it('has a row for each contestant', () => {
    expect(rowsAfter(path, 'contestants').map((row) => cellsOf(row)[0])).toEqual([...CONTESTANTS])
  })
})

describe('CONTRIBUTING', () => {
  const text = read(CONTRIBUTING).replace(/\s+/g, ' ')
  it('states how many seller programs are certified', () => {
    expect(Object.keys(programs)).toHaveLength(32)
    expect(text).toContain('tries thirty-two small programs')
  })
})
