import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { localized } from '../../src/platform/lib/localized-text.ts'
import type { StepContext } from '../../src/sandbox/certification/step-context.ts'
import { watchNotices } from '../../src/sandbox/certification/step-notices.ts'
import { showPartner } from '../../src/ticketing/partners/index.ts'
import { type Lab, openLab, walkTo } from '../sandbox/lab.ts'
import { useTickets } from '../sandbox/walk.ts'

let lab: Lab
beforeAll(async () => {
  lab = await openLab()
})
afterAll(() => lab.close())

it('a step finds the notice it waits for among hundreds of others', async () => {
  const runId = await lab.run()
  await walkTo(lab, runId, 'consumption')
  // A live partner that uses the sandbox keeps sending notices about its other orders.
  await lab.world.pool.query(
    `insert into notice (notice_id, partner_id, client_id, path, body_hash, body, answer, received_at)
     select gen_random_uuid(), $1, 'lab', '/mtp/api/order/consume/notice', sha256(i::text::bytea),
       '{"body":{"orderId":' || i || '}}', '{}', $2
     from generate_series(1, 250) i`,
    [lab.partnerId, lab.world.clock.now()],
  )
  const result = await lab.runStep(runId, 'consumption', async () => {
    await lab.awaited(runId)
    await sleep(300)
    await useTickets(lab, runId)
  })
  expect(result.failures).toEqual([])
  expect(result.outcome).toBe('passed')
  expect(result.events.length).toBeLessThan(50)
})

it('a refused notice about the right order is logged, however many others came before', async () => {
  const runId = await lab.run()
  await walkTo(lab, runId, 'consumption')
  const path = '/mtp/api/order/consume/notice'
  const result = await lab.runStep(runId, 'consumption', async () => {
    const { about } = await lab.awaited(runId)
    await lab.world.pool.query(
      `insert into notice (notice_id, partner_id, client_id, path, body_hash, body, answer, received_at)
       select gen_random_uuid(), $1, 'lab', $3, sha256(('before' || i)::bytea), '{"body":{"orderId":' || i || '}}', '{}', $2
       from generate_series(1, 30) i`,
      [lab.partnerId, lab.world.clock.now(), path],
    )
    await sleep(500)
    const { orderId, partnerOrderId } = about
    const wrong = { orderId: BigInt(orderId ?? ''), partnerOrderId, quantity: 9, usedQuantity: 9, refundedQuantity: 0 }
    expect(await lab.send(path, { partnerId: 7001, body: wrong })).not.toMatchObject({ code: 200 })
    await lab.world.deps.incoming.rejected.finish()
    await sleep(500)
    await useTickets(lab, runId)
  })
  expect(result.outcome).toBe('passed')
  expect(result.events.filter(({ kind }) => kind === 'rejected')).toHaveLength(1)
})

it('a step that waits long remembers only the notices of a minute, and misses none that is visible late', async () => {
  const { deps, pool, clock } = lab.world
  clock.advance(60)
  const startedAt = clock.now()
  const insert = (from: number, to: number) =>
    pool.query(
      `insert into notice (notice_id, partner_id, client_id, path, body_hash, body, answer, received_at)
       select gen_random_uuid(), $1, 'lab', '/mtp/api/order/consume/notice', sha256(('long' || i)::bytea), i::text, '{}',
         $2::timestamptz + make_interval(secs => i)
       from generate_series($3::int, $4::int) i`,
      [lab.partnerId, startedAt, from, to],
    )
  let most = 0
  const db = new Proxy(deps.db, {
    get: (target, name) =>
      name === 'many'
        ? (...[row, statement]: Parameters<typeof deps.db.many>) => {
            most = Math.max(most, ...(statement.values ?? []).map((value) => (Array.isArray(value) ? value.length : 0)))
            return target.many(row, statement)
          }
        : Reflect.get(target, name),
  })
  const read: string[] = []
  const [partner, nothing] = [await showPartner(deps, lab.partnerId), async () => true]
  const context = { ...lab, deps: { ...deps, db }, partner, startedAt, append: nothing, check: nothing }
  const watch = watchNotices(
    { ...context, maskText: (text: object) => text } as unknown as StepContext<'notice-accepted'>,
    {
      path: '/mtp/api/order/consume/notice',
      otherSubject: (body) => {
        read.push(body)
        return body === 'wanted' ? undefined : localized('nothing')
      },
    },
  )
  for (let minute = 0; minute < 20; minute++) {
    clock.advance(60)
    await insert(minute * 60, minute * 60 + 59 - (minute === 19 ? 30 : 0))
    expect(await watch.poll()).toBeUndefined()
  }
  expect(read).toHaveLength(1_170)
  await insert(1_180, 1_180)
  await pool.query(`update notice set body = 'wanted', received_at = received_at - interval '30 s' where body = '1180'`)
  expect(await watch.poll()).toMatchObject({ body: 'wanted' })
  expect(new Set(read).size).toBe(read.length)
  expect(most).toBeLessThan(200)
})
