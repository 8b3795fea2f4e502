import { timingSafeEqual } from 'node:crypto'
import type { Deps } from '../deps.ts'
import { secondsUntil } from '../lib/clock.ts'
import { attemptSubject, networkOf } from '../lib/crypto/attempts.ts'
import { equalSecrets, storedForm } from '../lib/crypto/keys.ts'
import { findCaller, noteSecretUse } from '../registry/secret.ts'
import type { MicroApp } from '../registry/wire.ts'
import { CLIENT_WINDOW_S, countFailure } from '../throttle/attempts-store.ts'
import { refuse } from './failures.ts'
import type { Parameters } from './wire.ts'

export interface ClientCall {
  readonly parameters: Parameters
  /** The Authorization header, if any; `Basic` is understood beside the query (decisions, A2 rows 4 and 5). */
  readonly authorization: string | undefined
  readonly address: string
  /** A body is never read; when it is where the credentials went, the answer says so. */
  readonly hasBody: boolean
}

interface Credentials {
  readonly appKey: string
  /** How what was sent can be read: as it is, and decoded where that makes a difference. */
  readonly appSecrets: readonly string[]
}

/** A2 rows 3–7, in one place for A2 and A3: which approved micro-app is calling. */
export async function authenticateClient(deps: Deps, call: ClientCall): Promise<MicroApp> {
  const basic = readBasic(call.authorization)
  const credentials = presentedCredentials(call, basic)
  const app = await verifyCredentials(deps, credentials, call.address)
  if (basic === 'malformed') throw refuse('basic_malformed')
  if (basic && contradicts(call.parameters, basic)) throw refuse('basic_contradicts_query')
  if (app.status !== 'approved') throw refuse('app_not_approved', { detail: app.status })
  return app
}

function readBasic(header: string | undefined): Credentials | 'malformed' | undefined {
  const [scheme = '', encoded = ''] = (header ?? '').split(/ +/, 2)
  if (scheme.toLowerCase() !== 'basic') return undefined
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(encoded)) return 'malformed'
  const text = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  if (colon < 1 || colon === text.length - 1) return 'malformed'
  const appSecret = text.slice(colon + 1)
  // An app_key has no character that means another when decoded, so there is no need to try both.
  return { appKey: formDecoded(text.slice(0, colon)), appSecrets: [...new Set([appSecret, formDecoded(appSecret)])] }
}

/** RFC 6749 §2.3.1 has both form-encoded, which many clients leave out; what cannot be decoded stays as it is. */
function formDecoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}

function presentedCredentials(call: ClientCall, basic: Credentials | 'malformed' | undefined): Credentials {
  const appKey = call.parameters.get('app_key')
  const appSecret = call.parameters.get('app_secret')
  if (appKey && appSecret) return { appKey, appSecrets: [appSecret] }
  if (basic === 'malformed') throw refuse('basic_malformed')
  if (basic) return basic
  throw refuse(call.hasBody && !appKey ? 'credentials_in_body' : 'credentials_missing')
}

const contradicts = (parameters: Parameters, basic: Credentials): boolean => {
  const appKey = parameters.get('app_key') || basic.appKey
  const appSecret = parameters.get('app_secret')
  return appKey !== basic.appKey || Boolean(appSecret && !basic.appSecrets.some((one) => equalSecrets(one, appSecret)))
}

/**
 * Row 7 is looked at before the secret is compared: once the limit is reached the answer is 20003 for right and wrong
 * secrets alike, so it never confirms a guess. Unknown apps and wrong secrets cost the same work and get one text.
 */
async function verifyCredentials(deps: Deps, { appKey, appSecrets }: Credentials, address: string): Promise<MicroApp> {
  const { config, db, clock, keys } = deps
  const now = clock.now()
  const subject = attemptSubject(keys, 'client', `${appKey}\n${networkOf(address)}`)
  const { app, failures } = await findCaller(deps, appKey, subject)
  if (failures && failures.failures >= config.CLIENT_FAILURES) {
    throw refuse('too_many_requests', { retryAfterS: secondsUntil(failures.windowEndsAt, now) })
  }
  const presented = appSecrets.map((appSecret) => storedForm(keys, appSecret))
  const match = app?.secrets.find(({ secret_hash }) => presented.some((one) => timingSafeEqual(secret_hash, one)))
  if (!app || !match) {
    const counted = await countFailure(db, subject, now, CLIENT_WINDOW_S)
    // Guesses that race past the check above learn nothing either.
    if (counted.failures > config.CLIENT_FAILURES) {
      throw refuse('too_many_requests', { retryAfterS: secondsUntil(counted.windowEndsAt, now) })
    }
    throw refuse('credentials_wrong')
  }
  await noteSecretUse(deps, app, match)
  return app
}
