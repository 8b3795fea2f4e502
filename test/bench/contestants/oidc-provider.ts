import { generateKeyPairSync } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider, { type Adapter, type AdapterPayload } from 'oidc-provider'
import { userIdOf } from '../fixtures/people.ts'
import type { Ask } from '../load/ask.ts'
import { writeList } from '../load/list.ts'
import { endWithBench } from './listen.ts'

/**
 * oidc-provider with everything in memory, configured for the least work: opaque tokens, no PKCE, refresh tokens that do
 * not rotate (like Gatehouse's policy `fixed`), and no `openid` scope, so no ID token to sign, except in the workloads
 * about userinfo and ID tokens.
 */

/** The bundled adapter keeps only 1000 entries and visits all tokens of a grant at each write; this one is a plain Map. */
const stored = new Map<string, AdapterPayload>()

class MapAdapter implements Adapter {
  readonly #model: string
  constructor(model: string) {
    this.#model = model
  }
  async upsert(id: string, payload: AdapterPayload): Promise<void> {
    stored.set(this.#model + id, payload)
  }
  async find(id: string): Promise<AdapterPayload | undefined> {
    return stored.get(this.#model + id)
  }
  async consume(id: string): Promise<void> {
    const found = stored.get(this.#model + id)
    if (found) found.consumed = Math.floor(Date.now() / 1000)
  }
  async destroy(id: string): Promise<void> {
    stored.delete(this.#model + id)
  }
  async findByUid(): Promise<undefined> {}
  async findByUserCode(): Promise<undefined> {}
  async revokeByGrantId(): Promise<void> {}
}

const CLIENT = { client_id: 'bench-app', client_secret: 'bench-secret' }
const CALLBACK = 'https://app.example.com/callback'
const SCOPE = 'user_info phone_number'
const OPENID_SCOPE = `openid ${SCOPE}`

const provider = new Provider('http://127.0.0.1', {
  adapter: MapAdapter,
  clients: [
    {
      ...CLIENT,
      redirect_uris: [CALLBACK],
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'client_secret_post',
    },
  ],
  scopes: OPENID_SCOPE.split(' '),
  features: { introspection: { enabled: true, allowedPolicy: () => true }, devInteractions: { enabled: false } },
  jwks: { keys: [generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' })] },
  pkce: { required: () => false },
  issueRefreshToken: async () => true,
  rotateRefreshToken: false,
  findAccount: async (_context, accountId) => ({ accountId, claims: async () => ({ sub: accountId }) }),
  ttl: { AccessToken: 604_800, AuthorizationCode: 3600, RefreshToken: 30 * 86_400, Grant: 30 * 86_400 },
})

async function newGrant(accountId: string): Promise<string> {
  const grant = new provider.Grant({ accountId, clientId: CLIENT.client_id })
  grant.addOIDCScope(OPENID_SCOPE)
  return grant.save()
}

type Kind = 'a5' | 'introspect' | 'userinfo' | 'exchange' | 'id-token' | 'refresh'

const scopeOf = (kind: Kind): string => (kind === 'userinfo' || kind === 'id-token' ? OPENID_SCOPE : SCOPE)

/** Creates one request for one user; first saves the token or code that it uses, as a consent would. */
async function ask(kind: Kind, user: number): Promise<Ask> {
  const client = await provider.Client.find(CLIENT.client_id)
  const accountId = userIdOf(user)
  const given = {
    client,
    accountId,
    grantId: await newGrant(accountId),
    scope: scopeOf(kind),
    gty: 'authorization_code',
  }
  const post = (target: string, form: Record<string, string>) => ({
    target,
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ ...CLIENT, ...form }).toString(),
  })
  if (kind === 'userinfo') {
    const token = await new provider.AccessToken(given as never).save()
    const headers = { Authorization: `Bearer ${token}` }
    return { target: '/me', headers, expect: { kind: 'fields', fields: { sub: accountId } } }
  }
  if (kind === 'a5' || kind === 'introspect') {
    const token = await new provider.AccessToken(given as never).save()
    const fields = { active: true, sub: accountId, client_id: CLIENT.client_id, scope: SCOPE }
    return { ...post('/token/introspection', { token }), expect: { kind: 'fields', fields } }
  }
  const openid = kind === 'id-token' && { idToken: true as const }
  const expect = { kind: 'tokens', enveloped: false, scope: given.scope, ...openid } as const
  if (kind === 'exchange' || kind === 'id-token') {
    const signIn = { redirectUri: CALLBACK, nonce: 'bench', authTime: Math.floor(Date.now() / 1000) }
    const code = await new provider.AuthorizationCode({ ...given, ...signIn } as never).save()
    const form = { grant_type: 'authorization_code', code, redirect_uri: CALLBACK }
    return { ...post('/token', form), expect }
  }
  const refreshToken = await new provider.RefreshToken(given as never).save()
  const form = { grant_type: 'refresh_token', refresh_token: refreshToken }
  return { ...post('/token', form), expect: { ...expect, refreshToken } }
}

process.on('message', async ({ kind, count, file }: { kind: Kind; count: number; file: string }) => {
  try {
    const asks: Ask[] = []
    for (let user = 0; user < count; user++) asks.push(await ask(kind, user))
    await writeList(file, asks)
    process.send?.({})
  } catch (error) {
    process.send?.({ problem: (error as Error).stack })
  }
})

const server = createServer(provider.callback()).listen(0, '127.0.0.1', () => {
  endWithBench()
  process.send?.({ port: (server.address() as AddressInfo).port })
})
