import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { historyOf, recordOf } from '../orders/orders.ts'
import { runningDatabaseUrl } from '../own-postgres.ts'
import { until } from '../until.ts'
import type { Browser } from './browser.ts'
import { type App, Client, type Consented, dataOf, type TokenSet, tokenSetOf } from './client.ts'
import { consentForm } from './form.ts'
import { httpWire } from './http.ts'
import {
  type Exchanges,
  makeOrders,
  NOTICES,
  type Notices,
  orderIds,
  startExchanges,
  startNotices,
  TICKETS,
} from './kill-work.ts'
import { isAlive, postgresPid, serverPids } from './process-ids.ts'
import { type RunningProcess, startProcess } from './system.ts'

/** The service with its own PostgreSQL is killed with SIGKILL and started again. */

const KILLS = 2

let folder: string
let running: RunningProcess
let app: App
let browser: Browser

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-kill-'))
  chmodSync(folder, 0o755)
  await start({ HTTP_PROCESSES: '2' })
  const client = clientOf(running)
  app = await client.makeApp()
  browser = await client.signedIn(await client.makeUser(), app)
})
afterAll(async () => {
  if (running?.child.exitCode === null && running.child.signalCode === null) await running.stop()
  rmSync(folder, { recursive: true, force: true })
})

async function start(settings: Record<string, string> = {}): Promise<void> {
  // A repeated code must not count as theft, however long the starts take.
  const patient = { CODE_DUPLICATE_WINDOW_S: '300' }
  running = await startProcess({ DATA_DIR: folder, DEMO: 'off', ...patient, ...settings })
  await until(() => serverPids(running).length === Number(settings.HTTP_PROCESSES ?? 0))
}

const clientOf = ({ origin }: RunningProcess) => new Client(httpWire(origin), origin)

/** The database of the running service. */
async function withDatabase<Result>(work: (pool: pg.Pool) => Promise<Result>): Promise<Result> {
  const pool = new pg.Pool({ connectionString: await runningDatabaseUrl(folder), max: 2 })
  return work(pool).finally(() => pool.end())
}

describe('when its PostgreSQL alone is killed', () => {
  it('the service recovers by itself', async () => {
    const client = clientOf(running)
    const tokens = await client.getTokens(browser, app)
    const killed = postgresPid(folder)
    const isReplaced = () => existsSync(join(folder, 'postgres', 'postmaster.pid')) && postgresPid(folder) !== killed
    process.kill(killed, 'SIGKILL')
    // Meanwhile a request waits, or gets 503 after some time.
    await until(async () => {
      const answer = await client.userInfo(tokens.access_token)
      expect([200, 503]).toContain(answer.status)
      return answer.status === 200 && isReplaced()
    })
    dataOf(await client.userInfo(tokens.access_token))
  })
})

describe(`after kill -9 under load and a restart, ${KILLS} times`, () => {
  let after: Client
  let used: Consented
  let unused: Consented
  let tokens: TokenSet
  let exchanges: Exchanges
  let notices: Notices
  /** The processes that ran at the first kill. */
  let killed: number[]
  /** For each kill, the acknowledged notices that were not stored exactly once. */
  const lost: string[][] = []

  beforeAll(async () => {
    const before = clientOf(running)
    used = await before.getCode(browser, app)
    tokens = tokenSetOf(await before.exchange(app, used))
    unused = await before.getCode(browser, app)
    const seller = await withDatabase((pool) => makeOrders(before, pool))
    exchanges = startExchanges(before, browser, app)
    await until(() => exchanges.acknowledged.length > 40)
    notices = startNotices(() => running.origin, seller)
    const cutOff: number[] = []
    for (let kill = 1; kill <= KILLS; kill++) {
      while (notices.acknowledged.length < (NOTICES * kill) / (KILLS + 1)) await sleep(5)
      const pids = [...serverPids(running), postgresPid(folder)].filter(isAlive)
      await running.kill()
      const acknowledged = [...notices.acknowledged]
      if (kill === 1) {
        killed = pids
        await until(() => pids.filter(isAlive).length === 0)
      }
      await start(kill === KILLS ? { HTTP_PROCESSES: '2', DEMO: 'on' } : {})
      const kept = await withDatabase(timesKept)
      lost.push(acknowledged.filter((body) => kept.get(body) !== 1))
      cutOff.push(acknowledged.length)
    }
    await Promise.all([exchanges.ended, notices.ended])
    after = clientOf(running)
    process.stdout.write(
      `kill -9 in the midst of work: ${exchanges.acknowledged.length} acknowledged token sets alive, ${exchanges.unanswered.length} exchanges cut off\n` +
        `kill -9 after ${cutOff.join(', ')} of ${NOTICES} notices: every acknowledged one there once; ${notices.tries()} tries in all\n`,
    )
  })

  it('the server processes and PostgreSQL of the first service, which were not killed, have ended too', () => {
    expect(killed).toHaveLength(3)
    expect(killed.filter(isAlive)).toEqual([])
  })

  it('the session, code and tokens from before still work', async () => {
    const cookies = after.newBrowser()
    for (const [name, value] of browser.cookies) cookies.cookies.set(name, value)
    const page = await cookies.open(after.authorizePath(after.request(app)))
    expect(consentForm(page.text), 'the session is alive: no sign-in').toBeDefined()
    tokenSetOf(await after.exchange(app, unused))
    expect((await after.exchange(app, used)).text).toContain('"rescode":20013')
    dataOf(await after.userInfo(tokens.access_token))
    dataOf(await after.phone(tokens.access_token))
    tokenSetOf(await after.refresh(app, tokens.refresh_token))
    tokenSetOf(await after.exchange(app, await after.getCode(cookies, app)))
  })

  it('tokens that were answered under load still work, and unanswered codes are either spent or still valid', async () => {
    for (const { access_token } of exchanges.acknowledged) dataOf(await after.userInfo(access_token))
    for (const consented of exchanges.unanswered) {
      const { rescode } = JSON.parse((await after.exchange(app, consented)).text)
      expect([0, 20013]).toContain(rescode)
    }
  })

  it('every acknowledged notice is in the database, exactly once', async () => {
    expect(lost).toEqual(Array.from({ length: KILLS }, () => []))
    expect(notices.acknowledged).toHaveLength(NOTICES)
    await withDatabase(async (pool) => {
      expect(await timesKept(pool)).toEqual(new Map(notices.bodies.map((body) => [body, 1])))
      for (const orderId of orderIds) {
        expect(await recordOf(pool, orderId)).toMatchObject({ state: 'consumed', used: TICKETS })
        const steps = (await historyOf(pool, orderId)).flatMap((line) => /used_quantity (\d→\d)/.exec(line)?.[1] ?? [])
        const ends = steps.map((step) => step.split('→'))
        for (const [place, [before]] of ends.entries()) expect(before).toBe(ends[place - 1]?.[1] ?? '0')
      }
    })
  })
})

const timesKept = (pool: pg.Pool): Promise<Map<string, number>> =>
  pool
    .query('select body, count(*)::int as times from notice group by body')
    .then(({ rows }) => new Map(rows.map(({ body, times }) => [body, times])))

describe('on Ctrl-C, which signals every process', () => {
  it('the service ends cleanly and leaves no process', async () => {
    const pids = [...serverPids(running), postgresPid(folder)]
    expect(pids).toHaveLength(3)
    const ended = once(running.child, 'close')
    for (const pid of serverPids(running)) process.kill(pid, 'SIGINT')
    running.child.kill('SIGINT')
    expect(await ended).toEqual([0, null])
    expect(pids.filter(isAlive)).toEqual([])
    expect(running.output()).not.toContain('starting a new one')
    expect(running.output()).not.toMatch(/^\[[\d:]+\] (ERROR|FATAL|WARN)/m)
  })
})
