import { spellings } from '../../platform/config/mounts.ts'
import { ENCRYPTION_STATUS, openBody } from '../../platform/lib/crypto/aes-body.ts'
import { REPLAY_OF } from '../../platform/lib/crypto/masking.ts'
import { checkKeptCall, keepRejectedOf } from '../mws/index.ts'
import { bodyRejected, CallRejected, rejectionCode, rejectionEnvelope } from '../mws-wire/index.ts'
import type { PartnerWithSecrets } from '../partners/index.ts'
import type { NoticeDeps } from './accept-once.ts'
import { NOTICE_ENDPOINTS, type NoticeEndpoint } from './notice.ts'

/** A kept notice that its partner is known to have sent. `headers` are those sent, in lower case, if they were kept. */
export interface KeptNotice {
  readonly id: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>> | undefined
  readonly body: string
}

/** `again`: it is a repeat, so it has no effect. `entryId` is the id of its entry in Traffic. */
export interface Replay {
  readonly outcome: 'accepted' | 'again' | 'refused'
  readonly entryId: string | undefined
}

/** The notice that is sent to a path, under whatever prefix. */
export const noticeAt = ({ config }: NoticeDeps, path: string): NoticeEndpoint | undefined =>
  NOTICE_ENDPOINTS.find((notice) => spellings(config.MTP_PATH_PREFIXES, notice.path).includes(path))

/**
 * Processes a kept notice as if it had been sent now, correctly signed. All other checks apply, and if it is rejected,
 * it is kept like any other. Undefined for a path that takes no notices.
 */
export async function replayNotice(
  deps: NoticeDeps,
  partner: PartnerWithSecrets,
  kept: KeptNotice,
): Promise<Replay | undefined> {
  const endpoint = noticeAt(deps, kept.path)
  if (!endpoint) return undefined
  // A notice rejected for lack of a key was kept as received; a key set since then opens it now.
  const opened = openBody(Buffer.from(kept.body), kept.headers?.[ENCRYPTION_STATUS], partner.aes_key)
  const bytes = 'problem' in opened ? Buffer.from(kept.body) : opened.bytes
  try {
    checkKeptCall(partner, kept.headers)
    if ('problem' in opened) throw bodyRejected(opened.problem)
    const { decrypted } = opened
    const incoming = { caller: partner, url: kept.path, bytes, decrypted, warnings: [] }
    const { noticeId, isRepeat } = await endpoint.accept(deps, incoming)
    return { outcome: isRepeat ? 'again' : 'accepted', entryId: noticeId }
  } catch (error) {
    if (!(error instanceof CallRejected)) throw error
    return { outcome: 'refused', entryId: await keepRejection(deps, partner, kept, error) }
  }
}

function keepRejection(
  deps: NoticeDeps,
  partner: PartnerWithSecrets,
  { id, path, headers = {}, body }: KeptNotice,
  rejected: CallRejected,
): Promise<string | undefined> {
  const { authorization, date, partnerid } = headers
  return keepRejectedOf(deps, partner, {
    call: { method: 'POST', url: path, authorization, date, partnerId: partnerid, doubled: [] },
    verified: true,
    headers: { ...headers, [REPLAY_OF]: id },
    body,
    reason: rejected.reason,
    answer: JSON.stringify(
      rejectionEnvelope(rejected.describe, String(partner.partner_id), rejectionCode(rejected, path)),
    ),
  })
}
