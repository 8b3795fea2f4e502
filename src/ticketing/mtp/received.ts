import { MOUNT, spellings } from '../../platform/config/mounts.ts'
import type { Deps } from '../../platform/deps.ts'
import { masker } from '../../platform/lib/crypto/masking.ts'
import { operation } from '../../platform/lib/json/input.ts'
import { cutTo } from '../../platform/lib/storable.ts'
import { NOTICE_PATHS } from '../mws-wire/index.ts'
import { existingPartner } from '../partner-calls/index.ts'
import { secretTexts } from '../partners/index.ts'
import type { NoticeDeps } from './accept-once.ts'
import * as store from './store.ts'
import { noticeFilter } from './wire.ts'

const SHOWN_OF_BODY = 16_384

/** Read beyond that and cut off after masking, so that a secret across the cut is masked. */
const LONGER_THAN_SECRETS = 4_096

/** The notices of a partner, newest first, refused ones too, with 16 KiB of each body; throws for an unknown partner. */
export const listNotices = operation(noticeFilter, async (deps: NoticeDeps, filter) => {
  const { db, config } = deps
  const { partner_id, kind, ...page } = filter
  const partner = await existingPartner(deps, partner_id)
  const mask = masker(secretTexts(partner))
  const paths = kind && spellings(config.MTP_PATH_PREFIXES, NOTICE_PATHS[kind])
  const { rows, next } = await store.listReceived(db, {
    partnerId: partner_id,
    clientId: partner.client_id,
    paths,
    ...page,
    bodyChars: SHOWN_OF_BODY + LONGER_THAN_SECRETS,
  })
  const notices = rows.map((notice) => ({
    ...notice,
    path: mask(notice.path),
    body: cutTo(mask(notice.body), SHOWN_OF_BODY),
  }))
  return { notices, next }
})

/**
 * Accepted and refused calls that name a partner, to an endpoint (`/mtp/api/order/consume/notice`) under any prefix or
 * to a path that does not exist, in the order of arrival. At most 200: pass their ids as `seen` to get the next ones.
 */
export const receivedSince = (
  { db, config }: Deps,
  { path, ...filter }: Omit<store.ReceivedFilter, 'paths'> & { readonly path: string },
): Promise<store.ReceivedCall[]> =>
  store.receivedSince(db, { ...filter, paths: spellings(config.MTP_PATH_PREFIXES, path.slice(MOUNT.length)) })
