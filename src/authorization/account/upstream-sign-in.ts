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
import { deleteUpstreamSessions, ownersOfUpstreamSessions, updateProfileFromProvider } from './session-store.ts'
import { recordSignIn } from './sign-in.ts'
import { insertCredential, insertProfile, lockUser, storedPassport } from './store.ts'
import { newUser, rowKeyOf, type SignInBrowser } from './wire.ts'

interface Arrival extends SignInBrowser {
  /** Hash that identifies this flow, which can be completed only once. */
  readonly hash: Buffer
  readonly expiresAt: Date
}

/** Creates the user on first sign-in. Throws SignInRefused during an erasure, UpstreamFailure for a used flow. */
export async function signInFromUpstream(deps: Deps, proven: Proven, arrival: Arrival) {
  const { formerSession, hash, expiresAt, ...from } = arrival
  const { person, amr, acr } = proven
  const key = rowKeyOf(person)
  const session = await inPersonTransaction(deps, key.routingKey, async (inside, db) => {
    if ((await spendChallenge(db, hash, expiresAt)) === 0) {
      throw new UpstreamFailure('not_begun', 'this sign-in was answered before')
    }
    if (!(await createPerson(inside, key, person)))
      await updateProfileFromProvider(db, key, person.profile, deps.clock.now())
    await recordSignIn(inside, key, 'succeeded', { from, method: 'provider', detail: { amr, acr } })
    return startSession(inside, key, from, amr, proven)
  })
  await endSession(deps, formerSession)
  return session
}

/** False if the user exists already. */
async function createPerson(deps: Deps, key: UserRowKey, { profile, preferredUsername }: UpstreamPerson) {
  const inserted = await insertProfile(deps.db, key, {
    name: profile.name ?? preferredUsername ?? cutTo(key.userId, 100),
    gender: profile.gender ?? '0',
    big_avatar_url: profile.big_avatar_url ?? `${deps.config.PUBLIC_URL}/assets/gatehouse.svg`,
    phone_number: profile.phone_number ?? null,
    status: 'active',
    created_at: deps.clock.now(),
  })
  if (inserted === 0) return false
  const preferred = newUser.shape.passport.safeParse(preferredUsername).data
  for (const passport of [...(preferred === undefined ? [] : [preferred]), subjectOf(key)]) {
    if ((await insertCredential(deps.db, key, storedPassport(passport), NO_PASSWORD)) === 0) continue
    await recordAudit(deps, { event: 'user_created', ...key, detail: { by: 'provider' } })
    return true
  }
  throw new UpstreamFailure('unnamed', 'somebody else has the passport that this person would get')
}

/**
 * Ends the session and returns where to redirect: to the provider first, if it has a sign-out page. If not, the person
 * is still signed in there, so a page that needs a sign-in is reached with `confirm`, which lets somebody else sign in.
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

/** Ends our sessions of an ended provider session; returns how many. Throws UpstreamFailure for a used token. */
export const endFromUpstream = (deps: Deps, { sub, sid, hash, expiresAt }: EndedThere): Promise<number> =>
  inTransaction(deps, async (inside, db) => {
    if ((await spendChallenge(db, hash, expiresAt)) === 0) throw new UpstreamFailure('untrusted', 'it was used before')
    let ended = 0
    for (const person of await ownersOfUpstreamSessions(db, { sub, sid })) {
      await lockUser(db, person) // before the sessions, as a change of password does
      const sessions = await deleteUpstreamSessions(db, person, { sub, sid })
      if (sessions === 0) continue
      await recordAudit(inside, { event: 'user_sessions_ended', ...person, detail: { by: 'provider', sessions } })
      ended += sessions
    }
    return ended
  })
