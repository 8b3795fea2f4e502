import { type ChildProcess, spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sendAppEvents } from '../../src/authorization/app-events/index.ts'
import { listJobs } from '../../src/platform/db/jobs-store.ts'
import { type App, Client, type User } from '../acceptance/client.ts'
import { injectWire } from '../acceptance/http.ts'
import { gatehouse } from '../cli-runner.ts'
import { openWorld, SECRET_KEY, type World } from '../harness.ts'
import { untilLocked } from '../locks.ts'
import { shardsOf } from '../one-table.ts'
import { hook } from '../sandbox/notify/post-office.ts'
import { SHORT_LIVED } from '../start-options.ts'
import { until } from '../until.ts'

/** Webhook events that tell apps which grants have ended. */

let world: World
let strict: World
let client: Client
const closing: (() => void)[] = []
beforeAll(async () => {
  world = await openWorld({ PARTNER_ADDRESS_ALLOW: '127.0.0.1' })
  strict = await openWorld({ DEMO: 'off' })
  client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
})
afterAll(async () => {
  for (const close of closing) close()
  await world?.close()
  await strict?.close()
})

type AppWithWebhook = App & { readonly webhook_secret: string }

async function receiver(...statuses: [number, ...number[]]) {
  const opened = await hook(...statuses)
  closing.push(opened.close)
  return opened
}

async function makeApp(webhook_url: string | null, by = client): Promise<AppWithWebhook> {
  const made = await by.admin('POST', '/apps', {
    name: 'Told app',
    hosts: ['app.example.com'],
    scopes: ['USER_INFO', 'PHONE_NUMBER'],
    webhook_url,
  })
  return { ...(made as unknown as AppWithWebhook), redirect_uri: 'https://app.example.com/callback' }
}

/** A person with a grant for the app, and a function that withdraws it. */
async function withGrant(app: App, by = client) {
  const user = await by.makeUser()
  const browser = await by.signedIn(user, app)
  await by.getTokens(browser, app)
  return { user, withdraw: () => browser.send('POST', '/account/apps/withdraw', { app_key: app.app_key }) }
}

const deliver = (app: App, where = world) => sendAppEvents(where.deps, app.app_key, new AbortController().signal)
const eventsOf = async (app: App, by = client) =>
  (await by.admin('GET', `/apps/${app.app_key}/events`)).events as Record<string, unknown>[]

/** Verifies by hand as Standard Webhooks specifies, because its library compares timestamps with the real clock. */
function verifies(secret: string, { headers, body }: { headers: NodeJS.Dict<string | string[]>; body: string }) {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
  return headers['webhook-signature'] === `v1,${createHmac('sha256', key).update(signed).digest('base64')}`
}

/** When the jobs that send to this app are due. */
async function dueInSOf({ app_key }: App): Promise<number[]> {
  const { rows } = await world.pool.query(
    'select extract(epoch from run_at - now())::float as due from graphile_worker.jobs where key = $1',
    [`send-app-events:${app_key}`],
  )
  return rows.map(({ due }) => due)
}

const keyOf = ({ cid, user_id }: User) => ({ cid, user_id })

describe('an app with a webhook', () => {
  it('receives a signed event once when a person withdraws', async () => {
    const { url, deliveries } = await receiver(204)
    const app = await makeApp(url)
    const { user, withdraw } = await withGrant(app)
    await withdraw()
    await withdraw()
    expect(await deliver(app)).toEqual({})
    expect(await deliver(app)).toEqual({})
    expect(deliveries).toHaveLength(1)
    const [delivery] = deliveries
    expect(JSON.parse(String(delivery?.body))).toEqual({
      type: 'grant.revoked',
      timestamp: '2026-05-06T10:34:20.000Z',
      data: {
        app_key: app.app_key,
        ...keyOf(user),
        sub: `${user.cid}-${user.user_id}`,
        reason: 'user',
        all_ended: true,
      },
    })
    expect(app.webhook_secret).toMatch(/^whsec_[0-9A-Za-z+/]{32}$/)
    expect(delivery && verifies(app.webhook_secret, delivery)).toBe(true)
    const [event] = await eventsOf(app)
    expect(event).toMatchObject({ event_id: delivery?.headers['webhook-id'], state: 'sent', attempts: 1 })
  })

  it('is called again with the same id and body until it answers 2xx', async () => {
    const { url, deliveries } = await receiver(500, 302, 200)
    const app = await makeApp(url)
    await (await withGrant(app)).withdraw()
    for (const status of [500, 302]) {
      expect(await deliver(app)).toEqual({ failure: `webhook: HTTP status ${status}` })
      world.clock.advance(60)
    }
    expect(await deliver(app)).toEqual({})
    expect(new Set(deliveries.map(({ headers, body }) => `${headers['webhook-id']} ${body}`)).size).toBe(1)
    for (const delivery of deliveries) expect(verifies(app.webhook_secret, delivery)).toBe(true)
  })

  it('that is down for a day gets the event later; after three days delivery fails, as the list shows', async () => {
    const { url, deliveries } = await receiver(503, 200)
    const [app, dead] = [await makeApp(url), await makeApp((await receiver(503)).url)]
    await (await withGrant(app)).withdraw()
    await (await withGrant(dead)).withdraw()
    await deliver(app)
    world.clock.advance(86_400)
    expect(await deliver(app)).toEqual({})
    expect(deliveries).toHaveLength(2)
    world.clock.advance(2 * 86_400)
    expect(await deliver(dead)).toEqual({})
    expect(await eventsOf(dead)).toMatchObject([
      { state: 'failed', last_error: 'the webhook responded with HTTP status 503' },
    ])
  })

  it('that is down is left alone for a while, also by new events; by hand it is called at once', async () => {
    const { url, deliveries } = await receiver(503)
    const app = await makeApp(url)
    const withdraw = async () => (await withGrant(app)).withdraw()
    const dueInS = () => dueInSOf(app)
    for (let n = 0; n < 2; n++) await withdraw()
    expect(await deliver(app)).toMatchObject({ failure: expect.any(String) })
    expect(await dueInS()).toEqual([expect.closeTo(0, -1)]) // two failures may be about the events
    await withdraw()
    world.clock.advance(3_600)
    expect(await deliver(app)).toMatchObject({ failure: expect.any(String) })
    expect(deliveries).toHaveLength(5)
    for (let n = 0; n < 2; n++) {
      const [due = 0, ...others] = await dueInS()
      expect([due > 340 && due <= 360, others]).toEqual([true, []])
      await withdraw()
    }
    await client.admin('POST', `/apps/${app.app_key}/test-webhook`, {})
    expect((await dueInS())[0]).toBeLessThanOrEqual(0)
  })

  it('that is down is left alone also while events are given up, whose calls count as failed', async () => {
    const { url, deliveries } = await receiver(503)
    const app = await makeApp(url)
    await (await withGrant(app)).withdraw()
    world.clock.advance(3 * 86_400)
    for (let n = 0; n < 3; n++) await (await withGrant(app)).withdraw()
    expect(await deliver(app)).toMatchObject({ failure: expect.any(String) })
    expect(deliveries).toHaveLength(3)
    expect((await eventsOf(app)).filter(({ state }) => state === 'failed')).toHaveLength(1)
    expect(await dueInSOf(app)).toEqual([expect.closeTo(600, -1)])
  })

  it('that refuses some events is not left alone: new ones are sent at once', async () => {
    const { url, deliveries } = await receiver(400, 400, 400, 204)
    const app = await makeApp(url)
    for (let n = 0; n < 3; n++) await (await withGrant(app)).withdraw()
    world.clock.advance(3_600)
    expect(await deliver(app)).toEqual({ failure: 'webhook: HTTP status 400' })
    expect(deliveries).toHaveLength(3)
    await (await withGrant(app)).withdraw()
    expect(await dueInSOf(app)).toEqual([expect.closeTo(0, -1)])
  })

  it('that keeps rejecting one event still gets the others', async () => {
    const { url, deliveries } = await receiver(400, 400, 400, 200)
    const app = await makeApp(url)
    for (let n = 0; n < 5; n++) await (await withGrant(app)).withdraw()
    await deliver(app)
    expect(deliveries).toHaveLength(3)
    expect(await deliver(app)).toEqual({})
    expect(deliveries).toHaveLength(8)
    expect((await eventsOf(app)).map(({ state }) => state)).toEqual(Array(5).fill('sent'))
  })

  it('is given the reason (operator, erasure, replayed code) and whether it was the last grant', async () => {
    const { url, deliveries } = await receiver(200)
    const app = await makeApp(url)
    const { user } = await withGrant(app)
    await client.getTokens(await client.signedIn(user, app), app)
    await client.withdraw(user)
    const erased = await withGrant(app)
    await client.admin('POST', '/users/erase', keyOf(erased.user))
    const victim = await client.makeUser()
    const consented = await client.getCode(await client.signedIn(victim, app), app)
    await client.exchange(app, consented)
    world.clock.advance(3_600)
    await client.exchange(app, consented)
    await deliver(app)
    const events = deliveries.map(({ body }) => JSON.parse(body).data)
    expect(events.map(({ user_id, reason, all_ended }) => [user_id, reason, all_ended])).toEqual([
      [user.user_id, 'operator', false],
      [user.user_id, 'operator', true],
      [erased.user.user_id, 'erased', true],
      [victim.user_id, 'security', true],
    ])
  })

  it('is told of an erasure in place of a withdrawal not yet delivered', async () => {
    const { url, deliveries } = await receiver(200)
    const [app, other, notified] = [await makeApp(url), await makeApp(url), await makeApp(url)]
    const { user, withdraw } = await withGrant(app)
    await withdraw()
    const browser = await client.signedIn(user, app)
    await client.getTokens(browser, other)
    await client.getTokens(browser, notified)
    await browser.send('POST', '/account/apps/withdraw', { app_key: notified.app_key })
    await deliver(notified) // it has been told of its withdrawal
    deliveries.length = 0
    await client.admin('POST', '/users/erase', keyOf(user))
    for (const each of [app, other, notified]) await deliver(each)
    const events = deliveries.map(({ body }) => JSON.parse(body).data)
    expect(events.map(({ app_key, user_id, reason, all_ended }) => [app_key, user_id, reason, all_ended])).toEqual([
      [app.app_key, user.user_id, 'erased', true],
      [other.app_key, user.user_id, 'erased', true],
    ])
  })

  it('whose last two grants end concurrently is told once that all have ended', async () => {
    const { url, deliveries } = await receiver(200)
    const app = await makeApp(url)
    const victim = await client.makeUser()
    const browser = await client.signedIn(victim, app)
    const codes = [await client.getCode(browser, app), await client.getCode(browser, app)]
    for (const code of codes) await client.exchange(app, code)
    world.clock.advance(3_600)
    const holder = await world.pool.connect()
    try {
      // Both replays get as far as they can without each other: to the insertion of their event.
      await holder.query('begin')
      await holder.query('lock table app_event in share mode')
      const replays = codes.map((code) => client.exchange(app, code))
      await untilLocked(world.pool, 2)
      await holder.query('commit')
      await Promise.all(replays)
    } finally {
      holder.release()
    }
    await deliver(app)
    expect(deliveries.map(({ body }) => JSON.parse(body).data.all_ended).sort()).toEqual([false, true])
  })

  it('that is slow is interrupted after 20 seconds and resumed later; app events use at most two queues', async () => {
    const slow = async (seconds: number, status: number) => {
      let calls = 0
      const server = createServer((_request, response) => {
        calls++
        world.clock.advance(seconds)
        response.writeHead(status).end()
      })
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      closing.push(() => server.close())
      const app = await makeApp(`http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`)
      for (let n = 0; n < 9; n++) await (await withGrant(app)).withdraw()
      await world.pool.query('delete from graphile_worker._private_jobs')
      return { app, called: () => calls }
    }
    const queued = async () => {
      const { rows } = await world.pool.query('select key, queue_name from graphile_worker.jobs')
      return rows as { key: string; queue_name: string }[]
    }
    const accepting = await slow(3, 204)
    expect([await deliver(accepting.app), accepting.called()]).toEqual([{}, 7])
    expect(await queued()).toMatchObject([{ key: `send-app-events:${accepting.app.app_key}` }])
    expect([await deliver(accepting.app), accepting.called()]).toEqual([{}, 9])
    const failing = await slow(10, 500)
    expect([await deliver(failing.app), failing.called()]).toEqual([{ failure: 'webhook: HTTP status 500' }, 2])
    await world.pool.query('delete from graphile_worker._private_jobs')
    const { url } = await receiver(200)
    for (let n = 0; n < 8; n++) await (await withGrant(await makeApp(url))).withdraw()
    const waiting = await queued()
    expect(new Set(waiting.map(({ key }) => key)).size).toBe(8)
    expect(new Set(waiting.map(({ queue_name }) => queue_name)).size).toBeLessThanOrEqual(2)
  })

  it('receives no event for a block, which ends no grant', async () => {
    const app = await makeApp((await receiver(200)).url)
    const { user } = await withGrant(app)
    await client.block(user)
    await client.unblock(user)
    expect(await eventsOf(app)).toEqual([])
  })

  it('at a private address is not called, and looks the same as an unreachable one', async () => {
    const { url, deliveries } = await receiver(200)
    const by = new Client(injectWire(strict.app), strict.deps.config.PUBLIC_URL)
    for (const blocked of [
      url,
      `http://localhost:${new URL(url).port}/hook`,
      'http://169.254.169.254/latest/meta-data',
    ]) {
      const app = await makeApp(blocked, by)
      await (await withGrant(app, by)).withdraw()
      expect(await deliver(app, strict)).toEqual({ failure: expect.stringMatching(/^webhook: address/) })
      expect(await eventsOf(app, by)).toMatchObject([{ state: 'waiting', last_error: 'the webhook cannot be reached' }])
    }
    expect(deliveries).toEqual([])
  })
})

describe('the webhook of an app', () => {
  it('gets a new secret with each new URL, keeps it for the same URL, and loses it with the URL', async () => {
    const app = await makeApp(null)
    expect(app.webhook_secret).toBeUndefined()
    const set = async (changes: object) => (await client.update(app, changes)) as { webhook_secret?: string }
    const first = (await set({ webhook_url: 'https://a.example/hook?token=planted' })).webhook_secret
    expect(first).toMatch(/^whsec_/)
    expect(
      (await set({ webhook_url: 'https://a.example/hook?token=planted', name: 'X' })).webhook_secret,
    ).toBeUndefined()
    const other = (await set({ webhook_url: 'https://b.example/hook' })).webhook_secret
    expect(other).not.toBe(first)
    const rotated = await client.admin('POST', `/apps/${app.app_key}/rotate-webhook-secret`)
    expect([first, other]).not.toContain(rotated.webhook_secret)
    await set({ webhook_url: null })
    await expect(client.admin('POST', `/apps/${app.app_key}/rotate-webhook-secret`)).rejects.toThrow('no webhook')
    for (const bad of ['ftp://a.example/', 'https://u:p@a.example/', 'not a url'])
      await expect(set({ webhook_url: bad }), bad).rejects.toThrow('webhook_url')
    const { rows } = await world.pool.query('select detail from audit_event where app_key = $1', [app.app_key])
    const { rows: sealed } = await world.pool.query('select webhook_secret from micro_app where app_key = $1', [
      app.app_key,
    ])
    expect(sealed).toEqual([{ webhook_secret: null }])
    expect(JSON.stringify(rows) + world.logged()).not.toMatch(/planted|whsec_/)
  })

  it('can be managed on the command line', async () => {
    const app = await makeApp(null)
    const cli = (...words: string[]) => gatehouse({ DATABASE_URL: world.databaseUrl, SECRET_KEY }, ...words)
    const set = await cli('app', 'update', app.app_key, '--webhook-url', 'https://a.example/hook')
    expect(set.stdout).toMatch(/webhook_secret {2}whsec_/)
    expect((await cli('app', 'rotate-webhook-secret', app.app_key)).stdout).toMatch(/webhook_secret {2}whsec_/)
    expect((await cli('app', 'events', app.app_key)).stdout).toContain('no events')
    expect((await cli('app', 'update', app.app_key, '--no-webhook-url')).stdout).not.toContain('whsec_')
  })
})

describe('the worker', () => {
  const workers: ChildProcess[] = []
  afterAll(() => {
    for (const worker of workers) worker.kill('SIGKILL')
  })
  function startWorker(): ChildProcess {
    const program = fileURLToPath(new URL('../../.build/worker.js', import.meta.url))
    const database = { DATABASE_URL: world.databaseUrl, ...shardsOf({ DATABASE_URL: world.databaseUrl }) }
    const env = { ...database, SECRET_KEY, PARTNER_ADDRESS_ALLOW: '127.0.0.1', LOG_LEVEL: 'error' }
    const worker = spawn(process.execPath, [...SHORT_LIVED, program], {
      env: { PATH: process.env.PATH, ...env },
      stdio: 'inherit',
    })
    workers.push(worker)
    return worker
  }

  it('that is killed after the app received an event sends it again with the same id', async () => {
    await world.pool.query('truncate graphile_worker._private_jobs cascade')
    const ids: string[] = []
    const server = createServer((request, response) => {
      ids.push(String(request.headers['webhook-id']))
      if (ids.length > 1) response.writeHead(204).end() // the first request gets no answer
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    closing.push(
      () => server.closeAllConnections(),
      () => server.close(),
    )
    const app = await makeApp(`http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`)
    await (await withGrant(app)).withdraw()
    const killed = startWorker()
    await until(async () => ids.length === 1)
    killed.kill('SIGKILL')
    await once(killed, 'exit')
    expect(await eventsOf(app)).toMatchObject([{ state: 'waiting' }])
    // As if its lease of 30 s had run out by the database clock.
    await world.pool.query('update worker_lease set ends_at = now()')
    startWorker()
    await until(async () => (await eventsOf(app))[0]?.state === 'sent')
    expect(ids).toHaveLength(2)
    expect(new Set(ids).size).toBe(1)
    await until(async () => (await listJobs(world.deps.db, { failed: false, limit: 9 })).length === 0)
  })
})
