import * as oidc from 'openid-client'
import { MAX_PENDING } from './gatehouse.ts'

/** OpenID Connect in the demo: an unmodified library that gets only the issuer, a client id and a secret. */

export interface OidcClient {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  readonly redirectUri: string
  readonly signedOutUri: string
}

interface Pending {
  readonly pkceCodeVerifier: string
  readonly expectedState: string
  readonly expectedNonce: string
}

/** The state of one browser. */
export interface OidcVisit {
  /** Sign-ins in progress, one per tab. */
  pending: Pending[]
  idToken?: string
  /** Claims of the id_token and of userinfo. */
  claims?: object
  /** Why the last sign-in failed. */
  failed?: string
}

const discover = ({ issuer, clientId, clientSecret }: OidcClient): Promise<oidc.Configuration> =>
  // The demo's issuer on this machine has no TLS.
  oidc.discovery(new URL(issuer), clientId, clientSecret, undefined, { execute: [oidc.allowInsecureRequests] })

/** Returns where to send the browser to sign in. */
export async function beginOidc(visit: OidcVisit, client: OidcClient): Promise<string> {
  const pkceCodeVerifier = oidc.randomPKCECodeVerifier()
  const pending = { pkceCodeVerifier, expectedState: oidc.randomState(), expectedNonce: oidc.randomNonce() }
  visit.pending = [pending, ...visit.pending].slice(0, MAX_PENDING)
  const url = oidc.buildAuthorizationUrl(await discover(client), {
    redirect_uri: client.redirectUri,
    scope: 'openid profile phone offline_access',
    code_challenge: await oidc.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
    state: pending.expectedState,
    nonce: pending.expectedNonce,
  })
  return url.href
}

/** Handles the browser's return, with a code or an error in the query. */
export async function arriveOidc(visit: OidcVisit, client: OidcClient, query: string): Promise<void> {
  const location = new URL(`${client.redirectUri}?${query}`)
  const pending = visit.pending.find(({ expectedState }) => expectedState === location.searchParams.get('state'))
  visit.pending = visit.pending.filter((other) => other !== pending)
  for (const field of ['claims', 'idToken', 'failed'] as const) delete visit[field]
  try {
    const config = await discover(client)
    // If this browser did not begin the sign-in, no state is expected, and the library refuses the response.
    const tokens = await oidc.authorizationCodeGrant(config, location, { idTokenExpected: true, ...pending })
    const claims = tokens.claims()
    visit.idToken = tokens.id_token ?? ''
    visit.claims = { ...claims, ...(await oidc.fetchUserInfo(config, tokens.access_token, claims?.sub ?? '')) }
  } catch (error) {
    if (!(error instanceof Error)) throw error
    visit.failed = error instanceof oidc.AuthorizationResponseError ? error.error : error.message
  }
}

/** Returns where to send the browser to sign out everywhere. */
export async function leaveOidc(visit: OidcVisit, client: OidcClient): Promise<string> {
  const url = oidc.buildEndSessionUrl(await discover(client), {
    id_token_hint: visit.idToken ?? '',
    post_logout_redirect_uri: client.signedOutUri,
  })
  delete visit.claims
  delete visit.idToken
  return url.href
}
