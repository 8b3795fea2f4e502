import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
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
