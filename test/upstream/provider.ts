import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'

/** An OpenID provider that answers whatever a test wants, even invalid things. It has no pages: the test plays the browser. */

export const CLIENT_ID = 'gatehouse'
export const CLIENT_SECRET = 'a-secret-at-the-provider'

type Claims = Record<string, unknown>
type Answer = (response: ServerResponse) => unknown

/** What the provider stores for a code. */
interface Code {
  readonly nonce: string
  readonly claims: Claims
}

const json = (response: ServerResponse, body: unknown, status = 200) =>
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

const newKey = async (kid: string) => ({ kid, ...(await generateKeyPair('RS256', { extractable: true })) })

export class TestProvider {
  readonly issuer: string
  /** Paths that a test answers itself. */
  readonly instead = new Map<string, Answer>()
  /** Requests so far: `POST /token`. */
  readonly asked: string[] = []
  /** Overrides of the discovery document; undefined removes a member. */
  metadata: Record<string, unknown> = {}
  userInfo: Claims | undefined
  readonly #server: Server
  readonly #codes = new Map<string, Code>()
  #keys: Awaited<ReturnType<typeof newKey>>[] = []
  /** An unpublished key that signs in place of the published one. */
  forger: Awaited<ReturnType<typeof newKey>> | undefined
  /** Accepts codes repeatedly, which no provider should. */
  takesCodesAgain = false
  #serial = 0

  private constructor(server: Server) {
    this.#server = server
    this.issuer = `http://localhost:${(server.address() as AddressInfo).port}`
  }

  static async open(): Promise<TestProvider> {
    const server = createServer()
    await new Promise<void>((done) => server.listen(0, 'localhost', done))
    const provider = new TestProvider(server)
    await provider.rotate()
    server.on('request', (request, response) => void provider.#answer(request, response))
    return provider
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((done) => this.#server.close(done))
  }

  /** Replaces the published key. */
  async rotate(): Promise<void> {
    this.#keys = [await newKey(`key-${++this.#serial}`)]
  }

  async forge(): Promise<void> {
    this.forger = await newKey(this.#keys[0]?.kid ?? '')
  }

  /** A valid logout token except for the changes of a test; undefined removes a claim. */
  async logoutToken(
    changes: Claims = {},
    { typ = 'logout+jwt', alg = 'RS256', key = this.forger ?? this.#keys[0] } = {},
  ): Promise<string> {
    const now = Math.floor(Date.now() / 1000)
    const events = { 'http://schemas.openid.net/event/backchannel-logout': {} }
    const jti = `jti-${++this.#serial}`
    const claims = { iss: this.issuer, aud: CLIENT_ID, iat: now, exp: now + 120, jti, events, sub: 'p-1', ...changes }
    if (!key) throw new Error('no key')
    return new SignJWT(claims).setProtectedHeader({ alg, kid: key.kid, typ }).sign(key.privateKey)
  }

  /** Issues a code for an authorization request; returns the callback URL. */
  code(authorize: URL, claims: Claims, answer: Record<string, string> = {}): URL {
    const code = `code-${++this.#serial}`
    this.#codes.set(code, { nonce: authorize.searchParams.get('nonce') ?? '', claims })
    const back = new URL(authorize.searchParams.get('redirect_uri') ?? '')
    const state = authorize.searchParams.get('state') ?? ''
    for (const [name, value] of Object.entries({ code, state, iss: this.issuer, ...answer })) {
      if (value !== '') back.searchParams.set(name, value)
    }
    return back
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url ?? '/', this.issuer).pathname
    this.asked.push(`${request.method} ${path}`)
    const body = await bodyOf(request)
    const instead = this.instead.get(path)
    if (instead) return void instead(response)
    if (path === '/.well-known/openid-configuration') {
      const at = (name: string) => `${this.issuer}/${name}`
      const document = {
        issuer: this.issuer,
        authorization_endpoint: at('authorize'),
        token_endpoint: at('token'),
        jwks_uri: at('jwks'),
        userinfo_endpoint: at('userinfo'),
        end_session_endpoint: at('logout'),
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
        authorization_response_iss_parameter_supported: true,
        ...this.metadata,
      }
      return void json(response, document)
    }
    if (path === '/jwks') {
      const keys = await Promise.all(
        this.#keys.map(async ({ kid, publicKey }) => ({
          ...(await exportJWK(publicKey)),
          kid,
          alg: 'RS256',
          use: 'sig',
        })),
      )
      return void json(response, { keys })
    }
    if (path === '/token') return this.#token(response, new URLSearchParams(body), request.headers.authorization ?? '')
    if (path === '/userinfo')
      return void json(response, { sub: request.headers.authorization?.replace('Bearer of-', ''), ...this.userInfo })
    response.writeHead(404).end()
  }

  async #token(response: ServerResponse, form: URLSearchParams, authorization: string): Promise<void> {
    const [id, secret] = Buffer.from(authorization.replace('Basic ', ''), 'base64')
      .toString()
      .split(':')
      .map(decodeURIComponent)
    if (id !== CLIENT_ID || secret !== CLIENT_SECRET) return void json(response, { error: 'invalid_client' }, 401)
    const found = this.#codes.get(form.get('code') ?? '')
    if (!this.takesCodesAgain) this.#codes.delete(form.get('code') ?? '')
    if (!found || !form.get('code_verifier')) return void json(response, { error: 'invalid_grant' }, 400)
    const now = Math.floor(Date.now() / 1000)
    const claims = {
      iss: this.issuer,
      aud: CLIENT_ID,
      sub: 'p-1',
      iat: now,
      exp: now + 300,
      nonce: found.nonce,
      auth_time: now,
      ...found.claims,
    }
    const key = this.forger ?? this.#keys[0]
    if (!key) throw new Error('no key')
    const idToken = await new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: key.kid }).sign(key.privateKey)
    json(response, { access_token: `of-${claims.sub}`, token_type: 'Bearer', expires_in: 300, id_token: idToken })
  }
}
