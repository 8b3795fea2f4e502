import type { Deps } from '../deps.ts'
import { masker } from '../lib/crypto/masking.ts'
import { noSuchPartner } from '../partner-calls/errors.ts'
import { findPartner, secretTexts } from '../registry/partner.ts'
import { NOTICE_PATHS, spellings } from './endpoints.ts'
import { listReceived, type ReceivedNotice } from './received-store.ts'
import type { NoticeFilter } from './wire.ts'

/** Characters of a body that an operator is shown. */
const SHOWN_OF_BODY = 16_384

/** Read beyond them and cut off after masking: of a secret that stands across the end, no first part is left. */
const LONGER_THAN_SECRETS = 4_096

export type { ReceivedNotice } from './received-store.ts'

/**
 * The newest notices of a partner for its operator to read, taken and refused ones; of a body 16 KiB. The partner sees
 * the same in Traffic. Throws for a partner that does not exist.
 */
export async function listNotices(deps: Deps, filter: NoticeFilter): Promise<ReceivedNotice[]> {
  const { db, config } = deps
  const { partner_id, kind, limit } = filter
  const partner = await findPartner(deps, partner_id)
  if (!partner) throw noSuchPartner(partner_id)
  const mask = masker(secretTexts(partner))
  const paths = kind && spellings(config.MTP_PATH_PREFIXES, NOTICE_PATHS[kind])
  const found = await listReceived(db, {
    partnerId: partner_id,
    clientId: partner.client_id,
    paths,
    limit,
    bodyChars: SHOWN_OF_BODY + LONGER_THAN_SECRETS,
  })
  return found.map((one) => ({ ...one, path: mask(one.path), body: mask(one.body).slice(0, SHOWN_OF_BODY) }))
}
