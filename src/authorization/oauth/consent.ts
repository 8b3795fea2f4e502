import { asPerson, recordAudit } from '../../platform/audit/index.ts'
import { type Deps, inPersonTransaction } from '../../platform/deps.ts'
import { addSeconds, wholeSecondsAfter } from '../../platform/lib/clock.ts'
import { hmacSha256 } from '../../platform/lib/crypto/digest.ts'
import type { DerivedKeys } from '../../platform/lib/crypto/keys.ts'
import { issueToken, PREFIX } from '../../platform/lib/crypto/opaque-token.ts'
import { lockUserSignedInSince, type SignedIn } from '../account/index.ts'
import { mayUse } from '../registry/index.ts'
import type { AuthorizationRequest } from './authorize.ts'
import { type VerifiedForm, verifyConsentForm } from './consent-form.ts'
import {
  type ConsentDecision,
  decideFirst,
  ensureCode,
  ensureGrant,
  findDecision,
  findIssued,
  forgetConsent,
  rememberConsent,
} from './consent-store.ts'
import { OAUTH_FAILURES, oauthFailure } from './failures.ts'
import { endGrant } from './grant.ts'
import { CODE_LIFETIME_S, type Parameters } from './wire.ts'

export interface ConsentSubmission<Request extends AuthorizationRequest> {
  readonly session: SignedIn | null
  /** The form's signed field. */
  readonly form: string
  readonly decision: string
  /** Checks the request of the form again, as its dialect does: the app may have been suspended since. */
  readonly check: (parameters: Parameters) => Promise<Request>
  readonly appParameter: string
  /** Whether a form that was left open counts no longer, though it is of this session. */
  readonly isStale?: (form: VerifiedForm) => boolean
}

/** A form that may decide. */
interface Submitted<Request extends AuthorizationRequest> extends ConsentSubmission<Request> {
  readonly session: SignedIn
  readonly verified: VerifiedForm
}

/** The form is of another session, or of none any more: nothing was decided, the person is to be asked again. */
interface Undecided {
  readonly askAgain: VerifiedForm
}

/** The request that was decided, and its code unless the user refused. */
export interface DecidedRequest<Request extends AuthorizationRequest> {
  readonly request: Request
  readonly code: string | undefined
  /** Parameters of the form. */
  readonly parameters: Parameters
}

/**
 * A1 rows 12–14: what the user decided on the consent page.
 *
 * The first decision on a form stands, and the same again (a double click) gets the same answer. The other one is
 * refused with a page: after a refusal nothing is granted any more, and a refusal after an approval revokes what
 * was granted. So after "refuse", pressed first or later, nothing is granted.
 */
export async function decideConsent<Request extends AuthorizationRequest>(
  deps: Deps,
  submission: ConsentSubmission<Request>,
): Promise<DecidedRequest<Request> | Undecided> {
  const { session, form, decision, isStale } = submission
  const verified = verifyConsentForm(deps, form, session)
  if (!session || !verified.isOfSession) return { askAgain: verified }
  if (session.status !== 'active') throw oauthFailure('user_blocked')
  if (decision === 'approve' && isStale?.(verified)) return { askAgain: verified }
  const submitted = { ...submission, session, verified }
  if (decision === 'approve') return approveForm(deps, submitted)
  if (decision === 'refuse') return refuseForm(deps, submitted)
  throw oauthFailure('form_decision_unknown')
}

/** The decision that stands: the first one on this form. Runs in the transaction that acts on it. */
async function firstDecision(
  { db, config, clock }: Deps,
  { routingKey }: SignedIn,
  { formId }: VerifiedForm,
  decision: ConsentDecision,
): Promise<{ decision: ConsentDecision; isNew: boolean }> {
  // The session that was shown the form ends before that.
  const expiresAt = addSeconds(clock.now(), config.SESSION_LIFETIME_S)
  if (await decideFirst(db, { routingKey, formId, decision, expiresAt })) return { decision, isNew: true }
  // Without a row it was purged a moment ago; then the session is over, too.
  const earlier = await findDecision(db, routingKey, formId)
  if (!earlier) throw oauthFailure('form_without_session')
  return { decision: earlier, isNew: false }
}

async function approveForm<Request extends AuthorizationRequest>(
  deps: Deps,
  { session, verified: form, check }: Submitted<Request>,
): Promise<DecidedRequest<Request>> {
  const request = await check(form.parameters)
  let isNew = false
  const code = await inPersonTransaction(deps, session.routingKey, async (inside, db) => {
    const first = await firstDecision(inside, session, form, 'approve')
    isNew = first.isNew
    if (first.decision === 'refuse') throw oauthFailure('form_refused_before')
    const code = await issueCode(inside, session, request, form.formId)
    // After the person was locked, as whoever withdraws does: neither waits for one that waits for it.
    const consent = { ...session, appKey: request.app.app_key, scopes: request.scopes }
    if (request.remembered && first.isNew) await rememberConsent(db, consent, deps.clock.now())
    if (first.isNew) await recordConsent(inside, session, request, form.formId)
    return code
  })
  if (isNew) deps.metrics.usage.count(request.app.app_key, 'authorization')
  return { request, code, parameters: form.parameters }
}

async function refuseForm<Request extends AuthorizationRequest>(
  deps: Deps,
  { session, verified: form, check, appParameter }: Submitted<Request>,
): Promise<DecidedRequest<Request>> {
  const appKey = form.parameters.get(appParameter) ?? ''
  const wasApproved = await inPersonTransaction(deps, session.routingKey, async (inside) => {
    const first = await firstDecision(inside, session, form, 'refuse')
    if (first.decision === 'approve') await revokeApproved(inside, session, form, appKey)
    else if (first.isNew) await recordRefusal(inside, session, form, appKey)
    return first.decision === 'approve'
  })
  if (wasApproved) throw oauthFailure('form_approved_before')
  // Checked after the decision is kept: nothing is granted, even if the app may not be answered any more.
  return { request: await check(form.parameters), code: undefined, parameters: form.parameters }
}

const told = ({ actor }: Deps, { routingKey, cid, userId }: SignedIn, appKey: string) =>
  ({ actor: asPerson(actor, { cid, userId }), routingKey, cid, userId, appKey }) as const

const recordConsent = (deps: Deps, session: SignedIn, { app, scopes }: AuthorizationRequest, grantId: string) =>
  recordAudit(deps, {
    ...told(deps, session, app.app_key),
    event: 'user_consented',
    detail: { grant_id: grantId, scopes },
  })

const recordRefusal = (deps: Deps, session: SignedIn, form: VerifiedForm, appKey: string) =>
  recordAudit(deps, {
    ...told(deps, session, appKey),
    event: 'user_denied_authorization',
    detail: { rescode: OAUTH_FAILURES.user_refused.rescode, scopes: form.parameters.get('scope')?.split(' ') },
  })

async function revokeApproved(deps: Deps, session: SignedIn, form: VerifiedForm, appKey: string): Promise<void> {
  if (!(await endGrant(deps, session.routingKey, form.formId, 'user'))) return
  await forgetConsent(deps.db, { ...session, appKey })
  await recordAudit(deps, {
    ...told(deps, session, appKey),
    event: 'grant_withdrawn',
    detail: { grant_id: form.formId, reason: 'refused after approving' },
  })
}

/**
 * One consent, one code. The code is derived from the grant's id, so a form that is posted twice (a double click)
 * gives the same code again instead of an error page over the redirect that already began.
 */
export async function issueCode(
  { db, clock, keys }: Deps,
  person: SignedIn,
  { app, scopes, redirectUri, state, codeChallenge, signIn }: AuthorizationRequest,
  grantId: string,
  allowedAt: Date | null = null,
): Promise<string> {
  const { routingKey, cid, userId, signedInAt } = person
  if (!mayUse(app, person)) throw oauthFailure('app_in_development')
  // Everything of before has ended since the sign-in was looked at.
  if (!(await lockUserSignedInSince(db, { routingKey, cid, userId }, signedInAt)))
    throw oauthFailure('form_withdrawn_since')
  const now = clock.now()
  const appKey = app.app_key
  const grant = await ensureGrant(db, { routingKey, grantId, cid, userId, appKey, scopes, signIn, allowedAt }, now)
  if (grant.revoked_at) throw oauthFailure('form_withdrawn_since')
  const expiresAt = wholeSecondsAfter(grant.created_at, CODE_LIFETIME_S)
  const codeBy = (key: DerivedKeys) => {
    const random = hmacSha256(key.derive, `authorization code\n${grantId}`)
    return issueToken(key, { prefix: PREFIX.authorizationCode, routingKey, expiresAt, random })
  }
  // While SECRET_KEY is rotated the form may have been posted to a process that makes codes with another key.
  const others = keys.others.map(codeBy)
  const before =
    others.length > 0
      ? await findIssued(
          db,
          routingKey,
          others.map(({ hash }) => hash),
        )
      : undefined
  const code = others.find(({ hash }) => before?.equals(hash)) ?? codeBy(keys)
  const row = { routingKey, codeHash: code.hash, grantId, appKey, redirectUri, state, codeChallenge, expiresAt }
  const usable = await ensureCode(db, row, now)
  if (!usable) throw oauthFailure('form_used_before')
  return code.text
}
