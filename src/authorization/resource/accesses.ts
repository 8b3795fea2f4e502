import { z } from 'zod'
import { recordAudit } from '../../platform/audit/index.ts'
import { momentKey, pageInput } from '../../platform/db/page.ts'
import { type Deps, inTransaction } from '../../platform/deps.ts'
import { rowKeyOf, showUser, userKey } from '../account/index.ts'
import { type Access, accessesOfUser, accessKind } from './access-store.ts'

export const accessFilter = userKey.extend(pageInput(z.tuple([momentKey, z.string().max(128), accessKind])))

/** By hour, newest first, up to a minute late. Recorded in the audit log. Throws 20007 (404) for an unknown user. */
export const listAccesses = (
  deps: Deps,
  { cid, user_id, ...page }: z.output<typeof accessFilter>,
): Promise<{ accesses: Access[]; next: string | null }> =>
  inTransaction(deps, async (inside, db) => {
    await showUser(inside, { cid, user_id })
    const key = rowKeyOf({ cid, user_id })
    const { rows, next } = await accessesOfUser(db, key, page)
    await recordAudit(inside, { event: 'user_accesses_read', ...key })
    return { accesses: rows, next }
  })
