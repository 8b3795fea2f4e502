import { timingSafeEqual } from 'node:crypto'
import type { Deps } from '../../platform/deps.ts'
import { secondsUntil } from '../../platform/lib/clock.ts'
import { equalSecrets, everyKey, hashSecret, isCurrentKeyNewest, type Keys } from '../../platform/lib/crypto/keys.ts'
import { type Credentials, readBasic } from '../../platform/lib/web/basic-credentials.ts'
import { CLIENT_WINDOW_S, countFailure, networkOf, throttleKey } from '../../platform/throttle/index.ts'
import {
  type CallingApp,
  findAppWithFailures,
  hasSecret,
  type LiveSecret,
  noteSecretUse,
  type UsedSecret,
} from '../registry/index.ts'
import { oauthFailure } from './failures.ts'
import type { Parameters } from './wire.ts'

export interface AppCall {
  readonly parameters: Parameters
  /** The Authorization header, if any; `Basic` is accepted as well as the query (A2 rows 4–5). */
  readonly authorization: string | undefined
  readonly address: string
  /** Bodies are never read; a caller without credentials is told that they do not belong there. */
  readonly hasBody: boolean
}

/** Authenticates the calling micro-app, which must be approved (rows 3–7 of A2 and A3). */
export async function authenticateApp(deps: Deps, call: AppCall): Promise<CallingApp> {
  const basic = readBasic(call.authorization)
  const credentials = presentedCredentials(call, basic)
  const app = await verifyCredentials(deps, credentials, call.address)
  if (basic === 'malformed') throw oauthFailure('basic_malformed')
  if (basic && contradicts(call.parameters, basic)) throw oauthFailure('basic_contradicts_query')
  if (app.status !== 'approved') throw oauthFailure('app_not_approved', { detail: app.status })
  return app
}

function presentedCredentials(call: AppCall, basic: Credentials | 'malformed' | undefined): Credentials {
  const appKey = call.parameters.get('app_key')
  const appSecret = call.parameters.get('app_secret')
  if (appKey && appSecret) return { appKey, appSecrets: [appSecret] }
  if (basic === 'malformed') throw oauthFailure('basic_malformed')
  if (basic && basic.appSecrets.length > 0) return basic
  throw oauthFailure(call.hasBody && !appKey ? 'credentials_in_body' : 'credentials_missing')
}

const contradicts = (parameters: Parameters, basic: Credentials): boolean => {
  const appKey = parameters.get('app_key') || basic.appKey
  const appSecret = parameters.get('app_secret')
  const { appSecrets } = basic
  const differs = appSecret && appSecrets.length > 0 && !appSecrets.some((secret) => equalSecrets(secret, appSecret))
  return appKey !== basic.appKey || Boolean(differs)
}

/**
 * Finds the app with these credentials, whatever its status. The failure limit is checked before the secret is compared:
 * beyond it, right and wrong secrets are refused alike, so the answer never confirms a guess. An unknown app, a wrong secret
 * and an app without secrets cost the same work and get the same message.
 */
export async function verifyCredentials(
  deps: Deps,
  { appKey, appSecrets }: Credentials,
  address: string,
): Promise<CallingApp> {
  const { config, db, clock, keys } = deps
  const now = clock.now()
  const countedBy = `${appKey}\n${networkOf(address)}`
  const subject = () => throttleKey(keys, 'client', countedBy)
  const { app, secrets, failures } = await findAppWithFailures(deps, { appKey, countedBy, subject })
  if (failures && failures.failures >= config.CLIENT_FAILURES) {
    throw oauthFailure('too_many_requests', { retryAfterS: secondsUntil(failures.windowEndsAt, now) })
  }
  const match = findSecret(keys, secrets, appSecrets)
  if (!app || !match || !hasSecret(app)) {
    deps.metrics.signInFailures.inc({ kind: 'client' })
    const failed = await countFailure(db, subject(), now, CLIENT_WINDOW_S)
    // Several guesses may have passed the check above at the same time.
    if (failed.failures > config.CLIENT_FAILURES) {
      throw oauthFailure('too_many_requests', { retryAfterS: secondsUntil(failed.windowEndsAt, now) })
    }
    throw oauthFailure('credentials_wrong')
  }
  await noteSecretUse(deps, app, match)
  return app
}

/** The stored secret that one of these is; one hashed under another key exists only while SECRET_KEY is being rotated. */
function findSecret(keys: Keys, live: readonly LiveSecret[], secrets: readonly string[]): UsedSecret | undefined {
  for (const key of everyKey(keys)) {
    for (const secret of secrets) {
      const hash = hashSecret(key, secret)
      const found = live.find(({ secret_hash }) => timingSafeEqual(secret_hash, hash))
      if (!found) continue
      return key === keys || !isCurrentKeyNewest(keys) ? found : { ...found, rehashed: hashSecret(keys, secret) }
    }
  }
  return undefined
}
