import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hook, postOffice } from '../sandbox/notify/post-office.ts'
import { until } from '../until.ts'
import { Canaries, formsOf } from './canaries.ts'
import { failAtReading, failAtWriting } from './canary-failures.ts'
import { plantInNotices } from './canary-notices.ts'
import { walkOfPerson } from './canary-person.ts'
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

/**
 * The log canary of areas A and B: every endpoint gets planted secrets, then all output is searched for them.
 * Production gets every request; development prints the same log lines through pino-pretty, so a few endpoints, paths
 * and tables are enough there.
 */

let system: System
const [canaries, ofNotices] = [new Canaries(), new Canaries()]

const office = await postOffice()
const [receiver, traces] = [await hook(204), await hook(200)]

beforeAll(async () => {
  const settings = {
    LOG_LEVEL: 'trace',
    SMTP_URL: office.url,
    PASSWORD_RESET: 'mail',
    PASSWORD_RESET_HOOK: receiver.url,
    PARTNER_ADDRESS_ALLOW: `127.0.0.1,${new URL(receiver.url).host}`,
    PASSWORD_RESET_HOOK_SECRET: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
  }
  system = await startSystem({ ...settings, OTEL_EXPORTER_OTLP_ENDPOINT: new URL(traces.url).origin })
  await unmarkDemo(system)
  await system.add({ ...PRODUCTION, ...settings })
  for (const each of [canaries, ofNotices]) {
    each.guard('SECRET_KEY', SECRET_KEY)
    each.guard('ADMIN_TOKEN', ADMIN_TOKEN)
  }
  canaries.guard('password of the database', new URL(system.databaseUrl).password)
})
afterAll(async () => {
  await system?.stop()
  await office.close()
  receiver.close()
  traces.close()
})

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

  it('covers every encoding', () => {
    expect(formsOf('a+b/c d and more of it').length).toBeGreaterThanOrEqual(9)
  })
})

/** Enough for development. */
const SOME_PATHS = ['/oauth/v2/api/token', '/oauth/v2/consent', '/admin/v1/apps']
const SOME_TABLES = ['user_credential']

describe('no output holds a secret', () => {
  it('that people type or receive: codes, authenticators, invitations, links', async () => {
    for (const running of system.processes) {
      const given = { client: clientOf(running), canaries, post: { office, hook: receiver } }
      expect(await walkOfPerson(system, running, given), 'the errors of the database were seen').toBeGreaterThan(5)
      expect(canaries.search(running.output())).toEqual([])
    }
    await until(() => traces.deliveries.length > 0)
    for (const { body } of traces.deliveries) expect(canaries.search(body)).toEqual([])
  })

  it('of area A, wherever it is sent and whatever fails', async () => {
    const [development, production] = system.processes as [RunningProcess, RunningProcess]
    const whole = await walk(clientOf(production), canaries)
    await plantEverywhere(canaries, whole, production.origin)
    let failures = (await failAtReading(system, whole)) + (await failAtWriting(system, canaries, whole))
    const all = await walk(clientOf(development), canaries)
    const some = { ...all, endpoints: all.endpoints.filter(({ path }) => SOME_PATHS.includes(path)) }
    await plantEverywhere(canaries, some, development.origin)
    failures += await failAtReading(system, all, SOME_TABLES)
    failures += await failAtWriting(system, canaries, all, SOME_TABLES)
    expect(failures, 'the errors of the database were seen').toBeGreaterThan(60)
    const demo = new Client(httpWire(development.demoOrigin), development.demoOrigin)
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
    process.stdout.write(
      [
        `canary: ${canaries.places.length} planted texts, ${canaries.guarded.length} kinds of real secrets, ${failures} forced server errors`,
        `  secrets: ${canaries.guarded.join('; ')}`,
        ...summaryOf(canaries.places),
        '',
      ].join('\n'),
    )
  })

  it('of area B: clientSecrets, signatures, or texts in the bodies of notices', async () => {
    const { databaseUrl } = system
    const driven = []
    for (const [index, { origin }] of system.processes.entries()) {
      driven.push(await plantInNotices(ofNotices, { databaseUrl, origin, whole: index === 1 }))
    }
    const [few, many] = driven
    expect(few?.failures, 'the errors of the database were seen').toBeGreaterThan(10)
    expect(many?.failures, 'the errors of the database were seen').toBeGreaterThan(100)
    process.stdout.write(
      `canary of area B: ${ofNotices.places.length} planted texts in ${Number(few?.calls) + Number(many?.calls)} calls\n`,
    )
  })

  it('until the processes end, even when connections to the database break', async () => {
    await system.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()',
    )
    await sleep(200)
    await Promise.all(system.processes.map((running) => running.stop()))
    for (const { output } of system.processes) {
      expect(output().length).toBeGreaterThan(100_000)
      expect(canaries.search(output())).toEqual([])
      expect(ofNotices.search(output())).toEqual([])
    }
    const size = system.processes.map(({ output }) => `${Math.round(output().length / 1024)} KiB`)
    process.stdout.write(
      `searched: ${size.join(' and ')} of output (development and production, level trace); raw, URL-encoded, JSON, hex, Base64\n`,
    )
  })
})

/** The planted places by kind, such as `query: app_key, …`, and the endpoints that were tried. */
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
