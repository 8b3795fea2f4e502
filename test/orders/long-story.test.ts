import { afterAll, beforeAll, expect, it } from 'vitest'
import { showOrder } from '../../src/ticketing/orders/index.ts'
import { openWorld, type World } from '../harness.ts'
import { seedOrder, seedPartner } from './orders.ts'

/** An order that a program or a job asks about for weeks is still shown: with the newest of its calls and changes. */

const ORDER = 8_985_652_356_562_370_000n

let world: World
beforeAll(async () => {
  world = await openWorld()
  await seedPartner(world.pool)
  await seedOrder(world.pool, { orderId: ORDER })
  await world.pool.query(
    `insert into partner_call (call_id, partner_id, interface, order_id, started_at, duration_ms, url, request_headers, request_body, cause)
     select gen_random_uuid(), 7001, 'order-query', ${ORDER}, '2026-05-01'::timestamptz + n * interval '1 minute', n, '', '{}', '', 'operator'
     from generate_series(1, 1200) n`,
  )
  await world.pool.query(
    `insert into record_change (at, partner_id, record, record_id, order_id, cause, change)
     select '2026-05-01'::timestamptz + n * interval '1 minute', 7001, 'order', '${ORDER}', ${ORDER}, 'job',
       jsonb_build_object('last_code', jsonb_build_array(n - 1, n))
     from generate_series(1, 10200) n`,
  )
})
afterAll(() => world?.close())

it('oldest first, without the oldest', async () => {
  const { calls, history } = await showOrder(world.deps, ORDER)
  expect(calls.map(({ duration_ms }) => duration_ms)).toEqual(Array.from({ length: 1_000 }, (_, n) => n + 201))
  expect(history).toHaveLength(10_000)
  expect([history[0]?.change, history.at(-1)?.change]).toEqual([
    { last_code: [200, 201] },
    { last_code: [10_199, 10_200] },
  ])
})
