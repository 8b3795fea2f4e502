import { afterEach, beforeEach, expect, it } from 'vitest'
import { listTraffic } from '../../src/sandbox/portal/traffic/list.ts'
import { trafficQuery } from '../../src/sandbox/portal/traffic/wire.ts'
import { openWorld, type World } from '../harness.ts'
import { type FakeSeller, fakeSeller } from '../partner-calls/fake-seller.ts'
import { sendNotice } from '../sandbox/notices.ts'

/** Anybody who knows a clientId can send calls without limit, so what is stored of them is bounded. */

const path = '/mtp/api/deal/change/notice'
let world: World
let seller: FakeSeller
beforeEach(async () => {
  world = await openWorld({ PARTNER_ADDRESS_ALLOW: '127.0.0.1', TRUST_PROXY: '127.0.0.1' })
  seller = await fakeSeller(world, 7001)
})
afterEach(async () => {
  await seller.close()
  await world.close()
})

const kept = async () =>
  (
    await world.pool.query(
      `select verified, left_out, length(body) as body, length(headers::text) as headers from rejected_call`,
    )
  ).rows
const failedAttempts = async () => (await world.pool.query('select from failed_attempt')).rowCount

it('of unverified calls, 50 per clientId in five minutes are stored truncated, 25 per network, and the others are counted', async () => {
  const headers = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`x-${index}`, 'y'.repeat(900)]))
  const body = 'z'.repeat(60_000)
  const send = (address: string) =>
    sendNotice(world, seller, {
      ...{ path, body, signing: { secret: 'a guess' } },
      headers: { ...headers, 'X-Forwarded-For': address },
    })
  for (let sent = 0; sent < 40; sent++) await send('192.0.2.1')
  expect((await kept()).filter(({ left_out }) => left_out === null)).toHaveLength(25)
  for (let sent = 0; sent < 20; sent++) await send('192.0.2.2')
  for (let sent = 0; sent < 10; sent++) await send('192.0.2.3')
  // `sendNotice` has written the counts: it flushes the rejected calls like a process that ends.
  const rows = await kept()
  expect(rows.filter(({ left_out }) => left_out === null)).toHaveLength(50)
  for (const row of rows) {
    expect(row.body).toBeLessThanOrEqual(1_024)
    expect(row.headers).toBeLessThanOrEqual(4_096)
  }
  expect(rows.reduce((sum, { left_out }) => sum + (left_out ?? 0), 0)).toBe(20)
  // No call had to write to a shared counter row.
  expect(await failedAttempts()).toBe(0)
  const { lines } = await listTraffic(world.deps, 7001n, trafficQuery.parse({}))
  expect(lines.some(({ left_out, verified }) => left_out !== null && !verified)).toBe(true)
  // Verified calls of the partner are still stored.
  await sendNotice(world, seller, { path, body: '{}' })
  expect((await kept()).filter(({ verified, left_out }) => verified && left_out === null)).toHaveLength(1)
})

it('of verified calls, 1 MiB per clientId in five minutes is stored', async () => {
  const body = `{"x":"${'x'.repeat(20_000)}"}`
  for (let sent = 0; sent < 80; sent++) await sendNotice(world, seller, { path, body })
  const rows = await kept()
  const whole = rows.filter(({ left_out }) => left_out === null)
  expect(whole.reduce((sum, row) => sum + row.body + row.headers, 0)).toBeLessThanOrEqual(1_100_000)
  expect(whole.length).toBeGreaterThan(40)
  expect(rows.reduce((sum, { left_out }) => sum + (left_out ?? 0), 0)).toBe(80 - whole.length)
})
