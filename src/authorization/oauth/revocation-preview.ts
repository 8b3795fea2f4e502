import { withShareOf } from '../../platform/db/sql.ts'
import type { Deps } from '../../platform/deps.ts'
import { countSessionsOfUser, routingKeyOf, type UserKey } from '../account/index.ts'
import { showMicroApp } from '../registry/index.ts'
import { countTokensOfApp, countTokensOfUser } from './grant-store.ts'

/** An app may have millions of grants; the operator waits so long at most. */
const COUNTED_WITHIN_S = 60

/** What the revocation of everything of a user would end: access and refresh tokens, the apps that hold them, browser sessions. */
interface UserRevocationPreview extends UserKey {
  readonly tokens: number
  readonly apps: number
  readonly sessions: number
}

/** Throws 20007 (404) when there is no such user. */
async function ofUser(deps: Deps, { cid, user_id }: UserKey): Promise<UserRevocationPreview> {
  const sessions = await countSessionsOfUser(deps, { cid, user_id })
  const key = { routingKey: routingKeyOf(cid, user_id), cid, userId: user_id }
  return { cid, user_id, ...(await countTokensOfUser(deps.db, key, deps.clock.now())), sessions }
}

/** What the revocation of everything of an app would end: tokens, and how many people have allowed them. */
interface AppRevocationPreview {
  readonly app_key: string
  readonly tokens: number
  readonly people: number
}

/** Throws 20007 (404) when there is no such app, and 20003 (429) while this process does another long read. */
async function ofApp(deps: Deps, appKey: string): Promise<AppRevocationPreview> {
  return deps.longReads.run(async () => {
    const { app_key } = await showMicroApp(deps, appKey)
    const now = deps.clock.now()
    // Over the connections of the room whose tables are counted: operators have few.
    const { db } = withShareOf(deps, 'oauth')
    return { app_key, ...(await db.slowTx(COUNTED_WITHIN_S, (inside) => countTokensOfApp(inside, app_key, now))) }
  })
}

/** What it would end, before it is done. */
export const previewRevocation = { ofUser, ofApp }
