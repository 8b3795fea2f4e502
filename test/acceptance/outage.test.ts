import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Forwarder } from '../forwarder.ts'
import { type EmbeddedServer, startPostgres } from '../own-postgres.ts'
import { until } from '../until.ts'
import type { Browser } from './browser.ts'
import { ALICE, Client, DEMO_APP, dataOf, type TokenSet, tokenSetOf } from './client.ts'
import { expectFailure } from './expectations.ts'
import { consentForm, visibleText } from './form.ts'
import { type Answer, header, httpWire } from './http.ts'
import { type RunningProcess, SECRET_KEY, startProcess } from './system.ts'

/** When the database stops, every answer is 503 with the envelope, and the service recovers by itself. */

const forwarder = new Forwarder()
let folder: string
let database: EmbeddedServer
let running: RunningProcess
let client: Client
let alice: Browser

const startDatabase = async (): Promise<void> => {
  database = await startPostgres(folder)
  forwarder.target = Number(new URL(database.databaseUrl).port)
}

const stopDatabase = async (): Promise<void> => {
  forwarder.target = null
  await database.stop()
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-outage-'))
  chmodSync(folder, 0o755)
  await forwarder.open()
  await startDatabase()
  running = await startProcess({
    DATABASE_URL: forwarder.through(database.databaseUrl),
    SECRET_KEY,
    QUEUE_WAIT_MS: '1000',
  })
  client = new Client(httpWire(running.origin), running.origin)
  alice = await client.signedIn(ALICE)
})
afterAll(async () => {
  await running?.stop()
  await database?.stop()
  forwarder.close()
  rmSync(folder, { recursive: true, force: true })
})

function expectUnavailable(answer: Answer): void {
  expectFailure(answer, { rescode: 20013, status: 503, message: /^Server error$/ })
  expect(Number(header(answer, 'retry-after'))).toBeGreaterThan(0)
}

const untilReady = async (): Promise<number> => {
  const startedAt = performance.now()
  await until(
    async () => (await client.call('GET', '/readyz')).status === 200,
    () => running.output().slice(-4_000),
  )
  return performance.now() - startedAt
}

describe('while the database is away', () => {
  it('every endpoint soon answers 503 with the envelope and Retry-After, and later recovers by itself', async () => {
    const tokens = await client.getTokens(alice, DEMO_APP)
    const unused = await client.getCode(alice, DEMO_APP)
    const form = await client.consentFormFor(alice, client.request(DEMO_APP))
    await stopDatabase()

    const startedAt = performance.now()
    expectUnavailable(await client.exchange(DEMO_APP, unused))
    expectUnavailable(await client.refresh(DEMO_APP, tokens.refresh_token))
    expectUnavailable(await client.userInfo(tokens.access_token))
    expectUnavailable(await client.phone(tokens.access_token))
    expectUnavailable(await client.call('GET', client.authorizePath(client.request(DEMO_APP))))
    expect(performance.now() - startedAt).toBeLessThan(45_000)
    for (const page of [
      await alice.send('GET', client.authorizePath(client.request(DEMO_APP))),
      await alice.submit(form, { decision: 'approve' }),
    ]) {
      expect(page.status).toBe(503)
      expect(visibleText(page.text)).toContain('20013')
      expect(header(page, 'retry-after')).not.toBe('')
    }
    expect((await client.call('GET', '/readyz')).status).toBe(503)
    expect((await client.call('GET', '/healthz')).status).toBe(200)

    await startDatabase()
    const back = await untilReady()
    dataOf(await client.userInfo(tokens.access_token))
    tokenSetOf(await client.refresh(DEMO_APP, tokens.refresh_token))
    tokenSetOf(await client.exchange(DEMO_APP, unused))
    expect(consentForm((await alice.open(client.authorizePath(client.request(DEMO_APP)))).text)).toBeDefined()
    process.stdout.write(`outage: ready again ${Math.round(back)} ms after the database\n`)
  })

  it('an answer comes in time even when the database hangs instead of refusing connections', async () => {
    const tokens = await client.getTokens(alice, DEMO_APP)
    const dead = createServer(() => {})
    await new Promise<void>((ready) => dead.listen(0, '127.0.0.1', ready))
    await stopDatabase()
    forwarder.target = (dead.address() as AddressInfo).port
    const startedAt = performance.now()
    expectUnavailable(await client.userInfo(tokens.access_token))
    expect(performance.now() - startedAt, 'before a statement would be given up').toBeLessThan(8_000)
    dead.close()
    await startDatabase()
    await untilReady()
    dataOf(await client.userInfo(tokens.access_token))
  })
})

describe('a database that is stopped under load', () => {
  it('loses no token that was acknowledged', async () => {
    const acknowledged: TokenSet[] = []
    const refused: { code: string; state: string }[] = []
    const statuses: Record<number, number> = {}
    let over = false
    const worker = async () => {
      while (!over) {
        const consented = await client.getCode(alice, DEMO_APP).catch(() => undefined)
        if (!consented) {
          await sleep(100)
          continue
        }
        const answer = await client.exchange(DEMO_APP, consented)
        statuses[answer.status] = (statuses[answer.status] ?? 0) + 1
        if (answer.status === 200) acknowledged.push(tokenSetOf(answer))
        else {
          expectUnavailable(answer)
          refused.push(consented)
        }
      }
    }
    const workers = Array.from({ length: 8 }, worker)
    for (let round = 1; round <= 3; round++) {
      const enough = acknowledged.length + 30
      while (acknowledged.length < enough) await sleep(10)
      await stopDatabase()
      await sleep(300)
      await startDatabase()
      await untilReady()
    }
    over = true
    await Promise.all(workers)
    for (const { access_token } of acknowledged) dataOf(await client.userInfo(access_token))
    for (const consented of refused) {
      const { rescode } = JSON.parse((await client.exchange(DEMO_APP, consented)).text)
      expect([0, 20013], 'still worth tokens, or spent by a commit whose answer was lost').toContain(rescode)
    }
    process.stdout.write(
      `database stopped 3 times in mid-flight: ${acknowledged.length} acknowledged token sets alive, ${refused.length} exchanges answered 503\n`,
    )
  })
})
