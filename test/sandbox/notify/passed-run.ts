import { randomUUID } from 'node:crypto'
import {
  type Notifications,
  notificationsOf,
  notifyContacts,
  type Passed,
} from '../../../src/sandbox/portal/notify/notifications.ts'
import { createPartner } from '../../../src/ticketing/partners/partner.ts'
import { newPartner } from '../../../src/ticketing/partners/wire.ts'
import type { World } from '../../harness.ts'

/** Passed runs, and the notifications to the contacts of their partners. */

export const SECRET = 'the-clientSecret-of-a-partner-that-is-told'

/** Creates a partner with these contacts and a passed run; `webhookSecret` is that of the product contact. */
export async function passedRun(world: World, contacts: object): Promise<Passed & { webhookSecret: string }> {
  const { partner_id, webhook_secrets } = await createPartner(
    world.deps,
    newPartner.parse({ name: '湖畔 Tickets', contacts }),
    SECRET,
  )
  const runId = randomUUID()
  await world.pool.query(
    `insert into sandbox_run (run_id, partner_id, number, choice, created_at, passed_at) values ($1, $2, 3, '{}', $3, $3)`,
    [runId, partner_id, world.clock.now()],
  )
  const reportUrl = 'https://gate.example/sandbox/verify/abc'
  return {
    runId,
    partnerId: partner_id,
    runNumber: 3,
    passedAt: world.clock.now(),
    reportUrl,
    webhookSecret: webhook_secrets?.product ?? '',
  }
}

/** Notifies a single contact by mail only; `shown` reads the notification. */
export async function oneMail(world: World, mail = 'lin@example.com', name = 'Lin') {
  const passed = await passedRun(world, { product: { name, mail } })
  await notifyContacts(world.deps, passed)
  return { passed, shown: () => onlyNotification(world, passed) }
}

/** The notification of a run that has exactly one. */
export async function onlyNotification(
  world: World,
  { runId }: Passed,
): Promise<Notifications['notifications'][number]> {
  const { notifications } = await notificationsOf(world.deps, runId)
  const [one] = notifications
  if (!one || notifications.length > 1) throw new Error(`not one: ${JSON.stringify(notifications)}`)
  return one
}
