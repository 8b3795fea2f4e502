import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { Deps } from '../../platform/deps.ts'
import { epochSeconds, fromEpochSeconds } from '../../platform/lib/clock.ts'
import { openSignedText, signedText } from '../../platform/lib/crypto/carried-text.ts'
import { hmacSha256 } from '../../platform/lib/crypto/digest.ts'
import { type DerivedKeys, equalSecrets } from '../../platform/lib/crypto/keys.ts'
import { scopeTextKey, scopeTexts } from '../../platform/lib/scope.ts'
import type { Translate } from '../../platform/lib/web/locale.ts'
import type { SignedIn } from '../account/index.ts'
import type { AuthorizationRequest } from './authorize.ts'
import { oauthFailure } from './failures.ts'

const Signed = z.object({
  /** Becomes the id of the grant, so that posting a form twice is still one consent. */
  grantId: z.uuid(),
  /** Identifies the browser session that was shown the form. An HMAC of its hash, whose first bytes are in the cookie. */
  session: z.string(),
  shownAt: z.number(),
  query: z.string(),
})
type Signed = z.infer<typeof Signed>

const PURPOSE = 'consent'

const sessionMark = (keys: DerivedKeys, sessionHash: Buffer): string =>
  hmacSha256(keys.form, 'session\n', sessionHash).toString('base64url')

/** The form's hidden field: the request, bound to the session that saw it. In-app web views lose a second cookie. */
function signConsentForm({ keys, clock }: Deps, query: string, sessionHash: Buffer): string {
  const signed: Signed = {
    grantId: randomUUID(),
    session: sessionMark(keys, sessionHash),
    shownAt: epochSeconds(clock.now()),
    query,
  }
  return signedText(keys, PURPOSE, JSON.stringify(signed))
}

interface PageOptions {
  readonly t: Translate
  /** By the names of the dialect. */
  readonly scopes: readonly string[]
  /** Where the form is posted, and the request that it carries. */
  readonly action: string
  readonly query: string
  /** The address of this page, for "sign in as somebody else". */
  readonly returnTo: string | undefined
}

/** The data of `views/oauth/consent.eta`, for both dialects. */
export const consentPage = (
  deps: Deps,
  { app, redirectUrl }: Pick<AuthorizationRequest, 'app' | 'redirectUrl'>,
  session: SignedIn,
  { t, scopes, action, query, returnTo }: PageOptions,
) => ({
  app: { name: app.name, logoUrl: app.logo_url },
  host: redirectUrl.host,
  scopes: scopes.map((scope) => ({
    icon: scopeTextKey(scope) === 'scope.phone_number' ? 'phone' : 'person',
    ...scopeTexts(scope, t),
  })),
  user: { name: session.name, avatarUrl: session.avatarUrl },
  action,
  form: signConsentForm(deps, query, session.sessionHash),
  signOut: { action: '/sign-out', returnTo },
})

export interface VerifiedForm {
  /** Also the id of the grant, if the form is approved. */
  readonly formId: string
  readonly shownAt: Date
  /** Whether this session was shown it. If not, nothing is decided and the form is shown again. */
  readonly isOfSession: boolean
  /** The request, to be validated again: the app may have been suspended since. */
  readonly parameters: ReadonlyMap<string, string>
}

/** Refuses a forged or altered form. A form does not expire by itself: it is good for as long as its session. */
export function verifyConsentForm({ keys }: Deps, field: string, session: SignedIn | null): VerifiedForm {
  const opened = openSignedText(keys, PURPOSE, field)
  if (!opened) throw oauthFailure('form_forged')
  const signed = Signed.parse(JSON.parse(opened.text))
  return {
    formId: signed.grantId,
    shownAt: fromEpochSeconds(signed.shownAt),
    isOfSession: session !== null && equalSecrets(signed.session, sessionMark(opened.key, session.sessionHash)),
    parameters: new Map(new URLSearchParams(signed.query)),
  }
}
