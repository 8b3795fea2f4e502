import { addSeconds } from '../../platform/lib/clock.ts'
import { sha256 } from '../../platform/lib/crypto/digest.ts'
import { everyKey, hashSecret } from '../../platform/lib/crypto/keys.ts'
import { pooledRandomBytes } from '../../platform/lib/crypto/opaque-token.ts'
import type { Query } from '../../platform/lib/web/request-target.ts'
import { APP_RATES, networkOf, siteOf } from '../../platform/throttle/index.ts'
import { oauthFailure } from '../oauth/index.ts'
import { checkStandardRequest, RedirectedFailure } from './authorize.ts'
import type { Client } from './client.ts'
import { signContinuation } from './continuation.ts'
import { oidcFailure } from './failures.ts'
import type { OidcDeps } from './id-token.ts'
import type { PushedAuthorizationResponse } from './messages.ts'
import { deletePushedRequest, insertPushedRequest, openPushedRequest } from './store.ts'
import { REQUEST_URI_LIFETIME_S } from './wire.ts'

const URN = 'urn:ietf:params:oauth:request_uri:'

/** RFC 9126 §2: stores a valid request under a name that works for one browser until it is answered. */
export async function pushRequest(
  deps: OidcDeps,
  client: Client,
  form: Query,
  address: string,
): Promise<PushedAuthorizationResponse> {
  const { config, db, clock, keys } = deps
  const { app, isPublic } = client
  // Per network for a public client: anybody can push in its name and would use up the limit of its users.
  const caller = isPublic ? `${app.app_key}\n${networkOf(address)}` : app.app_key
  limit(deps, APP_RATES.pushed(config), caller)
  if (form.values.get('request_uri')) throw oidcFailure('request_uri_foreign')
  // A client that authenticates by a header need not send client_id.
  const values = new Map([...form.values, ['client_id', app.app_key]])
  const { query } = await checkStandardRequest(deps, { ...form, values }).catch((error: unknown) => {
    throw error instanceof RedirectedFailure ? error.failure : error
  })
  // Signed only to refuse here what would be too long for the authorization endpoint to carry from page to page.
  const name = pooledRandomBytes(32).toString('base64url')
  const hash = hashSecret(keys, name)
  signContinuation(deps, 'authorize', { query, signedInSince: clock.now(), pushed: hash.toString('base64url') })
  limitBytes(deps, client, query.length, address)
  const expiresAt = addSeconds(clock.now(), REQUEST_URI_LIFETIME_S)
  await insertPushedRequest(db, { hash, appKey: app.app_key, parameters: query, expiresAt })
  return { request_uri: `${URN}${name}`, expires_in: REQUEST_URI_LIFETIME_S }
}

function limit({ rateLimiter }: OidcDeps, rate: { kind: string; most: number }, caller: string, uses = 1): void {
  const { exceeded, endsInMs } = rateLimiter.count({ ...rate, windowS: 60 }, caller, uses)
  if (exceeded) throw oauthFailure('too_many_requests', { retryAfterS: Math.ceil(endsInMs / 1000) })
}

/** The shares of a network and of an IPv6 site (/48), so that one cannot use up the limit of a public app. */
const NETWORKS = 16
const SITES = 4

/** Limits the bytes stored for one app, and those that one network pushes in the names of public apps. */
function limitBytes(deps: OidcDeps, { app, isPublic }: Client, bytes: number, address: string): void {
  const pushedBytes = APP_RATES.pushedBytes(deps.config)
  const { most } = pushedBytes
  if (isPublic) {
    const [network, site] = [networkOf(address), siteOf(address)]
    limit(deps, { kind: 'pushed bytes of a network', most: Math.ceil(most / NETWORKS) }, network, bytes)
    if (site) limit(deps, { kind: 'pushed bytes of a site', most: Math.ceil(most / SITES) }, site, bytes)
  }
  limit(deps, pushedBytes, app.app_key, bytes)
}

/** Whether the request refers to a pushed one. */
export const isPushed = ({ values }: Query): boolean => values.get('request_uri')?.startsWith(URN) ?? false

/** The client and name of a pushed request; other parameters are ignored (RFC 9126 §4). */
export function pushedRequestOf({ values, repeated }: Query): {
  readonly client_id: string
  readonly request_uri: string
} {
  const [client_id = '', request_uri = ''] = [values.get('client_id'), values.get('request_uri')]
  const isAmbiguous = repeated.includes('request_uri') || repeated.includes('client_id') || client_id.includes('\0')
  if (isAmbiguous) throw oidcFailure('request_uri_unusable')
  return { client_id, request_uri }
}

export const newBrowserMark = (): string => pooledRandomBytes(16).toString('base64url')

/** The pushed request, which from now on only the browser with this mark can open, until it is answered. */
export async function openRequest(
  { db, clock, keys }: OidcDeps,
  request: Query,
  browserMark: string,
): Promise<{ readonly query: string; readonly pushed: string }> {
  const { client_id: appKey, request_uri } = pushedRequestOf(request)
  const openedBy = sha256(browserMark)
  for (const key of everyKey(keys)) {
    const hash = hashSecret(key, request_uri.slice(URN.length))
    const query = await openPushedRequest(db, { hash, appKey, openedBy }, clock.now())
    if (query !== undefined) return { query, pushed: hash.toString('base64url') }
  }
  throw oidcFailure('request_uri_unusable')
}

/** For a request that was answered: it cannot be opened any more. */
export async function closeRequest({ db }: OidcDeps, pushed: string | null | undefined): Promise<void> {
  if (pushed) await deletePushedRequest(db, Buffer.from(pushed, 'base64url'))
}
