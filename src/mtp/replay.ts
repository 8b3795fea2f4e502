import type { Deps } from '../deps.ts'
import { sha256 } from '../lib/digest.ts'
import type { PartnerWithSecrets } from '../registry/partner.ts'
import { refused } from './answer.ts'
import { requireJson } from './body-guard.ts'
import { MOUNT, PATH } from './endpoints.ts'
import { baFailed, CallRejected } from './errors.ts'
import { acceptNotice, CONSUMPTION, DEAL_CHANGE, REFUND_RESULT, type ReceivedNotice } from './notice.ts'
import { keepRejectedOf } from './reject.ts'
import { decodedPath, namesPartner } from './signature.ts'
import { rememberedNotice } from './store.ts'

/** A notice as it was kept. Headers are those that came with it, names in lower case; undefined where none were kept. */
export interface KeptNotice {
  readonly id: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>> | undefined
  readonly body: string
}

/** `again`: the bytes are known, so the first answer counts and nothing happened. `entryId` finds what is kept of it. */
export interface Replay {
  readonly outcome: 'accepted' | 'again' | 'refused'
  readonly entryId: string | undefined
}

/** Names the call that was replayed among the headers of one that was refused again. */
const REPLAY_OF = 'gatehouse-replay-of'

const ACCEPT: Readonly<Record<string, (deps: Deps, received: ReceivedNotice) => Promise<string>>> = {
  [MOUNT + PATH.dealChange]: (deps, received) => acceptNotice(deps, DEAL_CHANGE, received),
  [MOUNT + PATH.consume]: (deps, received) => acceptNotice(deps, CONSUMPTION, received),
  [MOUNT + PATH.refund]: (deps, received) => acceptNotice(deps, REFUND_RESULT, received),
}

/** The endpoint of B1 that a path leads to, without its prefix; undefined for any other. */
export function noticeEndpoint({ config }: Deps, path: string): string | undefined {
  const decoded = decodedPath(path)
  return Object.keys(ACCEPT).find((endpoint) =>
    config.MTP_PATH_PREFIXES.some((prefix) => decoded === prefix + endpoint),
  )
}

/**
 * Takes a notice of the partner's once more, as if it were sent now and rightly signed. Every other check is made, and
 * a refusal is kept like any other. Undefined for a path that takes no notices.
 */
export async function replayNotice(
  deps: Deps,
  partner: PartnerWithSecrets,
  kept: KeptNotice,
): Promise<Replay | undefined> {
  const accept = ACCEPT[noticeEndpoint(deps, kept.path) ?? '']
  if (!accept) return undefined
  const bytes = Buffer.from(kept.body)
  const key = { clientId: partner.client_id, path: kept.path, bodyHash: sha256(bytes) }
  const before = await rememberedNotice(deps.db, key)
  try {
    checkCaller(partner, kept.headers)
    if (kept.headers) requireJson(kept.headers['content-type'])
    await accept(deps, { caller: partner, url: kept.path, bytes })
    const entryId = await rememberedNotice(deps.db, key)
    return { outcome: entryId === before ? 'again' : 'accepted', entryId }
  } catch (error) {
    if (!(error instanceof CallRejected)) throw error
    return { outcome: 'refused', entryId: await keepRefusal(deps, partner, kept, error) }
  }
}

/** What authentication checks besides signature and Date. */
function checkCaller(partner: PartnerWithSecrets, headers: KeptNotice['headers']): void {
  const given = headers?.partnerid
  if (given !== undefined && !namesPartner(given, partner.partner_id)) {
    throw baFailed('PartnerId does not belong to the clientId')
  }
  if (partner.status !== 'active') throw baFailed('the partner is suspended')
}

function keepRefusal(
  deps: Deps,
  partner: PartnerWithSecrets,
  { id, path, headers = {}, body }: KeptNotice,
  { message, describe }: CallRejected,
): Promise<string | undefined> {
  const { authorization, date, partnerid } = headers
  return keepRejectedOf(deps, partner, {
    call: { method: 'POST', url: path, authorization, date, partnerId: partnerid, doubled: [] },
    signed: true,
    headers: { ...headers, [REPLAY_OF]: id },
    body,
    reason: message,
    answer: JSON.stringify(refused(describe, String(partner.partner_id))),
  })
}
