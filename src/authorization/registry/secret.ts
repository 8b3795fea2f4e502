import { type Deps, inTransaction } from '../../platform/deps.ts'
import { addSeconds } from '../../platform/lib/clock.ts'
import { generateSecret, type SecretDates, type SecretRotation } from '../../platform/lib/crypto/generated-secret.ts'
import { fingerprintOf } from '../../platform/lib/crypto/keys.ts'
import { InvalidInput } from '../../platform/lib/json/input.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { noSuchMicroApp, recordChange, showMicroApp } from './micro-app.ts'
import { APP_KEY } from './micro-app-fields.ts'
import { hasSecret } from './oidc-fields.ts'
import {
  type AppWithFailures,
  type Caller,
  findAppWithFailures as findCaller,
  type LiveSecret,
  newSecret,
  rehashSecret,
  replaceSecret,
  touchSecret,
} from './secret-store.ts'
import { findMicroApp, lockMicroApp, type MicroAppWithSecrets } from './store.ts'
import type { CallingApp, MicroApp } from './wire.ts'

const NOTED_EVERY_S = 60
const WITHOUT_SECRET = {
  field: 'token_auth_methods',
  problem: localized('has-no-secret'),
}

/**
 * A new app_secret that works at once. Of those so far one works for `overlap_s` seconds more, if it would not have ended
 * sooner: the current one, or the one before it, where that is in use and nobody has used the current one yet. Who has made
 * that may not have seen it: an answer gets lost, and then they ask for another.
 */
export async function rotateSecret(
  deps: Deps,
  appKey: string,
  { overlap_s }: SecretRotation,
): Promise<MicroApp & { secrets: SecretDates[]; app_secret: string }> {
  const secret = generateSecret('ghas')
  const now = deps.clock.now()
  await inTransaction(deps, async (inside, db) => {
    const app = APP_KEY.test(appKey) && (await lockMicroApp(db, appKey)) && (await findMicroApp(db, appKey, now))
    if (!app) throw noSuchMicroApp()
    if (!hasSecret(app)) throw new InvalidInput([WITHOUT_SECRET])
    const kept = app.secrets.find(({ last_used_at }) => last_used_at !== null) ?? app.secrets[0]
    const ended = app.secrets.filter((one) => one !== kept)
    await replaceSecret(db, appKey, newSecret(deps.keys, secret, now), {
      ended,
      othersEndAt: addSeconds(now, overlap_s),
    })
    await recordChange(inside, appKey, 'app_secret_rotated', { overlap_s })
  })
  return { ...(await showMicroApp(deps, appKey)), app_secret: secret }
}

/** The app with its live secrets in one read, whatever its status; undefined for an unknown app_key, or for no app_key at all. */
export async function findMicroAppForAuthentication(
  deps: Deps,
  appKey: string,
): Promise<MicroAppWithSecrets | undefined> {
  return APP_KEY.test(appKey) ? findMicroApp(deps.db, appKey, deps.clock.now()) : undefined
}

/** The app and the failed attempts of `countedBy`, in one read. Text that cannot be an app_key costs the same. */
export const findAppWithFailures = (
  { db, clock }: Deps,
  { appKey, countedBy, subject }: Caller,
): Promise<AppWithFailures> =>
  // No app has the empty app_key.
  findCaller(db, { appKey: APP_KEY.test(appKey) ? appKey : '', countedBy, subject }, clock.now())

/** A secret that an app has presented. */
export interface UsedSecret extends LiveSecret {
  /** The hash under SECRET_KEY, where the secret is kept as an old key has hashed it. */
  readonly rehashed?: Buffer
}

/**
 * Records the use of a secret at most once a minute, so that a busy app writes few rows. What an old key has hashed is
 * hashed anew by SECRET_KEY.
 */
export async function noteSecretUse(
  { db, clock, keys }: Deps,
  { app_key: appKey }: Pick<CallingApp, 'app_key'>,
  { secret_hash, last_used_at, rehashed }: UsedSecret,
): Promise<void> {
  const now = clock.now()
  if (rehashed) await rehashSecret(db, { appKey, hash: secret_hash, rehashed, hashedWith: fingerprintOf(keys) })
  const notAfter = addSeconds(now, -NOTED_EVERY_S)
  if (last_used_at && last_used_at > notAfter) return
  await touchSecret(db, { appKey, hash: rehashed ?? secret_hash, now, notAfter })
}
