import { addSeconds } from '../../platform/lib/clock.ts'
import { sha256 } from '../../platform/lib/crypto/digest.ts'
import { everyKey, hashSecret } from '../../platform/lib/crypto/keys.ts'
import { randomBytes } from '../../platform/lib/crypto/opaque-token.ts'
import type { Query } from '../../platform/lib/web/request-target.ts'
import { APP_RATES, networkOf, siteOf } from '../../platform/throttle/index.ts'
import { oauthFailure } from '../oauth/index.ts'
import { checkStandardRequest, RedirectedFailure } from './authorize.ts'
import type { Client } from './client.ts'
import { signContinuation } from './continuation.ts'
import { oidcFailure } from './failures.ts'
import type { OidcDeps } from './id-token.ts'
import type { PushedAuthorizationResponse } from './messages.ts'
import { deletePushedRequest, insertPushedRequest, openPushedRequest } from './one-time-store.ts'
import { REQUEST_URI_LIFETIME_S } from './wire.ts'

const URN = 'urn:ietf:params:oauth:request_uri:'

/** RFC 9126 §2: keeps an authorization request that is in order, under a name that works for one browser, until it is answered. */
export async function pushRequest(
  deps: OidcDeps,
  client: Client,
  form: Query,
  address: string,
): Promise<PushedAuthorizationResponse> {
  const { config, db, clock, keys } = deps
  const { app, isPublic } = client
  // Anybody can push in the name of a public client, and would use up what its people have.
  const counted = isPublic ? `${app.app_key}\n${networkOf(address)}` : app.app_key
  limit(deps, APP_RATES.pushed(config), counted)
  if (form.values.get('request_uri')) throw oidcFailure('request_uri_foreign')
  // A client that authenticates by a header need not repeat who it is.
  const values = new Map([...form.values, ['client_id', app.app_key]])
  const { query } = await checkStandardRequest(deps, { ...form, values }).catch((error: unknown) => {
    throw error instanceof RedirectedFailure ? error.failure : error
  })
  // What the authorization endpoint could not carry on from page to page is refused here.
  const name = randomBytes(32).toString('base64url')
  const hash = hashSecret(keys, name)
  signContinuation(deps, 'authorize', { query, signedInSince: clock.now(), pushed: hash.toString('base64url') })
  limitBytes(deps, client, query.length, address)
  const expiresAt = addSeconds(clock.now(), REQUEST_URI_LIFETIME_S)
  await insertPushedRequest(db, { hash, appKey: app.app_key, parameters: query, expiresAt })
  return { request_uri: `${URN}${name}`, expires_in: REQUEST_URI_LIFETIME_S }
}

function limit({ rateLimiter }: OidcDeps, rate: { kind: string; most: number }, counted: string, uses = 1): void {
  const { exceeded, endsInMs } = rateLimiter.count({ ...rate, windowS: 60 }, counted, uses)
  if (exceeded) throw oauthFailure('too_many_requests', { retryAfterS: Math.ceil(endsInMs / 1000) })
}

/** So that one network, or one site of IPv6 (/48), cannot use up what a public app has. */
const NETWORKS = 16
const SITES = 4

/** What is kept of the requests of one app, and of those that one network pushes in the names of public apps. */
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

/** Whether the request names one that was pushed. */
export const isPushed = ({ values }: Query): boolean => values.get('request_uri')?.startsWith(URN) ?? false

/** The name and client of a pushed request; other parameters of the request do not count (RFC 9126 §4). */
export function pushedRequestOf({ values, repeated }: Query): {
  readonly client_id: string
  readonly request_uri: string
} {
  const [client_id = '', request_uri = ''] = [values.get('client_id'), values.get('request_uri')]
  const isAmbiguous = repeated.includes('request_uri') || repeated.includes('client_id') || client_id.includes('\0')
  if (isAmbiguous) throw oidcFailure('request_uri_unusable')
  return { client_id, request_uri }
}

/** Tells one browser from others. */
export const newBrowserMark = (): string => randomBytes(16).toString('base64url')

/** A pushed request, for the browser with this mark alone once it was opened, until it is answered. */
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

/** The person has decided, or there was nothing to decide: it cannot be opened any more. */
export async function useUpRequest({ db }: OidcDeps, pushed: string | null | undefined): Promise<void> {
  if (pushed) await deletePushedRequest(db, Buffer.from(pushed, 'base64url'))
}
