import { randomUUID } from 'node:crypto'
import { type Deps, inPersonTransaction } from '../../platform/deps.ts'
import { addSeconds } from '../../platform/lib/clock.ts'
import { subjectOf } from '../../platform/lib/subject.ts'
import { isLoopbackHost } from '../../platform/lib/web/web-url.ts'
import { lockSignedIn, type SignedIn } from '../account/index.ts'
import { issueCode, oauthFailure, rememberedConsent } from '../oauth/index.ts'
import { mayUse } from '../registry/index.ts'
import { acrOf, couldStepUp } from './acr.ts'
import { RedirectedFailure, type StandardRequest } from './authorize.ts'
import { type OIDC_FAILURES, oidcFailure } from './failures.ts'
import { sidOf } from './id-token.ts'

export type NextStep =
  | { readonly step: 'sign-in' }
  | { readonly step: 'consent'; readonly session: SignedIn }
  | { readonly step: 'answer'; readonly code: string }

/** The request with what the id_token will report about this sign-in. */
export const withSignIn = <Request extends StandardRequest>(
  { keys }: Deps,
  request: Request,
  session: SignedIn,
): Request => ({
  ...request,
  signIn: {
    auth_time: session.authenticatedAt,
    nonce: request.nonce,
    sid: sidOf(keys, session),
    acr: request.acrValues && acrOf(session, request.acrValues),
    amr: session.amr.length > (session.fromUpstream ? 0 : 1) ? [...session.amr] : null,
  },
})

/** OIDC Core §3.1.2.3 and §3.1.2.4. `signedInSince`: a sign-in since then satisfies the request, which has asked for it. */
export async function nextAuthorizationStep(
  deps: Deps,
  request: StandardRequest,
  session: SignedIn | null,
  signedInSince: Date | null,
): Promise<NextStep> {
  const { prompt, target } = request
  const silent = prompt.includes('none')
  const refused = (name: keyof typeof OIDC_FAILURES) => new RedirectedFailure(oidcFailure(name), target)

  const asked = session !== null && signedInSince !== null && session.signedInAt >= signedInSince
  const fresh = asked && isAuthenticatedSince(session, signedInSince)
  const otherPerson =
    session !== null && request.expectedSub !== undefined && request.expectedSub !== subjectOf(session)
  const signIn = (): NextStep => {
    if (silent) throw refused('login_required')
    return { step: 'sign-in' }
  }
  if (session === null || otherPerson || (!fresh && isTooLongAgo(deps, request, session, asked))) {
    // Somebody who has just signed in as another person would be sent in circles.
    if (asked && otherPerson) throw refused('login_required')
    return signIn()
  }
  if (session.status !== 'active') throw refused('user_blocked')
  // Shown as a page even with prompt=none: nothing is sent to the app.
  if (!mayUse(request.app, session)) throw oauthFailure('app_in_development')
  if (!asked && !silent && (await couldStepUp(deps, session, request.acrValues ?? []))) return { step: 'sign-in' }
  const consent = (): NextStep => {
    if (silent) throw refused('consent_required')
    return { step: 'consent', session }
  }
  if (!(await consentedBefore(deps, request, session))) return consent()
  const next = await inPersonTransaction(deps, session.routingKey, async (inside): Promise<NextStep> => {
    // Ending the person's sessions and withdrawing a consent take this lock too, so both are looked at again under it.
    if (!(await lockSignedIn(inside, session))) return signIn()
    const allowedAt = await consentedBefore(inside, request, session)
    if (!allowedAt) return consent()
    const code = await issueCode(inside, session, withSignIn(deps, request, session), randomUUID(), allowedAt)
    return { step: 'answer', code }
  })
  if (next.step === 'answer') deps.metrics.usage.count(request.app.app_key, 'authorization')
  return next
}

/** Tolerated difference between a provider's clock and ours, seconds. */
const SKEW_S = 60

const isAuthenticatedSince = ({ authenticatedAt, fromUpstream }: SignedIn, since: Date): boolean =>
  authenticatedAt !== null && addSeconds(authenticatedAt, fromUpstream ? SKEW_S : 0) >= since

/** `asked`: the person has just been sent to sign in; the provider has applied max_age by its own clock. */
function isTooLongAgo(
  { clock }: Deps,
  { prompt, maxAge }: StandardRequest,
  { authenticatedAt, fromUpstream }: SignedIn,
  asked: boolean,
): boolean {
  if (prompt.includes('login') || prompt.includes('select_account')) return true
  if (maxAge === undefined) return false
  const skewS = asked && fromUpstream ? SKEW_S : 0
  return authenticatedAt === null || addSeconds(authenticatedAt, maxAge + skewS) < clock.now()
}

/** When the person allowed everything requested; null if they must be asked. */
async function consentedBefore({ db }: Deps, request: StandardRequest, session: SignedIn): Promise<Date | null> {
  const { app, scopes, prompt } = request
  if (app.always_ask || prompt.includes('consent') || canBeImpersonated(request)) return null
  const known = await rememberedConsent(db, { ...session, appKey: app.app_key })
  return known && scopes.every((scope) => known.scopes.includes(scope)) ? known.allowedAt : null
}

/** Any program can listen on loopback and claim to be this client, which does not authenticate (RFC 8252 §8.6). */
const canBeImpersonated = ({ app, redirectUrl }: StandardRequest): boolean =>
  app.token_auth_methods.includes('none') && isLoopbackHost(redirectUrl.hostname)
