import type { Config } from '../../platform/config/index.ts'
import { hasPasskeys } from '../../platform/config/people.ts'
import type { Deps } from '../../platform/deps.ts'
import { FACTORS, type SignedIn } from '../account/index.ts'

/**
 * What an id_token says of how somebody signed in, where the request asks (`acr_values`): names of OpenID PAPE and of
 * the OpenID Connect Extended Authentication Profile.
 */

/** A password alone, about whose strength we promise nothing, so no level of ISO/IEC 29115 (OIDC Core §2). */
const PASSWORD_ACR = '0'
/** Two different factors. */
const MULTI_FACTOR_ACR = 'http://schemas.openid.net/pape/policies/2007/06/multi-factor'

/** A passkey, which no other site can get hold of. */
const PHISHING_RESISTANT_ACR = 'phr'

/** What can be asked for here, the strongest last. */
export const acrValuesOf = (config: Config): readonly string[] =>
  config.UPSTREAM_ISSUER === undefined
    ? [
        PASSWORD_ACR,
        ...(config.SECOND_FACTOR !== 'off' || hasPasskeys(config) ? [MULTI_FACTOR_ACR] : []),
        ...(hasPasskeys(config) ? [PHISHING_RESISTANT_ACR] : []),
      ]
    : [] // the provider's values are its own

/** What a sign-in satisfies, the strongest first. */
const satisfiedBy = ({ amr }: SignedIn): readonly string[] => [
  ...(amr.includes('pop') ? [PHISHING_RESISTANT_ACR] : []),
  ...(amr.includes('mfa') ? [MULTI_FACTOR_ACR] : []),
  PASSWORD_ACR,
]

/** The first value of the request that is true of this sign-in; otherwise what is true of it. Null where a provider has not said. */
export function acrOf(session: SignedIn, asked: readonly string[]): string | null {
  if (session.fromUpstream) return session.acr
  const satisfied = satisfiedBy(session)
  return asked.find((value) => satisfied.includes(value)) ?? satisfied[0] ?? PASSWORD_ACR
}

/**
 * Whether the person could satisfy the request by signing in again, which this session does not: it is a wish
 * (OIDC Core §3.1.2.1), so nobody is asked who has no such factor.
 */
export async function couldProveMore(deps: Deps, session: SignedIn, asked: readonly string[]): Promise<boolean> {
  // What a provider can, it knows: it is asked once.
  if (deps.config.UPSTREAM_ISSUER) return asked.length > 0 && !(session.acr !== null && asked.includes(session.acr))
  const offered = acrValuesOf(deps.config)
  const known = asked.filter((value) => offered.includes(value))
  const satisfied = satisfiedBy(session)
  if (known.length === 0 || known.some((value) => satisfied.includes(value))) return false
  const { totp_since, passkeys } = await FACTORS.show(deps, { cid: session.cid, user_id: session.userId })
  if (passkeys > 0 && hasPasskeys(deps.config)) return true
  return totp_since !== null && deps.config.SECOND_FACTOR !== 'off' && known.includes(MULTI_FACTOR_ACR)
}
