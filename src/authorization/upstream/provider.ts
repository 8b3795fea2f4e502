import type { IDToken, TokenEndpointResponse, TokenEndpointResponseHelpers } from 'openid-client'
import type { Deps } from '../../platform/deps.ts'
import { addSeconds, epochSeconds, fromEpochSeconds } from '../../platform/lib/clock.ts'
import type { OutboundDeps } from '../../platform/outbound/index.ts'
import { howOf, personOf, type UpstreamPerson } from './claims.ts'
import { boundedFetch, type Discovered, discover } from './discovery.ts'
import { UpstreamFailure } from './failures.ts'
import type { Flow, FlowProof } from './flow.ts'
import { ProviderKeys } from './keys.ts'
import { failureOf, isUnknownKey } from './library-errors.ts'
import { type EndedThere, readLogoutToken } from './logout-token.ts'

/** Where the provider sends the browser back; registered there word for word. */
export const CALLBACK = '/sign-in/callback'
export const SIGNED_OUT = '/sign-out/callback'

/** How long what the provider says of itself is used, and at most while it does not answer: seconds. */
const FRESH_S = 3_600
const STALE_S = 86_400
/** How often it is asked at most. */
const ASKED_S = 5
/** How much its clock may differ from ours, seconds. */
const SKEW_S = 60

type Tokens = TokenEndpointResponse & TokenEndpointResponseHelpers

interface Known extends Discovered {
  readonly readAt: Date
}

/** What the person is to be asked, in the words of OIDC Core §3.1.2.1. */
export interface Wishes {
  readonly prompt?: string | undefined
  readonly maxAge?: number | undefined
  readonly acrValues?: string | undefined
  readonly loginHint?: string | undefined
  readonly locale: string
}

const LONGEST_HINT = 4_096
const hintOf = (idToken = ''): string => (idToken.length > LONGEST_HINT ? '' : idToken)

/** Somebody who was recognized by the provider. */
export interface Proven {
  readonly person: UpstreamPerson
  /** When they proved who they are; null where the provider does not say. */
  readonly authenticatedAt: Date | null
  readonly acr: string | null
  readonly amr: readonly string[]
  /** Its names for the person, and for its session if it says one. */
  readonly sub: string
  readonly sid: string | undefined
  /** With which the provider knows its session again; empty if it is too long for an address. */
  readonly idToken: string
}

/** The OpenID provider at which the people of the platform sign in (UPSTREAM_ISSUER). */
export class Provider {
  /** Its name for people: the host. */
  readonly host: string
  readonly #deps: Pick<OutboundDeps, 'config' | 'clock' | 'calls'>
  readonly #issuer: URL
  readonly #fetch: ReturnType<typeof boundedFetch>
  /** For logout tokens; the library has its own for id_tokens. */
  readonly #keys: ProviderKeys
  #known: Known | undefined
  #asking: Promise<Known> | undefined
  #askedAt: Date | undefined

  constructor(deps: Pick<OutboundDeps, 'config' | 'clock' | 'calls'>, issuer: string) {
    this.#deps = deps
    this.#issuer = new URL(issuer)
    this.host = this.#issuer.host
    this.#fetch = boundedFetch(deps)
    this.#keys = new ProviderKeys(deps.clock, this.#fetch)
  }

  /** Where the browser goes to sign in. Throws UpstreamFailure. */
  async signInUrl({ state, nonce, verifier }: FlowProof, wishes: Wishes): Promise<string> {
    const { library, configuration } = await this.#provider()
    const optional = {
      prompt: wishes.prompt,
      max_age: wishes.maxAge?.toString(),
      acr_values: wishes.acrValues,
      login_hint: wishes.loginHint,
      ui_locales: wishes.locale,
    }
    const given = Object.entries(optional).filter((entry): entry is [string, string] => entry[1] !== undefined)
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

  /** Whom the provider's answer means. Throws UpstreamFailure. */
  async prove(query: string, proof: FlowProof, asked: Flow): Promise<Proven> {
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
      const sid = typeof claims.sid === 'string' ? claims.sid : undefined
      return { person, authenticatedAt, ...howOf(claims), sub: claims.sub, sid, idToken: hintOf(tokens.id_token) }
    } catch (error) {
      if (isUnknownKey(error)) this.#known = undefined // it may have made itself a new one
      throw failureOf(error)
    }
  }

  /** Where the browser goes to sign out there too; undefined where the provider has no such page, or is away. */
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

  /** What it says is over. Throws UpstreamFailure. */
  async endedThere(token: string): Promise<EndedThere> {
    const { configuration } = await this.#provider()
    const { issuer, jwks_uri = '' } = configuration.serverMetadata()
    const { UPSTREAM_CLIENT_ID: audience = '' } = this.#deps.config
    const expected = { issuer, audience, now: this.#deps.clock.now() }
    try {
      return await this.#keys.verify(jwks_uri, (keys) => readLogoutToken(token, keys, expected))
    } catch (error) {
      throw failureOf(error)
    }
  }

  #at(path: string): string {
    return `${this.#deps.config.PUBLIC_URL}${path}`
  }

  /** Claims of the profile are often at userinfo alone (OIDC Core §5.4). */
  async #userInfo({ sub }: IDToken, { access_token: token }: Tokens): Promise<object> {
    const { library, configuration } = await this.#provider()
    if (!configuration.serverMetadata().userinfo_endpoint) return {}
    return library.fetchUserInfo(configuration, token, sub)
  }

  /** Refuses a sign-in of before where a new one was asked for. */
  #authenticatedAt({ auth_time }: IDToken, { maxAge, beganAt }: Flow): Date | null {
    const now = this.#deps.clock.now()
    // Its clock may be ahead; and a number may be beyond all dates.
    const said = auth_time === undefined ? null : fromEpochSeconds(Math.floor(Math.min(auth_time, epochSeconds(now))))
    if (maxAge !== null) {
      if (said === null) throw new UpstreamFailure('not_asked_again', 'no auth_time, though max_age was sent')
      if (addSeconds(said, maxAge + SKEW_S) < beganAt) {
        throw new UpstreamFailure('not_asked_again', 'auth_time is older than max_age')
      }
    }
    return said
  }

  async #provider(): Promise<Known> {
    const now = this.#deps.clock.now()
    const known = this.#known
    if (known && addSeconds(known.readAt, FRESH_S) > now) return known
    const usable = known && addSeconds(known.readAt, STALE_S) > now ? known : undefined
    if (!this.#asking && this.#askedAt && addSeconds(this.#askedAt, ASKED_S) > now) {
      if (usable) return usable
      throw new UpstreamFailure('away', 'was asked a moment ago, and did not answer')
    }
    this.#asking ??= this.#discover().finally(() => {
      this.#asking = undefined
    })
    return this.#asking.catch((error: unknown) => {
      if (usable) return usable
      throw failureOf(error, true)
    })
  }

  async #discover(): Promise<Known> {
    this.#askedAt = this.#deps.clock.now()
    const found = await discover(this.#issuer, this.#deps.config, this.#fetch)
    this.#known = { ...found, readAt: this.#askedAt }
    this.#askedAt = undefined
    return this.#known
  }
}

/** For operations that go to the platform's OpenID provider. */
export interface UpstreamDeps extends Deps {
  /** Undefined where people sign in here. */
  readonly upstream?: Provider | undefined
}
