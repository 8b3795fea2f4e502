import { type Delivery, signedDelivery } from '../delivery.ts'
import type { Settings } from '../settings.ts'
import type { Switches } from './mistakes.ts'

const EIGHT_HOURS_MS = 8 * 60 * 60 * 1000

/** A delivery that makes the mistakes which are switched on. */
export const mistakenDelivery =
  (settings: Settings, switches: Switches): Delivery =>
  async (path, text, signal) => {
    const deliver = signedDelivery({
      ...settings,
      ...(switches.has('notice-wrong-signature') ? { clientSecret: `${settings.clientSecret}x` } : {}),
      ...(switches.has('notice-local-time') ? { now: () => inBeijing(settings.now()) } : {}),
    })
    const again = switches.has('notice-sent-twice') ? [deliver(path, text, signal)] : []
    const [reply] = await Promise.all([deliver(path, text, signal), ...again])
    return reply
  }

function inBeijing(now: Date): Date {
  const at = structuredClone(now)
  at.setTime(at.getTime() + EIGHT_HOURS_MS)
  return at
}
