import { z } from 'zod'
import { recordAudit } from '../../platform/audit/index.ts'
import { momentKey, pageInput } from '../../platform/db/page.ts'
import type { UserRowKey } from '../../platform/db/personal-rows.ts'
import { type Deps, inTransaction } from '../../platform/deps.ts'
import { problem } from '../../platform/lib/json/field-problem.ts'
import { operation } from '../../platform/lib/json/input.ts'
import { noSuchSession, noSuchUser } from './errors.ts'
import { findNamedSession, sessionIdOf } from './own-sessions.ts'
import { deleteSession, sessionsOfUser, signInsOfUser } from './session-store.ts'
import { findUser } from './store.ts'
import { endSessionsOfUser } from './user.ts'
import { rowKeyOf, type UserKey, userKey } from './wire.ts'

/** What operators see of a person's browser sessions and sign-ins. Each look is in the audit log. */

/** Throws 20007 (404) when there is no such user, as does what follows. */
const look = <Seen>(deps: Deps, user: UserKey, event: string, see: (inside: Deps, key: UserRowKey) => Promise<Seen>) =>
  inTransaction(deps, async (inside, db) => {
    const key = rowKeyOf(user)
    if (!(await findUser(db, key))) throw noSuchUser()
    await recordAudit(inside, { event, ...key })
    return see(inside, key)
  })

/** Sessions that work, newest first, 200 at most. */
const listSessions = operation(userKey, (deps: Deps, user) =>
  look(deps, user, 'user_sessions_read', async ({ db, keys, clock }, key) => ({
    sessions: (await sessionsOfUser(db, key, clock.now())).map(({ sessionHash, ...session }) => ({
      session_id: sessionIdOf(keys, sessionHash),
      created_at: session.createdAt,
      expires_at: session.expiresAt,
      address: session.address,
      user_agent: session.userAgent,
    })),
  })),
)

const oneSession = userKey.extend({ session_id: z.string().regex(/^[\w-]{43}$/, problem('must-be-session-id')) })

/** Ends one session at once. Throws 20007 (404) for any other id, another person's too. */
const endSession = operation(oneSession, (deps: Deps, { session_id, ...user }) =>
  inTransaction(deps, async (inside, db) => {
    const key = rowKeyOf(user)
    const found = await findNamedSession(inside, key, session_id)
    if (!found || (await deleteSession(db, key.routingKey, found.sessionHash)) === 0) throw noSuchSession()
    await recordAudit(inside, { event: 'user_sessions_ended', ...key, detail: { sessions: 1 } })
    return { ...user, session_id }
  }),
)

const signInsFilter = userKey.extend(pageInput(z.tuple([momentKey, z.uuid()])))

/** Sign-ins and what was tried, newest first. */
const listSignIns = operation(signInsFilter, (deps: Deps, { cid, user_id, ...page }) =>
  look(deps, { cid, user_id }, 'user_sign_ins_read', async ({ db }, key) => {
    const { rows, next } = await signInsOfUser(db, key, page)
    return { sign_ins: rows.map(({ userAgent, ...signIn }) => ({ ...signIn, user_agent: userAgent })), next }
  }),
)

export const PERSON_SESSIONS = {
  list: listSessions,
  end: endSession,
  endAll: endSessionsOfUser,
  signIns: listSignIns,
}
