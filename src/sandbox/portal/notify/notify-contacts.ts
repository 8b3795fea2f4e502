import { randomUUID } from 'node:crypto'
import type { Deps } from '../../../platform/deps.ts'
import { CONTACT_ROLES, showPartner } from '../../../ticketing/partners/index.ts'
import { queueSending } from './queue.ts'
import * as store from './store.ts'

/** A run that has passed, and where everybody can read and verify its report. */
export interface Passed {
  readonly runId: string
  readonly partnerId: bigint
  readonly runNumber: number
  readonly passedAt: Date
  readonly reportUrl: string
}

/**
 * Tells the partner's product and business contacts that this run has passed: by mail, and over their webhook where there
 * is one. Each message is queued with the caller's transaction, and once a run, however often this is called. Returns how
 * many were queued now. Somebody who is both contacts gets a message as each.
 */
export const notifyContacts = (deps: Deps, { runId, partnerId, ...passed }: Passed): Promise<number> =>
  deps.db.tx(async (db) => {
    const partner = await showPartner({ ...deps, db }, partnerId)
    const facts = {
      partnerName: partner.name,
      runNumber: passed.runNumber,
      passedAt: passed.passedAt,
      reportUrl: passed.reportUrl,
    }
    let queued = 0
    // Always in this order: simultaneous callers wait for each other at the first row and cannot deadlock.
    for (const role of CONTACT_ROLES) {
      const contact = partner.contacts[role]
      if (!contact) continue
      const ways = { mail: contact.mail, webhook: contact.webhook_url }
      for (const [channel, address] of Object.entries(ways) as ['mail' | 'webhook', string | null][]) {
        if (address === null) continue
        const notification_id = randomUUID()
        const to = { notification_id, run_id: runId, partner_id: partnerId, role, channel, name: contact.name, address }
        if (!(await store.insertNotification(db, { ...to, facts }, deps.clock.now()))) continue
        await queueSending(db, notification_id)
        queued++
      }
    }
    return queued
  })
