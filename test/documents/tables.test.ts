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
import { INTERFACES } from '../../src/ticketing/interfaces/index.ts'
import { CONTESTANTS } from '../bench/contestants/contestant.ts'
import { verdicts } from '../bench/goals.ts'
import { fuzzSettings } from '../fuzz/random.ts'
import * as programs from '../interop/partners/partners.ts'
import { ARROWS, FLOORS, STANDS_ON } from '../rooms.ts'
import { cellsOf, expectRows, read, rowOf, rowsAfter } from './document.ts'

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
  it('has a row for each setting, as its text describes it', () => {
    const meanings = Object.entries(JSON.parse(read('views/locales/settings.en.json')))
    const expected = meanings.map(([name, meaning]) => rowOf(`\`${name}\``, defaultOf(name), meaning))
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
      .map(([row, { check, failures }]) => rowOf(row, check, rescodesOf(failures).join('; ')))
    expectRows(REFERENCE, `checks of ${endpoint}`, rows)
  })

  it('has a row for each interface of partners, with each code of its answers', () => {
    const rows = INTERFACES.map(({ name, defaultPath, encrypted, failures, pending }) => {
      const codes = [
        ...Object.entries(failures).filter(([code]) => code !== '300'), // known to every interface
        ...Object.entries(pending).map(([code, meaning]) => [code, `**${meaning}**`] as const),
      ].sort(([one], [other]) => Number(one) - Number(other))
      return rowOf(name, defaultPath, encrypted ? 'yes' : '', codes.map((cells) => cells.join(' ')).join('; '))
    })
    expectRows(REFERENCE, 'interfaces', rows)
  })
})

describe('ARCHITECTURE', () => {
  // Without the rooms that nearly every other room may use.
  const named = (uses: readonly string[]) =>
    uses.filter((room) => !['audit', 'history', 'throttle'].includes(room)).sort()

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

  it('lists the rooms, and which others each may use', () => {
    const rows = rowsAfter('.github/ARCHITECTURE.md', 'rooms').map(cellsOf)
    const listed = rows.map(([room = '']) => room.replaceAll('`', ''))
    const shown = rows.map(([, , uses = ''], at) => {
      const [, but] = /^all but (.*)$/.exec(uses) ?? []
      const names = (but ?? uses).split(', ').filter(Boolean)
      const others = listed.filter((room) => room !== listed[at] && !names.includes(room))
      return [listed[at], but === undefined ? names.sort() : named(others)]
    })
    const rooms = Object.entries(ARROWS).filter(([room]) => !['demo', 'cli', 'process'].includes(room))
    expect(Object.fromEntries(shown)).toEqual(Object.fromEntries(rooms.map(([room, uses]) => [room, named(uses)])))
  })
})

describe('the README of the headless API', () => {
  it('has a row for each route', async () => {
    const routes: string[] = []
    const app = Fastify({ exposeHeadRoutes: false })
    app.addHook('onRoute', ({ method, url }) => void routes.push(`${method} ${url}`))
    await app.register(apiRoutes, { deps: {} as RunDeps })
    await app.ready()
    await app.close()
    const rows = rowsAfter('src/sandbox/portal/api/README.md', 'calls').map((row) =>
      (cellsOf(row)[0] ?? '').replace(/\?.*$/, '').replace(/\*(\w+)\*/g, ':$1'),
    )
    expect(rows.toSorted()).toEqual(routes.sort())
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
  const words = (amount: number): string => amount.toLocaleString('en')

  it('states how much `npm run fuzz` and `npm test` do', () => {
    const { fuzz } = JSON.parse(read('package.json')).scripts
    const given = (name: string) => words(Number(new RegExp(`FUZZ_${name}=(\\d+)`).exec(fuzz)?.[1]))
    expect(text).toContain(`sends ${given('REQUESTS')} requests`)
    expect(text).toContain(`gives ${given('ANSWERS')} answers`)
    expect(text).toContain(`${given('PULLS')} broken answers to pulls`)
    const { requests, answers, pulls } = fuzzSettings()
    expect(text).toContain(`\`npm test\` does ${words(requests)}, ${words(answers)} and ${words(pulls)}`)
  })

  it('states how many seller programs are certified', () => {
    expect(Object.keys(programs)).toHaveLength(32)
    expect(text).toContain('tries thirty-two small programs')
  })
})
