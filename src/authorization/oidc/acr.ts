import type { Config } from '../../platform/config/index.ts'
import { hasPasskeys } from '../../platform/config/people.ts'
import type { Deps } from '../../platform/deps.ts'
import { FACTORS, type SignedIn } from '../account/index.ts'

/** How somebody signed in, which an id_token reports if the request asks for it (`acr_values`). */

/** A password alone. We promise nothing about its strength, so it meets no level of ISO/IEC 29115 (OIDC Core §2). */
const PASSWORD_ACR = '0'
/** Two different factors. */
const MULTI_FACTOR_ACR = 'http://schemas.openid.net/pape/policies/2007/06/multi-factor'

/** A passkey, which no other site can phish. */
const PHISHING_RESISTANT_ACR = 'phr'

/** The supported values, strongest last. */
export const acrValuesOf = (config: Config): readonly string[] =>
  config.UPSTREAM_ISSUER === undefined
    ? [
        PASSWORD_ACR,
        ...(config.SECOND_FACTOR !== 'off' || hasPasskeys(config) ? [MULTI_FACTOR_ACR] : []),
        ...(hasPasskeys(config) ? [PHISHING_RESISTANT_ACR] : []),
      ]
    : [] // the provider defines its own values

/** The values that a sign-in satisfies, strongest first. */
const satisfiedBy = ({ amr }: SignedIn): readonly string[] => [
  ...(amr.includes('pop') ? [PHISHING_RESISTANT_ACR] : []),
  ...(amr.includes('mfa') ? [MULTI_FACTOR_ACR] : []),
  PASSWORD_ACR,
]

/** The first requested value that the sign-in satisfies, else its strongest. Null if a provider did not report any. */
export function acrOf(session: SignedIn, asked: readonly string[]): string | null {
  if (session.fromUpstream) return session.acr
  const satisfied = satisfiedBy(session)
  return asked.find((value) => satisfied.includes(value)) ?? satisfied[0] ?? PASSWORD_ACR
}

/** Whether signing in again could satisfy the request. Without such a factor nobody is asked to (OIDC Core §3.1.2.1). */
export async function couldStepUp(deps: Deps, session: SignedIn, asked: readonly string[]): Promise<boolean> {
  // Only the provider knows what it can do, so it is asked once.
  if (deps.config.UPSTREAM_ISSUER) return asked.length > 0 && !(session.acr !== null && asked.includes(session.acr))
  const offered = acrValuesOf(deps.config)
  const known = asked.filter((value) => offered.includes(value))
  const satisfied = satisfiedBy(session)
  if (known.length === 0 || known.some((value) => satisfied.includes(value))) return false
  const { totp_since, passkeys } = await FACTORS.show(deps, { cid: session.cid, user_id: session.userId })
  if (passkeys > 0 && hasPasskeys(deps.config)) return true
  return totp_since !== null && deps.config.SECOND_FACTOR !== 'off' && known.includes(MULTI_FACTOR_ACR)
}
