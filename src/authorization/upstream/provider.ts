import type { IDToken, TokenEndpointResponse, TokenEndpointResponseHelpers } from 'openid-client'
import type { Deps } from '../../platform/deps.ts'
import { addSeconds, epochSeconds, fromEpochSeconds } from '../../platform/lib/clock.ts'
import type { OutboundDeps } from '../../platform/outbound/index.ts'
import { acrAndAmr, personOf } from './claims.ts'
import { boundedFetch, type Discovered, discover } from './discovery.ts'
import { failureOf, isUnknownKey, UpstreamFailure } from './failures.ts'
import type { Flow, FlowProof } from './flow.ts'
import { type EndedThere, ProviderKeys, readLogoutToken } from './logout-token.ts'
import { Published } from './published.ts'

/** Where the provider sends the browser back to; registered there word for word. */
export const CALLBACK = '/sign-in/callback'
export const SIGNED_OUT = '/sign-out/callback'

/** Tolerated difference between its clock and ours, seconds. */
const SKEW_S = 60

type Tokens = TokenEndpointResponse & TokenEndpointResponseHelpers

/** Parameters of OIDC Core §3.1.2.1. */
type SignInParameters = Readonly<
  Record<'prompt' | 'max_age' | 'acr_values' | 'login_hint' | 'ui_locales', string | undefined>
>

/** A later id_token_hint; empty if it is too long for a URL. */
const LONGEST_HINT = 4_096
const hintOf = (idToken = ''): string => (idToken.length > LONGEST_HINT ? '' : idToken)

/** A person whom the provider has authenticated; null: it does not say. */
export type Proven = Awaited<ReturnType<Provider['prove']>>

/** The OpenID provider at which people sign in (UPSTREAM_ISSUER). */
export class Provider {
  /** Shown to people as the provider's name. */
  readonly host: string
  readonly #deps: Pick<OutboundDeps, 'config' | 'clock' | 'calls'>
  readonly #issuer: URL
  readonly #fetch: ReturnType<typeof boundedFetch>
  /** For logout tokens; the library keeps its own keys for id_tokens. */
  readonly #keys: ProviderKeys
  readonly #metadata: Published<Discovered>

  constructor(deps: Pick<OutboundDeps, 'config' | 'clock' | 'calls'>, issuer: string) {
    this.#deps = deps
    this.#issuer = new URL(issuer)
    this.host = this.#issuer.host
    this.#fetch = boundedFetch(deps)
    this.#keys = new ProviderKeys(deps.clock, this.#fetch)
    this.#metadata = new Published(deps.clock, { freshS: 3_600, staleS: 86_400 })
  }

  /** Where the browser goes to sign in. Throws UpstreamFailure. */
  async signInUrl({ state, nonce, verifier }: FlowProof, wishes: SignInParameters): Promise<string> {
    const { library, configuration } = await this.#provider()
    const given = Object.entries(wishes).filter((entry): entry is [string, string] => entry[1] !== undefined)
    const parameters = {
      redirect_uri: this.#at(CALLBACK),
      scope: this.#deps.config.UPSTREAM_SCOPE,
      code_challenge: await library.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
      nonce,
      ...Object.fromEntries(given),
    }
    return library.buildAuthorizationUrl(configuration, parameters).href
  }

  /** The person whom the provider's answer proves. Throws UpstreamFailure. */
  async prove(query: string, proof: FlowProof, asked: Flow) {
    const { library, configuration } = await this.#provider()
    try {
      const tokens = await library.authorizationCodeGrant(configuration, new URL(`${this.#at(CALLBACK)}?${query}`), {
        expectedState: proof.state,
        expectedNonce: proof.nonce,
        pkceCodeVerifier: proof.verifier,
        idTokenExpected: true,
      })
      const claims = tokens.claims()
      if (!claims) throw new UpstreamFailure('untrusted', 'no id_token')
      const authenticatedAt = this.#authenticatedAt(claims, asked)
      const person = personOf({ ...(await this.#userInfo(claims, tokens)), ...claims }, this.#deps.config)
      // The provider's ids of the person and, if it has one, of its session.
      const sid = typeof claims.sid === 'string' ? claims.sid : undefined
      return { person, authenticatedAt, ...acrAndAmr(claims), sub: claims.sub, sid, idToken: hintOf(tokens.id_token) }
    } catch (error) {
      if (isUnknownKey(error)) this.#metadata.forget() // it may have a new key
      throw failureOf(error)
    }
  }

  /** Where the browser goes to sign out there too; undefined if the provider has no such page or is away. */
  async signOutUrl(state: string, idToken: string): Promise<string | undefined> {
    const known = await this.#provider().catch((error: unknown) => {
      if (error instanceof UpstreamFailure) return undefined
      throw error
    })
    if (!known?.configuration.serverMetadata().end_session_endpoint) return undefined
    const hint: Record<string, string> = idToken ? { id_token_hint: idToken } : {}
    const parameters = { ...hint, post_logout_redirect_uri: this.#at(SIGNED_OUT), state }
    return known.library.buildEndSessionUrl(known.configuration, parameters).href
  }

  /** What a logout token ends. Throws UpstreamFailure. */
  async endedThere(token: string): Promise<EndedThere> {
    const { configuration } = await this.#provider()
    const { issuer, jwks_uri = '', id_token_signing_alg_values_supported } = configuration.serverMetadata()
    const { UPSTREAM_CLIENT_ID: audience = '' } = this.#deps.config
    const algs = id_token_signing_alg_values_supported ?? ['RS256']
    const expected = { issuer, audience, algs, now: this.#deps.clock.now() }
    try {
      return await this.#keys.verify(jwks_uri, (keys) => readLogoutToken(token, keys, expected))
    } catch (error) {
      throw failureOf(error)
    }
  }

  #at(path: string): string {
    return `${this.#deps.config.PUBLIC_URL}${path}`
  }

  /** Profile claims are often only at userinfo (OIDC Core §5.4). */
  async #userInfo({ sub }: IDToken, { access_token: token }: Tokens): Promise<object> {
    const { library, configuration } = await this.#provider()
    if (!configuration.serverMetadata().userinfo_endpoint) return {}
    return library.fetchUserInfo(configuration, token, sub)
  }

  /** Refuses an earlier sign-in if a new one was requested. */
  #authenticatedAt({ auth_time }: IDToken, { maxAge, beganAt }: Flow): Date | null {
    const now = this.#deps.clock.now()
    // Its clock may be ahead, and the number may exceed what a Date can hold.
    const said = auth_time === undefined ? null : fromEpochSeconds(Math.floor(Math.min(auth_time, epochSeconds(now))))
    if (maxAge !== null) {
      if (said === null) throw new UpstreamFailure('not_asked_again', 'no auth_time, though max_age was sent')
      if (addSeconds(said, maxAge + SKEW_S) < beganAt) {
        throw new UpstreamFailure('not_asked_again', 'auth_time is older than max_age')
      }
    }
    return said
  }

  async #provider(): Promise<Discovered> {
    const { value } = await this.#metadata.read(() => discover(this.#issuer, this.#deps.config, this.#fetch))
    return value
  }
}

/** For operations that use the OpenID provider. */
export interface UpstreamDeps extends Deps {
  /** Undefined if people sign in here. */
  readonly upstream?: Provider | undefined
}
