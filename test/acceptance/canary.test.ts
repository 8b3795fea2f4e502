import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Canaries, formsOf } from './canaries.ts'
import { failAtReading, failAtWriting } from './canary-failures.ts'
import { plantEverywhere } from './canary-planting.ts'
import { walk } from './canary-walk.ts'
import { Client } from './client.ts'
import { httpWire } from './http.ts'
import {
  ADMIN_TOKEN,
  PRODUCTION,
  type RunningProcess,
  SECRET_KEY,
  type System,
  startSystem,
  unmarkDemo,
} from './system.ts'

/** Issue 2, "Log canary": every endpoint is driven with planted secrets; then all output is searched for them. */

let system: System
const canaries = new Canaries()

beforeAll(async () => {
  system = await startSystem({ LOG_LEVEL: 'trace' })
  await unmarkDemo(system)
  await system.add({ ...PRODUCTION, LOG_LEVEL: 'trace' })
  canaries.guard('SECRET_KEY', SECRET_KEY)
  canaries.guard('ADMIN_TOKEN', ADMIN_TOKEN)
  canaries.guard('password of the database', new URL(system.databaseUrl).password)
})
afterAll(() => system?.stop())

const clientOf = ({ origin }: RunningProcess) => new Client(httpWire(origin), origin)

describe('the search', () => {
  it.each(['raw', 'url-encoded', 'base64', 'base64url', 'hex', 'inside a base64 text', 'truncated'])(
    'finds %s',
    (form) => {
      const own = new Canaries()
      const planted = own.plant('a place')
      const secret = own.guard('a secret', 'ü+/= and "quotes"? of a secret that is rather long')
      for (const text of [planted, secret]) {
        const written = {
          raw: text,
          'url-encoded': encodeURIComponent(text),
          base64: Buffer.from(text).toString('base64'),
          base64url: Buffer.from(text).toString('base64url'),
          hex: Buffer.from(text).toString('hex'),
          'inside a base64 text': Buffer.from(`app_key:${text}!`).toString('base64'),
          truncated: text === planted ? text.slice(0, 24) : text.slice(-16),
        }[form]
        expect(own.search(`{"msg":"before ${written} after"}`), text).not.toEqual([])
      }
      expect(own.search('{"msg":"nothing of the kind"}')).toEqual([])
    },
  )

  it('looks for every form', () => {
    expect(formsOf('a+b/c d and more of it').length).toBeGreaterThanOrEqual(9)
  })
})

describe('no output holds a secret', () => {
  it('whatever is sent, wherever, and whatever fails', async () => {
    let failures = 0
    for (const running of system.processes) {
      const walked = await walk(clientOf(running), canaries)
      await plantEverywhere(canaries, walked, running.origin)
      failures += (await failAtReading(system, walked)) + (await failAtWriting(system, canaries, walked))
    }
    expect(failures, 'the errors of the database were seen').toBeGreaterThan(20)
    const [development] = system.processes
    const demo = new Client(httpWire(development?.demoOrigin ?? ''), development?.demoOrigin ?? '')
    for (const path of ['/', '/callback', '/refresh', '/forget', '/sign-in', '/x', '/%zz']) {
      const planted = canaries.plant(`demo ${path}`)
      for (const method of ['GET', 'POST']) {
        await demo.call(
          method,
          `${path}?code=${planted}&state=${planted}`,
          { cookie: `demo_visit=${planted}` },
          planted,
        )
      }
    }
    await system.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()',
    )
    await sleep(200)
    await Promise.all(system.processes.map((running) => running.stop()))

    for (const { output } of system.processes) {
      expect(output().length).toBeGreaterThan(100_000)
      expect(canaries.search(output())).toEqual([])
    }
    const size = system.processes.map(({ output }) => `${Math.round(output().length / 1024)} KiB`)
    process.stdout.write(
      [
        `canary: ${canaries.places.length} planted texts, ${canaries.guarded.length} kinds of real secrets, ${failures} forced server errors`,
        `  searched: ${size.join(' and ')} of output (development and production, level trace); raw, URL-encoded, JSON, hex, Base64`,
        `  secrets: ${canaries.guarded.join('; ')}`,
        ...summaryOf(canaries.places),
        '',
      ].join('\n'),
    )
  })
})

/** The places by kind: `query: app_key, …`, and the endpoints that they were tried at. */
function summaryOf(places: readonly string[]): string[] {
  const byKind = new Map<string, Set<string>>()
  const add = (kind: string, what: string) => byKind.set(kind, (byKind.get(kind) ?? new Set()).add(what))
  for (const place of places) {
    const [, endpoint, kind, what] = /^([A-Z]+ \S+): (\w+),? (.*)$/.exec(place) ?? []
    if (endpoint && kind && what) {
      add('endpoints', endpoint.replace(/app-\d+-[0-9a-f]+/, ':app_key'))
      add(kind, what)
    } else add('elsewhere', place)
  }
  return [...byKind].map(([kind, what]) => `  ${kind}: ${[...what].join('; ')}`)
}
