import { asPerson, recordAudit } from '../../platform/audit/index.ts'
import { type Deps, inPersonTransaction } from '../../platform/deps.ts'
import { addSeconds, wholeSecondsAfter } from '../../platform/lib/clock.ts'
import { hmacSha256 } from '../../platform/lib/crypto/digest.ts'
import type { DerivedKeys } from '../../platform/lib/crypto/keys.ts'
import { issueToken, PREFIX } from '../../platform/lib/crypto/opaque-token.ts'
import { lockSignedIn, type SignedIn } from '../account/index.ts'
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
  /** Validates the form's request again, by the rules of its dialect: the app may have been suspended since. */
  readonly check: (parameters: Parameters) => Promise<Request>
  readonly appParameter: string
  /** Thrown for a blocked person, if it is not A1's failure. */
  readonly whenBlocked?: (request: Request) => Error
  /** Whether the form was left open for too long to be approved, although it belongs to this session. */
  readonly isStale?: (form: VerifiedForm) => boolean
}

/** A form that was shown to the session it came back with. */
interface Submitted<Request extends AuthorizationRequest> extends ConsentSubmission<Request> {
  readonly session: SignedIn
  readonly verified: VerifiedForm
}

/** Nothing was decided: the form belongs to another session or to an ended one, so the person must be asked again. */
interface Undecided {
  readonly askAgain: VerifiedForm
}

/** The request that was decided on, and its code unless the user refused. */
export interface DecidedRequest<Request extends AuthorizationRequest> {
  readonly request: Request
  readonly code: string | undefined
  /** The form's. */
  readonly parameters: Parameters
}

/**
 * A1 rows 12–14: acts on the decision on a consent form. The first one stands; repeating it (a double click) gets the same
 * answer, changing it an error page: an approval after a refusal grants nothing, a refusal after an approval revokes.
 */
export async function decideConsent<Request extends AuthorizationRequest>(
  deps: Deps,
  submission: ConsentSubmission<Request>,
): Promise<DecidedRequest<Request> | Undecided> {
  const { session, form, decision, check, whenBlocked, isStale } = submission
  const verified = verifyConsentForm(deps, form, session)
  if (!session || !verified.isOfSession) return { askAgain: verified }
  if (session.status !== 'active') {
    const request = await check(verified.parameters)
    throw whenBlocked?.(request) ?? oauthFailure('user_blocked')
  }
  if (decision === 'approve' && isStale?.(verified)) return { askAgain: verified }
  const submitted = { ...submission, session, verified }
  if (decision === 'approve') return approveForm(deps, submitted)
  if (decision === 'refuse') return refuseForm(deps, submitted)
  throw oauthFailure('form_decision_unknown')
}

/** The decision that stands, which is the first one on this form. Runs in the transaction that acts on it. */
async function firstDecision(
  { db, config, clock }: Deps,
  { routingKey }: SignedIn,
  { formId }: VerifiedForm,
  decision: ConsentDecision,
): Promise<{ decision: ConsentDecision; isNew: boolean }> {
  // The session that was shown the form has ended by then.
  const expiresAt = addSeconds(clock.now(), config.SESSION_LIFETIME_S)
  if (await decideFirst(db, { routingKey, formId, decision, expiresAt })) return { decision, isNew: true }
  // A missing row was purged a moment ago, so the session is over too.
  const earlier = await findDecision(db, routingKey, formId)
  if (!earlier) throw oauthFailure('form_without_session')
  return { decision: earlier, isNew: false }
}

async function approveForm<Request extends AuthorizationRequest>(
  deps: Deps,
  { session, verified: form, check }: Submitted<Request>,
): Promise<DecidedRequest<Request>> {
  const request = await check(form.parameters)
  const { app, scopes } = request
  const appKey = app.app_key
  let isNew = false
  const code = await inPersonTransaction(deps, session.routingKey, async (inside, db) => {
    const first = await firstDecision(inside, session, form, 'approve')
    isNew = first.isNew
    if (first.decision === 'refuse') throw oauthFailure('form_refused_before')
    const code = await issueCode(inside, session, request, form.formId)
    if (!isNew) return code
    // After issueCode has locked the person, in the order in which withdrawing locks: no deadlock.
    if (request.remembered) await rememberConsent(db, { ...session, appKey, scopes }, deps.clock.now())
    const detail = { grant_id: form.formId, scopes }
    await recordAudit(inside, { ...auditFields(inside, session, appKey), event: 'user_consented', detail })
    return code
  })
  if (isNew) deps.metrics.usage.count(appKey, 'authorization')
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
    else if (first.isNew) {
      const detail = { rescode: OAUTH_FAILURES.user_refused.rescode, scopes: form.parameters.get('scope')?.split(' ') }
      await recordAudit(inside, { ...auditFields(inside, session, appKey), event: 'user_denied_authorization', detail })
    }
    return first.decision === 'approve'
  })
  if (wasApproved) throw oauthFailure('form_approved_before')
  // After the refusal is stored: it stands even if the app can no longer be answered.
  return { request: await check(form.parameters), code: undefined, parameters: form.parameters }
}

const auditFields = ({ actor }: Deps, { routingKey, cid, userId }: SignedIn, appKey: string) =>
  ({ actor: asPerson(actor, { cid, userId }), routingKey, cid, userId, appKey }) as const

async function revokeApproved(deps: Deps, session: SignedIn, form: VerifiedForm, appKey: string): Promise<void> {
  if (!(await endGrant(deps, session.routingKey, form.formId, 'user'))) return
  await forgetConsent(deps.db, { ...session, appKey })
  const detail = { grant_id: form.formId, reason: 'refused after approving' }
  await recordAudit(deps, { ...auditFields(deps, session, appKey), event: 'grant_withdrawn', detail })
}

/** The code is derived from the grant's id, so a form that is posted twice (a double click) gets the same one. */
export async function issueCode(
  deps: Deps,
  person: SignedIn,
  { app, scopes, redirectUri, state, codeChallenge, signIn }: AuthorizationRequest,
  grantId: string,
  allowedAt: Date | null = null,
): Promise<string> {
  const { db, clock, keys } = deps
  const { routingKey, cid, userId } = person
  if (!mayUse(app, person)) throw oauthFailure('app_in_development')
  // The session may have ended since it was read.
  if (!(await lockSignedIn(deps, person))) throw oauthFailure('form_without_session')
  const now = clock.now()
  const appKey = app.app_key
  const grant = await ensureGrant(db, { routingKey, grantId, cid, userId, appKey, scopes, signIn, allowedAt }, now)
  if (grant.revoked_at) throw oauthFailure('form_withdrawn_since')
  const expiresAt = wholeSecondsAfter(grant.created_at, CODE_LIFETIME_S)
  const codeBy = (key: DerivedKeys) => {
    const random = hmacSha256(key.derive, `authorization code\n${grantId}`)
    return issueToken(key, { prefix: PREFIX.authorizationCode, routingKey, expiresAt, random })
  }
  // While SECRET_KEY is being rotated, another process may have issued this form's code under another key.
  const others = keys.others.map(codeBy)
  const hashes = others.map(({ hash }) => hash)
  const issued = hashes.length > 0 ? await findIssued(db, routingKey, hashes) : undefined
  const code = others.find(({ hash }) => issued?.equals(hash)) ?? codeBy(keys)
  const row = { routingKey, codeHash: code.hash, grantId, appKey, redirectUri, state, codeChallenge, expiresAt }
  const usable = await ensureCode(db, row, now)
  if (!usable) throw oauthFailure('form_used_before')
  return code.text
}
