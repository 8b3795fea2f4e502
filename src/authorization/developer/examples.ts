import type { Config } from '../../platform/config/index.ts'
import { sha256 } from '../../platform/lib/crypto/digest.ts'
import { shellQuoted } from '../../platform/lib/shell-quoted.ts'
import type { ApiOperation } from '../../platform/lib/web/api-operation.ts'

/** Example values by field name. Parameters without a value are left out of examples. */

/** Taken from RFC 7636, appendix B. */
const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'

const BOTH = {
  code: 'ghac_code-of-the-redirect',
  access_token: 'ghat_access-token',
  refresh_token: 'ghrt_refresh-token',
  response_type: 'code',
  expires_in: 604_800,
}

const DEMO_CALLBACK = 'http://localhost:3001/callback'

const CONTRACT: Readonly<Record<string, unknown>> = {
  ...BOTH,
  app_key: 'demo-app',
  app_secret: 'demo-secret-for-local-use-only',
  redirect_uri: DEMO_CALLBACK,
  scope: 'USER_INFO PHONE_NUMBER',
  state: 'abc123',
  token_type: 'bearer',
  phone_number: '13800000001',
  gender: '2',
  user_id: '10001',
  cid: 1,
  name: 'Alice',
  big_avatar_url: 'https://img.example.com/alice.png',
}

const STANDARD: Readonly<Record<string, unknown>> = {
  ...BOTH,
  client_id: 'demo-oidc',
  client_secret: 'demo-oidc-secret-for-local-use-only',
  redirect_uri: 'http://127.0.0.1/callback',
  scope: 'openid profile phone offline_access',
  state: 'af0ifjsldkj',
  nonce: 'n-0S6_WzA2Mj',
  code_challenge: sha256(VERIFIER).toString('base64url'),
  code_challenge_method: 'S256',
  code_verifier: VERIFIER,
  post_logout_redirect_uri: 'http://127.0.0.1/',
  token: 'ghat_access-token',
  token_type: 'Bearer',
  id_token: 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxLTEwMDAxIn0.signature',
  request_uri: 'urn:ietf:params:oauth:request_uri:name',
  sub: '1-10001',
  name: 'Alice',
  preferred_username: 'Alice',
  gender: 'female',
  picture: 'https://img.example.com/alice.png',
  updated_at: 1_795_000_000,
  phone_number: '+8613800000001',
  phone_number_verified: false,
  active: true,
  exp: 1_795_604_800,
  iss: 'https://gatehouse.example',
  issuer: 'https://gatehouse.example',
  authorization_endpoint: 'https://gatehouse.example/oauth2/authorize',
  token_endpoint: 'https://gatehouse.example/oauth2/token',
  kid: 'k1',
  alg: 'RS256',
  use: 'sig',
  kty: 'RSA',
}

/** Fields that ordinary requests do not send, only responses or special requests. */
const NOT_SENT = ['request_uri', 'token_type', 'id_token']

/** Placeholders instead of the demo's values, where there is no demo. */
export const WITHOUT_DEMO: Readonly<Record<string, string>> = {
  app_key: 'your-app-key',
  app_secret: 'your-app-secret',
  client_id: 'your-client-id',
  client_secret: 'your-client-secret',
  redirect_uri: 'https://app.example.com/callback',
  post_logout_redirect_uri: 'https://app.example.com/',
}

export const exampleOf = (dialect: ApiOperation['dialect'], name: string): unknown =>
  (dialect === 'contract' ? CONTRACT : STANDARD)[name]

/** Value of a parameter in an example request; undefined if it is left out. */
export function sentExampleOf({ DEMO, DEMO_PORT }: Config, dialect: ApiOperation['dialect'], name: string) {
  const example = NOT_SENT.includes(name) ? undefined : exampleOf(dialect, name)
  if (example === undefined) return undefined
  if (!DEMO) return WITHOUT_DEMO[name] ?? String(example)
  // DEMO_PORT 0 is any free port, which is not known here.
  const isElsewhere = example === DEMO_CALLBACK && DEMO_PORT > 0
  return isElsewhere ? `http://localhost:${DEMO_PORT}/callback` : String(example)
}

interface Endpoint extends Pick<ApiOperation, 'method' | 'caller'> {
  readonly url: string
  readonly place: 'query' | 'form'
}

/** An example request as a curl command, one line per parameter. */
export function curlOf({ method, url, place, caller }: Endpoint, example: Readonly<Record<string, string>>): string {
  const given = Object.entries(example)
  const query = place === 'query' && given.length > 0 ? `?${new URLSearchParams(example)}` : ''
  const token = caller === 'token' && place === 'query' ? [`-H 'Authorization: Bearer ghat_access-token'`] : []
  const form =
    place === 'form' ? given.map(([name, value]) => `--data-urlencode ${shellQuoted(`${name}=${value}`)}`) : []
  const verb = method === 'post' && form.length === 0 ? '-X POST ' : ''
  return [`curl -i ${verb}${shellQuoted(url + query)}`, ...token, ...form].join(' \\\n  ')
}
