import { randomUUID } from 'node:crypto'
import { countFailure } from '../db/failed-attempts/store.ts'
import type { Deps } from '../deps.ts'
import { attemptSubject } from '../lib/attempts.ts'
import { findPartnerByClientId } from '../registry/partner.ts'
import type { PartnerCall } from './authenticate.ts'
import { parseAuthorization, pathAsSent } from './signature.ts'
import { insertRejectedCall } from './store.ts'

/**
 * Anybody can name a clientId, so only so many rejected calls of one are kept in a window; those with the right
 * signature are counted apart, or a stranger could crowd them out.
 */
const KEPT_PER_WINDOW = 200
const WINDOW_S = 300

export interface Rejection {
  readonly call: PartnerCall
  /** Whether the signature was right. */
  readonly signed: boolean
  readonly headers: Readonly<Record<string, unknown>>
  /** Cut to what a person looks at. */
  readonly body: string
  readonly reason: string
  readonly answer: string
}

/** Keeps a refused call for its partner to see in the sandbox; calls that name no partner of ours are only logged. */
export async function keepRejected(deps: Deps, rejection: Rejection): Promise<void> {
  const parsed = parseAuthorization(rejection.call.authorization ?? '')
  if ('problem' in parsed) return
  const partner = await findPartnerByClientId(deps, parsed.clientId)
  if (!partner) return
  const now = deps.clock.now()
  const subject = attemptSubject(
    deps.keys,
    'rejected',
    `${rejection.signed ? 'signed' : 'unsigned'}\n${partner.client_id}`,
  )
  const { failures } = await countFailure(deps.db, subject, now, WINDOW_S)
  if (failures > KEPT_PER_WINDOW) return
  const row = {
    callId: randomUUID(),
    partnerId: partner.partner_id,
    clientId: partner.client_id,
    path: pathAsSent(rejection.call.url).slice(0, 1_024),
    reason: rejection.reason,
    headers: { ...rejection.headers, authorization: shortened(rejection.call.authorization ?? '') },
    body: rejection.body,
    answer: rejection.answer,
  }
  await insertRejectedCall(deps.db, row, now)
}

/** Enough of a signature to recognise it by, too little to use it; without a colon anything could be the signature. */
export const shortened = (authorization: string): string => {
  const colon = authorization.lastIndexOf(':')
  const end = colon < 0 ? 'MWS '.length : Math.min(colon + 7, 200)
  return authorization.length <= end ? authorization : `${authorization.slice(0, end)}…`
}
