import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { notificationsOf, notifyContacts } from '../../../src/sandbox/portal/notify/notifications.ts'
import { type Lab, openLab } from '../lab.ts'
import { newSandboxPartner } from '../partners.ts'
import { textOf, type Visitor, visitor } from './visitor.ts'

/** A notification that was given up can be sent again from the page of the run. */

let lab: Lab
let me: Visitor
beforeAll(async () => {
  lab = await openLab()
  me = await visitor(lab)
})
afterAll(() => lab.close())

let runId: string
beforeEach(async () => {
  const { deps, clock, pool } = lab.world
  runId = await lab.run()
  const passedAt = clock.now()
  await pool.query('update sandbox_run set passed_at = $2 where run_id = $1', [runId, passedAt])
  const reportUrl = 'https://gate.example/sandbox/verify/abc'
  await notifyContacts(deps, { runId, partnerId: lab.partnerId, runNumber: 1, passedAt, reportUrl })
})

const notificationTo = async (role: 'product' | 'business') => {
  const { notifications } = await notificationsOf(lab.world.deps, runId)
  const found = notifications.find((one) => one.role === role)
  if (!found) throw new Error(`no ${role} contact was notified`)
  return found
}
/** As if the mail server had refused the product contact's mail for a day. */
const giveUp = () =>
  lab.world.pool.query(
    `update sandbox_notification set state = 'failed', last_error = 'no such mailbox', waiting_since = $2
     where run_id = $1 and role = 'product'`,
    [runId, new Date(0)],
  )
const page = () => me.open(`/sandbox/run/${runId}`)
const form = /action="(\/sandbox\/run\/[^"]+\/notifications\/[^"]+)"/g

it('sending again is offered for a notification that was given up, and for no other', async () => {
  expect((await page()).body).not.toContain('/notifications/')
  await giveUp()
  const shown = await page()
  expect(textOf(shown)).toContain('not delivered no such mailbox Send again')
  const retry = `/sandbox/run/${runId}/notifications/${(await notificationTo('product')).notification_id}/retry`
  expect([...shown.body.matchAll(form)].map(([, action]) => action)).toEqual([retry])

  expect(textOf(await me.submit(retry))).not.toContain('Send again')
  const { state, next_attempt_at } = await notificationTo('product')
  expect(state).toBe('waiting')
  const { rows } = await lab.world.pool.query('select $1 <= clock_timestamp() as is_due', [next_attempt_at])
  expect(rows).toEqual([{ is_due: true }])
})

it('sending again changes nothing about a delivered notification', async () => {
  await lab.world.pool.query(
    `update sandbox_notification set state = 'sent', sent_at = $2 where run_id = $1 and role = 'product'`,
    [runId, lab.world.clock.now()],
  )
  const before = await notificationTo('product')
  const again = await me.send(`/sandbox/run/${runId}/notifications/${before.notification_id}/retry`)
  expect(again.statusCode).toBe(303)
  expect(await notificationTo('product')).toEqual(before)
})

it('sending again is only for the partner of the run', async () => {
  await giveUp()
  const { notification_id } = await notificationTo('product')
  const stranger = await visitor(lab, await newSandboxPartner(lab.world, { name: 'Another' }))
  const retry = (run: string, id: string) => `/sandbox/run/${run}/notifications/${id}/retry`
  expect((await stranger.send(retry(runId, notification_id))).statusCode).toBe(404)
  // Nor is it found under another run of the same partner.
  const own = await lab.run()
  await me.send(retry(own, notification_id))
  expect(await notificationTo('product')).toMatchObject({ state: 'failed' })
  for (const [run, id] of [
    [randomUUID(), notification_id],
    [runId, 'nothing'],
  ]) {
    expect((await me.send(retry(String(run), String(id)))).statusCode).toBe(404)
  }
})
