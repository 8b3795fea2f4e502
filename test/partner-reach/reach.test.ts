import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { existingPartner, failureOf } from '../../src/ticketing/partner-calls/index.ts'
import { CircuitBreakers, storeBreaker } from '../../src/ticketing/partner-reach/index.ts'
import { createPartner } from '../../src/ticketing/partners/partner.ts'
import { newPartner } from '../../src/ticketing/partners/wire.ts'
import { gatehouse } from '../cli-runner.ts'
import { freePort } from '../free-port.ts'
import { ADMIN_TOKEN, openWorld, type World } from '../harness.ts'
import { duringOutage } from '../outage.ts'
import { callPartner } from '../partner-calls/calls.ts'

/** Any process shows operators all open circuit breakers, which they can reset, and expiring certificates. */

let world: World
let url: string
beforeAll(async () => {
  world = await openWorld({ PARTNER_ADDRESS_ALLOW: '127.0.0.0/8' })
  url = await world.app.listen({ port: 0, host: '127.0.0.1' })
  const base_url = `http://127.0.0.1:${await freePort()}/api` // nobody listens there
  for (const partner_id of [7001, 7002]) {
    await createPartner(world.deps, newPartner.parse({ partner_id, name: `Seller ${partner_id}`, base_url }), 'secret')
  }
})
beforeEach(() => world.clock.advance(3_600))
afterAll(() => world.close())

const anotherProcess = () => ({
  ...world.deps,
  calls: { ...world.deps.calls, breakers: new CircuitBreakers(world.clock, 100) },
})
const call = async (id: bigint, deps = world.deps) => {
  const result = await callPartner(deps, await existingPartner(deps, id), 'heartbeat', {})
  return failureOf(result)?.kind ?? 'ok'
}
const fail = async (id: bigint, deps = world.deps) => {
  for (let calls = 0; calls < 5; calls++) await call(id, deps)
}
const admin = async (path: string, method: 'GET' | 'POST' = 'GET') => {
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` }
  return (await world.app.inject({ method, url: `/admin/v1${path}`, headers })).json()
}
const cli = (...words: string[]) => gatehouse({ GATEHOUSE_URL: url, GATEHOUSE_TOKEN: ADMIN_TOKEN }, ...words)

it('a partner has at most so many calls under way, so that a slow one does not take the whole process', () => {
  const breakers = new CircuitBreakers(world.clock, 3)
  const begin = (partnerId = 1n) => breakers.allowsCall(partnerId, false)
  expect([begin(), begin(), begin()]).toEqual([true, true, true])
  expect(begin()).toMatchObject({ refused: { id: 'partner-busy', values: { most: '3' } }, isKept: false })
  expect(begin(2n)).toBe(true)
  breakers.reset(1n)
  expect(begin()).not.toBe(true)
  breakers.recordOutcome(1n, true, 10)
  expect(begin()).toBe(true)
  expect(begin()).not.toBe(true)
})

describe('a circuit breaker', () => {
  it('is listed while it is open, with the number of processes in which it is', async () => {
    expect((await admin('/breakers')).data).toEqual({ breakers: [], next: null })
    const other = anotherProcess()
    await fail(7001n)
    await fail(7001n, other)
    await fail(7002n)
    const { breakers } = (await admin('/breakers')).data
    expect(breakers).toMatchObject([
      { partner_id: 7001, processes: 2 },
      { partner_id: 7002, processes: 1 },
    ])
    const first = (await admin('/breakers?limit=1')).data
    expect((await admin(`/breakers?limit=1&after=${first.next}`)).data).toMatchObject({
      breakers: [{ partner_id: 7002 }],
      next: null,
    })
    expect((await cli('partner', 'breakers')).stdout).toContain('7001')
    world.clock.advance(31)
    expect((await admin('/breakers')).data.breakers).toEqual([])
  })

  it('is reset in every process, and the audit log tells by whom', async () => {
    const other = anotherProcess()
    await fail(7001n)
    await fail(7001n, other)
    expect([await call(7001n), await call(7001n, other)]).toEqual(['breaker', 'breaker'])
    expect((await admin('/partners/7001/reset-breaker', 'POST')).data).toEqual({ partner_id: 7001, processes: 2 })
    expect([await call(7001n), await call(7001n, other)]).toEqual(['connect', 'connect'])
    const query = "select * from audit_event where event = 'partner_breaker_reset'"
    const { rows } = await world.pool.query(query)
    expect(rows).toMatchObject([{ partner_id: '7001', actor_name: 'ADMIN_TOKEN', detail: { processes: 2 } }])
    await fail(7001n)
    expect((await cli('partner', 'reset-breaker', '7001')).stdout).toMatch(/^processes +1$/m)
    expect(await call(7001n)).toBe('connect')
    expect((await cli('partner', 'reset-breaker', '1')).code).toBe(1)
  })

  it('is counted as open until nothing has called the partner for longer than jobs pause', async () => {
    const { breakers } = world.deps.calls
    await fail(7001n)
    world.clock.advance(630)
    expect(breakers.counts().open, 'a job may call it once in ten minutes').toBe(1)
    await call(7001n)
    world.clock.advance(630)
    expect(breakers.counts().open).toBe(1)
    world.clock.advance(200)
    expect(breakers.counts().open).toBe(0)
  })

  it('whose row could not be changed is a call all the same, and its row is changed with the next one', async () => {
    const process = anotherProcess()
    const open = async () => (await admin('/breakers')).data.breakers.length
    const outcome = (deps: typeof process, answered: boolean) =>
      storeBreaker(deps, 7002n, deps.calls.breakers.recordOutcome(7002n, answered, 1))
    for (let calls = 0; calls < 5; calls++) await outcome(duringOutage(process), false)
    expect(await open()).toBe(0)
    await outcome(process, false)
    expect(await open()).toBe(1)
    await outcome(duringOutage(process), true)
    expect(await open()).toBe(1)
    await outcome(process, true)
    expect(await open()).toBe(0)
  })

  it('that is not reset stays open, and its row is removed once a call succeeds', async () => {
    await fail(7002n)
    expect(await call(7002n)).toBe('breaker')
    const { breakers } = world.deps.calls
    const { storeBreaker } = await import('../../src/ticketing/partner-reach/breaker.ts')
    await storeBreaker(world.deps, 7002n, breakers.recordOutcome(7002n, true, 10))
    expect((await admin('/breakers')).data.breakers).not.toContainEqual(expect.objectContaining({ partner_id: 7002 }))
    expect(breakers.allowsCall(7002n, false)).toBe(true)
  })
})

it('certificates are listed with their remaining days, the next to expire first', async () => {
  await world.pool.query(
    `insert into partner_certificate (partner_id, origin, ends_at, seen_at)
     select 7001, 'https://' || n || '.example', $1::timestamptz + n * interval '1 day' + interval '1 hour', $1
     from generate_series(-1, 40) n`,
    [world.clock.now()],
  )
  const { certificates } = (await admin('/certificates?within_days=3')).data
  expect(certificates.map(({ days_left }: { days_left: number }) => days_left)).toEqual([-1, 0, 1, 2])
  const seen: string[] = []
  for (let after = ''; ; ) {
    const { data } = await admin(`/certificates?limit=5${after}`)
    seen.push(...data.certificates.map(({ origin }: { origin: string }) => origin))
    if (data.next === null) break
    after = `&after=${data.next}`
  }
  expect([seen.length, new Set(seen).size]).toEqual([42, 42])
  expect((await cli('partner', 'certificates', '--within-days', '0')).stdout).toContain('https://-1.example')
})
