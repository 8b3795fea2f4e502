import { randomUUID } from 'node:crypto'
import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startStep } from '../../../src/sandbox/certification/attempt.ts'
import { insertAttempt } from '../../../src/sandbox/certification/attempt-store.ts'
import { showRun } from '../../../src/sandbox/certification/run.ts'
import { until } from '../../until.ts'
import { type Lab, openLab, walkTo } from '../lab.ts'
import { newSandboxPartner, post } from '../partners.ts'
import { type Listener, listen } from './listener.ts'
import { visitor } from './visitor.ts'

let lab: Lab
let cookie: string
const open: Listener[] = []
beforeAll(async () => {
  lab = await openLab()
  cookie = (await visitor(lab)).cookie
})
afterEach(() => {
  for (const listener of open.splice(0)) listener.cut()
})
afterAll(() => lab.close())

async function follow(runId: string, { after = 0, headers = {}, as = cookie } = {}): Promise<Listener> {
  const listener = await listen(`${lab.url}/sandbox/run/${runId}/events?after=${after}`, { cookie: as, ...headers })
  open.push(listener)
  return listener
}

const start = (runId: string, stepId: string) =>
  startStep(lab.world.deps, lab.world.log, { partnerId: lab.partnerId, runId, stepId })

const hasEnded = (heard: Listener['heard'] | readonly { state: { kind: string } }[]) =>
  heard.at(-1)?.state.kind === 'ended'

const median = (all: readonly number[]) => [...all].sort((left, right) => left - right)[all.length >> 1] ?? 0

describe('the stream of a run’s lines', () => {
  it('brings the first line soon after Start, and every line as the page has it', async () => {
    const runId = await lab.run()
    await walkTo(lab, runId, 'product-pull')
    const { run } = await showRun(lab.world.deps, lab.partnerId, runId)
    const times: number[] = []
    const pages: number[] = []
    let known = run.last_seq
    for (let round = 0; round < 5; round++) {
      const listener = await follow(runId, { after: known })
      expect(listener.status).toBe(200)
      expect(listener.headers['content-type']).toBe('text/event-stream; charset=utf-8')
      const began = performance.now()
      const pressed = await post(lab.world, `/sandbox/run/${runId}/steps/product-pull/start`, {}, { cookie })
      expect(pressed.statusCode).toBe(303)
      await listener.until((heard) => heard.length > 0)
      times.push((listener.heard[0]?.at ?? 0) - began)
      await listener.until(hasEnded)
      known = listener.heard.at(-1)?.id ?? 0
      const requested = performance.now()
      const page = await lab.world.app.inject({ url: `/sandbox/run/${runId}`, headers: { cookie } })
      pages.push(performance.now() - requested)
      const squeezed = (html: string) => html.replace(/\s+/g, ' ').replace(/ open>/g, '>')
      for (const { html } of listener.heard) expect(squeezed(page.body)).toContain(squeezed(html).trim())
    }
    // A few milliseconds on a quiet machine. On a busy one pages take longer too, so the line may as well.
    const bound = Math.max(2_000, 10 * median(pages))
    expect(median(times), `${times.map(Math.round)} ms, pages ${pages.map(Math.round)} ms`).toBeLessThan(bound)
  })

  it('neither loses nor repeats a line when it is cut in the middle of a step', async () => {
    const runId = await lab.run()
    await walkTo(lab, runId, 'product-pull')
    const { run } = await showRun(lab.world.deps, lab.partnerId, runId)
    const first = await follow(runId, { after: run.last_seq })
    await lab.mistakes('answer-slow')
    await start(runId, 'product-pull')
    await first.until((heard) => heard.length >= 2)
    first.cut()
    const known = first.heard.at(-1)?.id ?? 0
    await lab.mistakes()
    // The step goes on while nobody listens, and ends before the browser is back.
    await sleep(300)
    const second = await follow(runId, { after: 0, headers: { 'last-event-id': String(known) } })
    await second.until(hasEnded)
    const ids = [...first.heard, ...second.heard].map(({ id }) => id)
    expect(ids).toEqual(ids.map((_id, index) => run.last_seq + 1 + index))
  })

  it('is complete for each of ten simultaneous listeners', async () => {
    const runId = await lab.run()
    const people = await Promise.all(Array.from({ length: 10 }, () => follow(runId)))
    const { current } = await showRun(lab.world.deps, lab.partnerId, runId)
    await start(runId, String(current?.step.id))
    await Promise.all(people.map((one) => one.until(hasEnded)))
    const whole = people[0]?.heard.map(({ id }) => id)
    expect(whole).toEqual(whole?.map((_id, index) => index + 1))
    for (const one of people) expect(one.heard.map(({ id }) => id)).toEqual(whole)
  })

  it('is in the language of the reader', async () => {
    const runId = await lab.run()
    const { current } = await showRun(lab.world.deps, lab.partnerId, runId)
    const listener = await follow(runId, { headers: { 'accept-language': 'zh-CN' } })
    await start(runId, String(current?.step.id))
    await listener.until(hasEnded)
    expect(listener.heard[0]?.html).toContain('第 1 次执行开始')
  })

  it('ends with the session, without sending another line', async () => {
    const runId = await lab.run()
    const leaving = await visitor(lab)
    const listener = await follow(runId, { as: leaving.cookie })
    await post(lab.world, '/sandbox/sign-out', {}, { cookie: leaving.cookie })
    const { current } = await showRun(lab.world.deps, lab.partnerId, runId)
    await start(runId, String(current?.step.id))
    await until(() => listener.ended)
    expect(listener.heard).toEqual([])
    expect((await follow(runId, { as: leaving.cookie })).status).toBe(401)
  })
})

describe('the stream of a run whose process dies', () => {
  it('says so once the lease of the attempt is over, not when somebody loads the page', async () => {
    const { deps, clock } = lab.world
    const runId = await lab.run()
    const attempt = { attemptId: randomUUID(), runId, stepId: 'product-pull' }
    await insertAttempt(deps.db, attempt, clock.now())
    const listener = await follow(runId)
    expect(listener.status).toBe(200)
    const over = "update sandbox_attempt set alive_till = now() - interval '1 second' where attempt_id = $1"
    await lab.world.pool.query(over, [attempt.attemptId])
    await listener.until(hasEnded)
    expect(listener.heard.map(({ state }) => state.kind)).toEqual(['ended'])
    expect((await showRun(deps, lab.partnerId, runId)).current?.state).toBe('interrupted')
  })
})

describe('many streams', () => {
  it('are limited per session: 429 with Retry-After, until one of them is closed', async () => {
    const runId = await lab.run()
    const busy = (await visitor(lab)).cookie
    const listeners = await Promise.all(Array.from({ length: 14 }, () => follow(runId, { as: busy })))
    const refused = listeners.filter(({ status }) => status === 429)
    expect(refused).toHaveLength(2)
    expect(Number(refused[0]?.headers['retry-after'])).toBeGreaterThan(0)
    listeners.find(({ status }) => status === 200)?.cut()
    await until(async () => (await follow(runId, { as: busy })).status === 200)
  })

  it('of 200 clients do no harm: pages load, lines arrive, and every place is free again when they leave', async () => {
    const runId = await lab.run()
    const { deps, pool } = lab.world
    const other = await newSandboxPartner(lab.world, { name: 'Another' })
    const others = '00000000-0000-4000-8000-0000000000aa'
    await pool.query(
      `insert into sandbox_run (run_id, partner_id, number, choice, current_step, created_at)
       select $1, $2, 1, choice, current_step, created_at from sandbox_run where run_id = $3`,
      [others, other.partner_id, runId],
    )
    const sessions = await Promise.all(
      Array.from({ length: 20 }, async (_none, index) => {
        const mine = index < 10
        const { cookie: as } = await visitor(lab, mine ? undefined : other)
        return { as, run: mine ? runId : others }
      }),
    )
    const listeners = (
      await Promise.all(
        sessions.map(({ as, run }) => Promise.all(Array.from({ length: 10 }, () => follow(run, { as })))),
      )
    ).flat()
    expect(listeners.filter(({ status }) => status === 200)).toHaveLength(200)
    const { current } = await showRun(deps, lab.partnerId, runId)
    await start(runId, String(current?.step.id))
    const page = await lab.world.app.inject({ url: `/sandbox/run/${runId}`, headers: { cookie } })
    expect(page.statusCode).toBe(200)
    await Promise.all(listeners.slice(0, 100).map((one) => one.until(hasEnded)))
    for (const one of listeners.slice(100)) expect(one.heard).toEqual([])
    for (const one of listeners) one.cut()
    // The same number can connect again once the service has noticed that they left.
    await Promise.all(
      sessions.flatMap(({ as, run }) =>
        Array.from({ length: 10 }, () => until(async () => (await follow(run, { as })).status === 200)),
      ),
    )
  })

  it('are not counted when the browser leaves before they begin', async () => {
    const runId = await lab.run()
    const { app, pool } = lab.world
    const connections = () => promisify(app.server.getConnections.bind(app.server))()
    const writer = await pool.connect()
    const isWaiting = async () => {
      const { rows } = await pool.query(
        `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
      )
      return rows.length > 0
    }
    for (let times = 0; times < 12; times++) {
      const before = await connections()
      await writer.query('begin')
      await writer.query('lock table sandbox_run in access exclusive mode')
      const url = `${lab.url}/sandbox/run/${runId}/events`
      const leaving = request(url, { headers: { cookie, accept: 'text/event-stream' }, agent: false })
      leaving.on('error', () => {}).end()
      await until(isWaiting)
      leaving.destroy()
      await until(async () => (await connections()) === before)
      await writer.query('commit')
      await until(async () => !(await isWaiting()))
    }
    writer.release()
    expect((await follow(runId)).status).toBe(200)
  })

  it('do not keep the service from stopping', async () => {
    const own = await openLab()
    const runId = await own.run()
    const mine = (await visitor(own)).cookie
    const listener = await listen(`${own.url}/sandbox/run/${runId}/events`, { cookie: mine })
    expect(listener.status).toBe(200)
    await own.close()
    await until(() => listener.ended)
  })
})
