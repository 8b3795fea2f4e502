import { afterAll, beforeAll, expect, it } from 'vitest'
import { listNotices } from '../../src/ticketing/mtp/received.ts'
import { nodesOf, rowsTouched, watchPlans } from '../db/seen-plans.ts'
import { openWorld, type World } from '../harness.ts'
import { seedPartner } from '../orders/orders.ts'

/** The list of a busy seller's notices reads a bounded number of them, also for a kind that is rare. */

const NOTICES = 30_000
let world: World
let plans: Awaited<ReturnType<typeof watchPlans>>
beforeAll(async () => {
  world = await openWorld()
  await seedPartner(world.pool)
  await world.pool.query(
    `insert into notice (client_id, path, body_hash, notice_id, partner_id, received_at, body, answer)
     select 'client-7001', case when n in (5, 25000) then '/mtp/api/order/refund/notice' else '/mtp/api/order/consume/notice' end,
       sha256(n::text::bytea), gen_random_uuid(), 7001, '2026-05-01'::timestamptz + n * interval '1 second', '{}', '{}'
     from generate_series(1, ${NOTICES}) n`,
  )
  await world.pool.query('analyze notice')
  plans = await watchPlans(world)
})
afterAll(async () => {
  plans?.stop()
  await world?.close()
})

async function page(query: object) {
  let listed: Awaited<ReturnType<typeof listNotices>> | undefined
  const seen = await plans.during(async () => {
    listed = await listNotices(world.deps, listNotices.input.parse({ partner_id: 7001, ...query }))
  })
  const reads = seen.filter(({ text }) => /\bnotice\b/.test(text))
  return {
    found: listed?.notices.length,
    next: listed?.next ?? undefined,
    rows: Math.max(...reads.map(rowsTouched)),
    sorts: reads.flatMap(({ root }) => nodesOf(root)).filter((node) => node['Node Type'] === 'Sort').length,
  }
}

it('of any kind', async () => {
  const first = await page({ limit: 100 })
  expect(first).toMatchObject({ found: 100, sorts: 0 })
  expect(first.rows).toBeLessThan(300)
  const second = await page({ limit: 100, after: first.next })
  expect(second).toMatchObject({ found: 100, sorts: 0 })
  expect(second.rows).toBeLessThan(300)
})

it('of those that were refused, or came in a period', async () => {
  expect(await page({ outcome: 'refused' })).toMatchObject({ found: 0, next: undefined, sorts: 0 })
  await world.pool.query(
    `insert into rejected_call (call_id, received_at, partner_id, client_id, path, reason, headers, body, answer, verified)
     select gen_random_uuid(), '2026-05-01'::timestamptz + n * interval '1 hour', 7001, 'client-7001',
       '/mtp/api/order/consume/notice', '{"id": "partner-id-missing", "values": {}}', '{}', '{}', '{}', true
     from generate_series(1, 3) n`,
  )
  const refused = await page({ outcome: 'refused' })
  expect(refused).toMatchObject({ found: 3, next: undefined })
  expect(refused.rows).toBeLessThan(10)
  expect(await page({ outcome: 'accepted', limit: 100 })).toMatchObject({ found: 100 })
  const period = { from: '2026-05-01T01:30:00Z', to: '2026-05-01T02:30:00Z' }
  expect(await page({ ...period, outcome: 'refused' })).toMatchObject({ found: 1 })
  expect(await page({ ...period, outcome: 'accepted', limit: 10 })).toMatchObject({ found: 10 })
  await world.pool.query('delete from rejected_call')
})

it('of a kind that is rare', async () => {
  const found: (number | undefined)[] = []
  let next: string | undefined
  do {
    const searched = await page({ kind: 'refund', after: next })
    expect(searched.rows).toBeLessThan(11_000)
    found.push(searched.found)
    next = searched.next
  } while (next)
  expect(found).toEqual([1, 0, 1, 0])
})
