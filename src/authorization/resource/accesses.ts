import { z } from 'zod'
import { recordAudit } from '../../platform/audit/index.ts'
import { momentKey, pageInput } from '../../platform/db/page.ts'
import { type Deps, inTransaction } from '../../platform/deps.ts'
import { rowKeyOf, showUser, userKey } from '../account/index.ts'
import { type Access, accessesOfUser } from './access-store.ts'

/** Whose, and which page of them. */
export const accessFilter = userKey.extend(
  pageInput(z.tuple([momentKey, z.string().max(128), z.enum(['profile', 'phone'])])),
)
export type AccessFilter = z.output<typeof accessFilter>

/**
 * Which apps have read the user's profile or phone number, by the hour, newest first, up to a minute late; audited.
 * Throws 20007 (404).
 */
export const listAccesses = (
  deps: Deps,
  { cid, user_id, ...page }: AccessFilter,
): Promise<{ accesses: Access[]; next: string | null }> =>
  inTransaction(deps, async (inside, db) => {
    await showUser(inside, { cid, user_id })
    const key = rowKeyOf({ cid, user_id })
    const { rows, next } = await accessesOfUser(db, key, page)
    await recordAudit(inside, { event: 'user_accesses_read', ...key })
    return { accesses: rows, next }
  })
