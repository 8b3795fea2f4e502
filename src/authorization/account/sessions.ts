import { z } from 'zod'
import { recordAudit, recordByPerson } from '../../platform/audit/index.ts'
import { pageInput, pageNamed } from '../../platform/db/page.ts'
import type { UserRowKey } from '../../platform/db/personal-rows.ts'
import { type Deps, inPersonTransaction, inTransaction } from '../../platform/deps.ts'
import { hmacSha256 } from '../../platform/lib/crypto/digest.ts'
import { type DerivedKeys, equalSecrets, everyKey } from '../../platform/lib/crypto/keys.ts'
import { problem } from '../../platform/lib/json/field-problem.ts'
import { operation } from '../../platform/lib/json/input.ts'
import { noSuchSession } from './errors.ts'
import { lockSignedIn, type SignedIn } from './session.ts'
import { deleteSession, sessionsOfUser, signInOrder, signInsOfUser } from './session-store.ts'
import { deleteOtherSessions } from './store.ts'
import { endSessionsOfUser, existingUser } from './user.ts'
import { rowKeyOf, type UserKey, userKey } from './wire.ts'

/** Browser sessions and sign-ins, for the person and for operators, whose every look is recorded in the audit log. */

/** Identifies a session in lists; useless as a cookie. */
const sessionIdOf = (keys: DerivedKeys, sessionHash: Buffer): string =>
  hmacSha256(keys.form, 'session in a list\n', sessionHash).toString('base64url')

/** Ends the person's session with this list id and returns its hash; undefined for any other id. */
async function endNamedSession({ db, keys, clock }: Deps, person: UserRowKey, id: string): Promise<Buffer | undefined> {
  const allKeys = everyKey(keys)
  const found = (await sessionsOfUser(db, person, clock.now())).find(({ sessionHash }) =>
    allKeys.some((key) => equalSecrets(id, sessionIdOf(key, sessionHash))),
  )
  return found && (await deleteSession(db, person.routingKey, found.sessionHash)) > 0 ? found.sessionHash : undefined
}

// ---- the person

/** The person's valid sessions, the current one first. */
async function ownSessions({ db, keys, clock }: Deps, person: SignedIn) {
  const sessions = await sessionsOfUser(db, person, clock.now())
  const shown = sessions.map(({ sessionHash, ...session }) => ({
    ...session,
    id: sessionIdOf(keys, sessionHash),
    isThis: sessionHash.equals(person.sessionHash),
  }))
  return [...shown.filter(({ isThis }) => isThis), ...shown.filter(({ isThis }) => !isThis)]
}

/** Idempotent: ended in another tab, the session has ended. */
const endOwnSession = (deps: Deps, person: SignedIn, id: string): Promise<{ readonly isThis: boolean }> =>
  inPersonTransaction(deps, person.routingKey, async (inside) => {
    if (!(await lockSignedIn(inside, person))) return { isThis: false }
    const ended = await endNamedSession(inside, person, id)
    if (ended) await recordEnd(inside, person, 1)
    return { isThis: ended?.equals(person.sessionHash) ?? false }
  })

/** Ends all sessions but this one; returns how many. */
const endOtherSessions = (deps: Deps, person: SignedIn): Promise<number> =>
  inPersonTransaction(deps, person.routingKey, async (inside, db) => {
    if (!(await lockSignedIn(inside, person))) return 0
    const ended = await deleteOtherSessions(db, person, person.sessionHash)
    if (ended > 0) await recordEnd(inside, person, ended)
    return ended
  })

const recordEnd = (deps: Deps, person: SignedIn, sessions: number): Promise<number> =>
  recordByPerson(deps, person, 'user_sessions_ended', { sessions })

const signInPage = z.strictObject(pageInput(signInOrder, { usual: 20, most: 100 }))

/** A page of the person's sign-ins and failed attempts, newest first. */
const ownSignIns = operation(signInPage, ({ db }: Deps, page, person: SignedIn) =>
  pageNamed('signIns', signInsOfUser(db, person, page)),
)

export const OWN_SESSIONS = {
  list: ownSessions,
  lock: lockSignedIn,
  end: endOwnSession,
  endOthers: endOtherSessions,
  signIns: ownSignIns,
}

// ---- operators

/** Runs a read that is recorded in the audit log. Throws 20007 (404). */
const recordedRead = <Result>(
  deps: Deps,
  user: UserKey,
  event: string,
  read: (inside: Deps, key: UserRowKey) => Promise<Result>,
) =>
  inTransaction(deps, async (inside, db) => {
    const key = rowKeyOf(user)
    await existingUser(db, key)
    await recordAudit(inside, { event, ...key })
    return read(inside, key)
  })

/** Valid sessions, newest first, at most 200. */
const listSessions = operation(userKey, (deps: Deps, user) =>
  recordedRead(deps, user, 'user_sessions_read', async ({ db, keys, clock }, key) => ({
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

const endSession = operation(oneSession, (deps: Deps, { session_id, ...user }) =>
  inTransaction(deps, async (inside) => {
    const key = rowKeyOf(user)
    if (!(await endNamedSession(inside, key, session_id))) throw noSuchSession()
    await recordAudit(inside, { event: 'user_sessions_ended', ...key, detail: { sessions: 1 } })
    return { ...user, session_id }
  }),
)

/** Sign-ins and failed attempts, newest first. */
const listSignIns = operation(userKey.extend(pageInput(signInOrder)), (deps: Deps, { cid, user_id, ...page }) =>
  recordedRead(deps, { cid, user_id }, 'user_sign_ins_read', async ({ db }, key) => {
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
