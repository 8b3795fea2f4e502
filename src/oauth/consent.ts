import type { SignedIn } from '../account/session.ts'
import { recordAudit } from '../db/audit/store.ts'
import type { Deps } from '../deps.ts'
import { wholeSecondsAfter } from '../lib/clock.ts'
import { hmacSha256 } from '../lib/digest.ts'
import { invalidRequest } from '../lib/rescode.ts'
import { mint, PREFIX } from '../lib/self-dating.ts'
import { type AuthorizationRequest, checkAuthorizationRequest } from './authorize.ts'
import { openConsentForm } from './consent-form.ts'
import { unusableForm, userNotTrusted } from './errors.ts'
import { withAnswer } from './redirect-uri.ts'
import { ensureCode, ensureGrant } from './store.ts'
import { CODE_LIFETIME_S } from './wire.ts'

export interface Decision {
  readonly session: SignedIn
  /** The form's signed field. */
  readonly form: string
  readonly decision: string
}

/** A1 rows 12–14: what the user decided on the consent page. Returns where the browser goes next. */
export async function decideConsent(deps: Deps, { session, form, decision }: Decision): Promise<string> {
  if (session.status !== 'active') throw userNotTrusted()
  const { grantId, parameters } = openConsentForm(deps, form, session.sessionHash)
  if (decision !== 'approve' && decision !== 'refuse') throw invalidRequest('decision must be approve or refuse')
  const request = await checkAuthorizationRequest(deps, parameters)
  if (decision === 'refuse') {
    await recordRefusal(deps, session, request)
    return withAnswer(request.redirectUri, { state: request.state })
  }
  const code = await issueCode(deps, session, request, grantId)
  return withAnswer(request.redirectUri, { code, state: request.state })
}

const recordRefusal = ({ db, clock }: Deps, session: SignedIn, { app, scopes }: AuthorizationRequest) =>
  recordAudit(db, {
    at: clock.now(),
    event: 'user_denied_authorization',
    routingKey: session.routingKey,
    cid: session.cid,
    userId: session.userId,
    appKey: app.app_key,
    detail: { rescode: 20019, scopes },
  })

/**
 * One consent, one code. The code is derived from the grant's id, so a form that is posted twice (a double click)
 * gives the same code again instead of an error page over the redirect that already began.
 */
async function issueCode(
  { db, clock, keys }: Deps,
  { routingKey, cid, userId }: SignedIn,
  { app, scopes, redirectUri, state, codeChallenge }: AuthorizationRequest,
  grantId: string,
): Promise<string> {
  const now = clock.now()
  const appKey = app.app_key
  return db.tx(async (tx) => {
    const createdAt = await ensureGrant(tx, { routingKey, grantId, cid, userId, appKey, scopes }, now)
    const expiresAt = wholeSecondsAfter(createdAt, CODE_LIFETIME_S)
    const random = hmacSha256(keys.derive, `authorization code\n${grantId}`)
    const code = mint(keys, {
      prefix: PREFIX.authorizationCode,
      routingKey,
      expiresAt,
      random,
    })
    const row = {
      routingKey,
      codeHash: code.hash,
      grantId,
      appKey,
      redirectUri,
      state,
      codeChallenge,
      expiresAt,
    }
    const usable = await ensureCode(tx, row, now)
    if (!usable) throw unusableForm('was used already')
    return code.text
  })
}
