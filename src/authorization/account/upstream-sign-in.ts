import { recordAudit } from '../../platform/audit/index.ts'
import type { UserRowKey } from '../../platform/db/personal-rows.ts'
import { type Deps, inPersonTransaction, inTransaction } from '../../platform/deps.ts'
import { NO_PASSWORD } from '../../platform/lib/crypto/password.ts'
import { cutTo } from '../../platform/lib/storable.ts'
import { subjectOf } from '../../platform/lib/subject.ts'
import {
  beginFlow,
  type EndedThere,
  type Proven,
  type UpstreamDeps,
  UpstreamFailure,
  type UpstreamPerson,
} from '../upstream/index.ts'
import { spendChallenge } from './factor-store.ts'
import { endSession, endThisSession, startSession } from './session.ts'
import { deleteUpstreamSessions, updateProfile } from './session-store.ts'
import { recordSignIn } from './sign-in.ts'
import { insertCredential, insertProfile, storedPassport } from './store.ts'
import { newUser, rowKeyOf, type SignInBrowser } from './wire.ts'

/** Sessions of people whom the platform's OpenID provider has recognized (UPSTREAM_ISSUER). */

interface Arrival extends SignInBrowser {
  /** Hash of the way to the provider and back, whose first answer is noted. */
  readonly hash: Buffer
  readonly expiresAt: Date
}

/**
 * Opens a session and returns its id. Somebody who has never been here is created, of any number at once one time; of
 * somebody who has, the profile becomes what the provider says. Throws SignInRefused where they are being erased, and
 * UpstreamFailure for the second answer to one sign-in.
 */
export async function signInFromUpstream(deps: Deps, proven: Proven, arrival: Arrival) {
  const { formerSession, hash, expiresAt, ...from } = arrival
  const { person, amr, acr } = proven
  const key = rowKeyOf(person)
  const session = await inPersonTransaction(deps, key.routingKey, async (inside, db) => {
    if ((await spendChallenge(db, hash, expiresAt)) === 0) {
      throw new UpstreamFailure('not_begun', 'this sign-in was answered before')
    }
    if (!(await createPerson(inside, key, person))) await updateProfile(db, key, person.profile, deps.clock.now())
    await recordSignIn(inside, key, 'succeeded', { from, method: 'provider', detail: { amr, acr } })
    return startSession(inside, key, from, amr, proven)
  })
  await endSession(deps, formerSession)
  return session
}

/** False for somebody who is there already. */
async function createPerson(deps: Deps, key: UserRowKey, { profile, preferredUsername }: UpstreamPerson) {
  const isNew = await insertProfile(deps.db, key, {
    name: profile.name ?? preferredUsername ?? cutTo(key.userId, 100),
    gender: profile.gender ?? '0',
    big_avatar_url: profile.big_avatar_url ?? `${deps.config.PUBLIC_URL}/assets/gatehouse.svg`,
    phone_number: profile.phone_number ?? null,
    status: 'active',
    created_at: deps.clock.now(),
  })
  if (isNew === 0) return false
  const wished = newUser.shape.passport.safeParse(preferredUsername).data
  for (const passport of [...(wished === undefined ? [] : [wished]), subjectOf(key)]) {
    if ((await insertCredential(deps.db, key, storedPassport(passport), NO_PASSWORD)) === 0) continue
    await recordAudit(deps, { event: 'user_created', ...key, detail: { by: 'provider' } })
    return true
  }
  throw new UpstreamFailure('unnamed', 'somebody else has the passport that this person would get')
}

/**
 * Ends the session, and returns where the browser goes: to the provider first, if it has a page for that. Where it has none,
 * whoever goes on to a page that asks to sign in is asked there too, and may be somebody else. `mark`: of the browser.
 */
export async function endSessionThere(
  deps: UpstreamDeps,
  { session, mark, goOn }: { readonly session: string | undefined; readonly mark: string; readonly goOn: string },
): Promise<string> {
  const idToken = await endThisSession(deps, session)
  if (idToken === undefined || !deps.upstream) return goOn
  const proof = beginFlow(deps, 'sign-out', mark, { goOn, app: '', maxAge: null })
  const there = proof && (await deps.upstream.signOutUrl(proof.state, idToken))
  if (there !== undefined) return there
  if (goOn === '/' || !goOn.startsWith('/')) return goOn
  return `/sign-in?${new URLSearchParams({ return_to: goOn, confirm: '1' })}`
}

/**
 * Ends the sessions here that began with one of the provider's which is over. Of simultaneous calls with one token exactly one
 * succeeds; the others throw UpstreamFailure. Returns how many there were.
 */
export const endFromUpstream = (deps: Deps, { sub, sid, hash, expiresAt }: EndedThere): Promise<number> =>
  inTransaction(deps, async (inside, db) => {
    if ((await spendChallenge(db, hash, expiresAt)) === 0) throw new UpstreamFailure('untrusted', 'it was used before')
    const ended = await deleteUpstreamSessions(db, { sub, sid })
    const people = new Map(ended.map((session) => [`${session.cid}/${session.userId}`, session]))
    for (const person of people.values()) {
      const sessions = ended.filter(({ cid, userId }) => cid === person.cid && userId === person.userId).length
      const detail = { by: 'provider', sessions }
      await recordAudit(inside, { event: 'user_sessions_ended', ...person, detail })
    }
    return ended.length
  })
