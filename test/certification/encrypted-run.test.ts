import { afterAll, beforeAll, expect, it } from 'vitest'
import { STEPS } from '../../src/certification/steps/index.ts'
import { updatePartner } from '../../src/partners/partner.ts'
import { showEntry } from '../../src/sandbox/traffic/entry.ts'
import { type Lab, openLab } from '../sandbox/lab.ts'
import { EVERYTHING, walk } from '../sandbox/walk.ts'

/** The whole test run with a partner whose calls are encrypted: steps read what was said, not what was sent. */

let lab: Lab
beforeAll(async () => {
  lab = await openLab()
  await updatePartner(lab.world.deps, lab.partnerId, { encrypts_calls: true })
})
afterAll(() => lab?.close())

it('passes every step, and shows its calls readable and marked', async () => {
  const { steps, failed, warned } = await walk(lab, EVERYTHING)
  expect([failed, warned]).toEqual([undefined, []])
  expect(steps).toHaveLength(STEPS.length)
  const { rows } = await lab.world.pool.query(
    `select call_id, interface, request_headers ->> 'X-Encryption-Status' as sent, response_headers ->> 'gatehouse-body-decrypted' as came
     from partner_call where code = 200`,
  )
  const names = (encrypted: boolean) =>
    new Set(rows.filter(({ sent }) => (sent !== null) === encrypted).map((row) => row.interface))
  const plain = names(false)
  expect(names(true).size).toBe(7)
  for (const name of names(true)) expect(plain).not.toContain(name)
  for (const { sent, came } of rows) expect([sent, came]).toEqual(sent ? ['encrypted', 'yes'] : [null, null])

  const shown = (name: string) =>
    showEntry(lab.world.deps, lab.partnerId, { kind: 'call', id: rows.find((row) => row.interface === name).call_id })
  const create = await shown('order-create')
  expect(create.request.body).toMatchObject({ text: expect.stringContaining('"partnerDealId"'), encrypted: true })
  expect(create.response?.body).toMatchObject({ text: expect.stringContaining('"partnerOrderId"'), encrypted: true })
  expect((await shown('heartbeat')).request.body.encrypted).toBeUndefined()
})
