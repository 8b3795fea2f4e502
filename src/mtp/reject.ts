import { randomUUID } from 'node:crypto'
import { countFailure } from '../db/failed-attempts/store.ts'
import type { Deps } from '../deps.ts'
import { attemptSubject } from '../lib/attempts.ts'
import { findPartnerByClientId, type PartnerWithSecrets } from '../registry/partner.ts'
import { maskedHeaders, masker } from '../ticketing/masking.ts'
import { type PartnerCall, SIGNATURE_UNFIT } from './authenticate.ts'
import { diagnoseCall } from './diagnose-call.ts'
import { parseAuthorization, pathAsSent } from './signature.ts'
import { insertRejectedCall } from './store.ts'

/**
 * Anybody can name a clientId, so only so many rejected calls of one are kept in a window; those with the right
 * signature are counted apart, or a stranger could crowd them out.
 */
const KEPT_PER_WINDOW = 200
const WINDOW_S = 300
/** Finding out what is wrong with a signature takes some 30 ms, which nobody may make us spend again and again. */
const DIAGNOSED_PER_WINDOW = 20

/** What a person looks at of a body. */
export const KEPT_OF_BODY = 16_384

/** Among the headers of a call that is kept: its body is not the one that came, a secret in it is masked. */
export const BODY_MASKED = 'gatehouse-body-masked'

export interface Rejection {
  readonly call: PartnerCall
  /** Whether the signature was right. */
  readonly signed: boolean
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
  readonly reason: string
  readonly answer: string
}

/** Keeps a refused call for its partner to see in the sandbox; calls that name no partner of ours are only logged. */
export async function keepRejected(deps: Deps, rejection: Rejection): Promise<void> {
  const parsed = parseAuthorization(rejection.call.authorization ?? '')
  if ('problem' in parsed) return
  const partner = await findPartnerByClientId(deps, parsed.clientId)
  if (partner) await keepRejectedOf(deps, partner, rejection)
}

/** As above, of a partner that is known; returns the id under which it is kept, undefined where there were too many. */
export async function keepRejectedOf(
  deps: Deps,
  partner: PartnerWithSecrets,
  rejection: Rejection,
): Promise<string | undefined> {
  const now = deps.clock.now()
  const subject = attemptSubject(
    deps.keys,
    'rejected',
    `${rejection.signed ? 'signed' : 'unsigned'}\n${partner.client_id}`,
  )
  const { failures } = await countFailure(deps.db, subject, now, WINDOW_S)
  if (failures > KEPT_PER_WINDOW) return undefined
  // Some clients send their secret along; masked before anything is cut, or the rest of one might stay.
  const mask = masker(partner.secrets.map(({ secret }) => secret))
  const callId = randomUUID()
  const body = mask(rejection.body)
  const row = {
    callId,
    partnerId: partner.partner_id,
    clientId: partner.client_id,
    path: mask(pathAsSent(rejection.call.url)).slice(0, 1_024),
    reason: mask(failures > DIAGNOSED_PER_WINDOW ? rejection.reason : withMistakes(deps, partner, rejection)),
    headers: {
      ...maskedHeaders(rejection.headers, mask),
      authorization: shortened(mask(rejection.call.authorization ?? '')),
      ...(body === rejection.body ? {} : { [BODY_MASKED]: 'yes' }),
    },
    body: body.slice(0, KEPT_OF_BODY),
    answer: rejection.answer,
  }
  await insertRejectedCall(deps.db, row, now)
  return callId
}

/** `the signature does not fit: newline-missing`: the signature itself is not kept, so that is found out now or never. */
function withMistakes(deps: Deps, partner: PartnerWithSecrets, { reason, call, headers }: Rejection): string {
  if (reason !== SIGNATURE_UNFIT) return reason
  const { mistakes } = diagnoseCall(deps, partner, { ...call, host: String(headers.host ?? '') })
  return mistakes.length === 0 ? reason : `${reason}: ${mistakes.join(', ')}`
}

/** Enough of a signature to recognise it by, too little to use it; without a colon anything could be the signature. */
export const shortened = (authorization: string): string => {
  const colon = authorization.lastIndexOf(':')
  const end = colon < 0 ? 'MWS '.length : Math.min(colon + 7, 200)
  return authorization.length <= end ? authorization : `${authorization.slice(0, end)}…`
}
