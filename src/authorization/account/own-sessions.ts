import { z } from 'zod'
import { recordByPerson } from '../../platform/audit/index.ts'
import { momentKey, pageInput, pageNamed } from '../../platform/db/page.ts'
import type { UserRowKey } from '../../platform/db/personal-rows.ts'
import { type Deps, inPersonTransaction } from '../../platform/deps.ts'
import { hmacSha256 } from '../../platform/lib/crypto/digest.ts'
import { type DerivedKeys, equalSecrets, everyKey } from '../../platform/lib/crypto/keys.ts'
import { operation } from '../../platform/lib/json/input.ts'
import { noSuchSession } from './errors.ts'
import { deleteOtherSessions } from './password-store.ts'
import type { SignedIn } from './session.ts'
import { deleteSession, sessionsOfUser, signInsOfUser } from './session-store.ts'

/** A session as its owner sees it. */
interface OwnSession {
  /** Names it in a form; nobody can make a cookie of it. */
  readonly id: string
  readonly isThis: boolean
  readonly createdAt: Date
  readonly expiresAt: Date
  readonly address: string | null
  readonly userAgent: string | null
}

export const sessionIdOf = (keys: DerivedKeys, sessionHash: Buffer): string =>
  hmacSha256(keys.form, 'session in a list\n', sessionHash).toString('base64url')

/** The person's sessions that work, this one first. */
async function ownSessions({ db, keys, clock }: Deps, person: SignedIn): Promise<OwnSession[]> {
  const found = await sessionsOfUser(db, person, clock.now())
  const shown = found.map(({ sessionHash, ...session }) => ({
    ...session,
    id: sessionIdOf(keys, sessionHash),
    isThis: sessionHash.equals(person.sessionHash),
  }))
  return [...shown.filter(({ isThis }) => isThis), ...shown.filter(({ isThis }) => !isThis)]
}

/** The live session of a person that a list has called so. */
export async function findNamedSession({ db, keys, clock }: Deps, person: UserRowKey, id: string) {
  const known = everyKey(keys)
  const found = await sessionsOfUser(db, person, clock.now())
  return found.find(({ sessionHash }) => known.some((key) => equalSecrets(id, sessionIdOf(key, sessionHash))))
}

/** The person ends one of their sessions. Throws 20007 (404) for any other id, another person's too. */
const endOwnSession = (deps: Deps, person: SignedIn, id: string): Promise<{ readonly isThis: boolean }> =>
  inPersonTransaction(deps, person.routingKey, async (inside, db) => {
    const found = await findNamedSession(inside, person, id)
    if (!found || (await deleteSession(db, person.routingKey, found.sessionHash)) === 0) throw noSuchSession()
    await recordEnd(inside, person, 1)
    return { isThis: found.sessionHash.equals(person.sessionHash) }
  })

/** The person ends all sessions but this one; says how many there were. */
const endOtherSessions = (deps: Deps, person: SignedIn): Promise<number> =>
  inPersonTransaction(deps, person.routingKey, async (inside, db) => {
    const ended = await deleteOtherSessions(db, person, person.sessionHash)
    if (ended > 0) await recordEnd(inside, person, ended)
    return ended
  })

const recordEnd = (deps: Deps, person: SignedIn, sessions: number): Promise<number> =>
  recordByPerson(deps, person, 'user_sessions_ended', { sessions })

const signInFilter = z.strictObject(pageInput(z.tuple([momentKey, z.uuid()]), { usual: 20, most: 100 }))

/** A page of the person's sign-ins and of what was tried, newest first. */
const signInsOf = operation(signInFilter, ({ db }: Deps, page, person: SignedIn) =>
  pageNamed('signIns', signInsOfUser(db, person, page)),
)

export const OWN_SESSIONS = { list: ownSessions, end: endOwnSession, endOthers: endOtherSessions, signIns: signInsOf }
