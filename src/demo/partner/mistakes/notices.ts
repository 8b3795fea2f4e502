import { type Delivery, signedDelivery } from '../delivery.ts'
import { readJson, writeJson } from '../json.ts'
import type { Settings } from '../settings.ts'
import type { Switches } from './mistakes.ts'
import { inBody, type Json, rounded, without } from './spoil.ts'

const EIGHT_HOURS_MS = 8 * 60 * 60 * 1000

/** A delivery that makes the mistakes which are switched on. */
export const mistakenDelivery =
  (settings: Settings, switches: Switches): Delivery =>
  async (path, honest, signal) => {
    if (switches.has('notice-not-sent')) return { code: undefined, describe: 'not sent, by mistake' }
    const text = switches.size > 0 ? spoilt(switches, honest) : honest
    const deliver = signedDelivery({
      ...settings,
      ...(switches.has('notice-wrong-signature') ? { clientSecret: `${settings.clientSecret}x` } : {}),
      ...(switches.has('notice-local-time') ? { now: () => inBeijing(settings.now()) } : {}),
    })
    const again = switches.has('notice-sent-twice') ? [deliver(path, text, signal)] : []
    const [reply] = await Promise.all([deliver(path, text, signal), ...again])
    return reply
  }

/** Required fields in the body of notices. */
const REQUIRED = ['usedQuantity', 'refundId', 'status']

function spoilt(switches: Switches, text: string): string {
  let message = readJson(text) as Json
  if (switches.has('notice-missing-field')) {
    message = inBody(without(message, 'issueType'), (entry) => REQUIRED.reduce(without, entry))
  }
  if (switches.has('pay-notice-code-missing')) {
    message = inBody(message, (entry) =>
      Array.isArray(entry.vouchers) ? { ...entry, vouchers: entry.vouchers.slice(1) } : entry,
    )
  }
  if (switches.has('notice-rounded-order-id')) {
    message = inBody(message, (entry) =>
      typeof entry.orderId === 'bigint' ? { ...entry, orderId: rounded(entry.orderId) } : entry,
    )
  }
  return writeJson(message)
}

function inBeijing(now: Date): Date {
  const at = structuredClone(now)
  at.setTime(at.getTime() + EIGHT_HOURS_MS)
  return at
}
