import type { Deps } from '../../platform/deps.ts'
import { addSeconds } from '../../platform/lib/clock.ts'
import { generateSecret, type SecretDates, type SecretRotation } from '../../platform/lib/crypto/generated-secret.ts'
import { fingerprintOf } from '../../platform/lib/crypto/keys.ts'
import { InvalidInput } from '../../platform/lib/json/input.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { changeMicroApp, showMicroApp } from './micro-app.ts'
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
import { findMicroApp, type MicroAppWithSecrets } from './store.ts'
import type { CallingApp, MicroApp } from './wire.ts'

const USE_RECORDED_EVERY_S = 60
const WITHOUT_SECRET = {
  field: 'token_auth_methods',
  problem: localized('has-no-secret'),
}

/**
 * A new app_secret that works at once. One of the earlier ones works for `overlap_s` more seconds, unless it ends sooner: the
 * current one, or its predecessor if only that one has been used. In that case the answer with the current one may have been
 * lost, which is why somebody rotates again.
 */
export async function rotateSecret(
  deps: Deps,
  appKey: string,
  { overlap_s }: SecretRotation,
): Promise<MicroApp & { secrets: SecretDates[]; app_secret: string }> {
  const secret = generateSecret('ghas')
  await changeMicroApp(deps, appKey, 'app_secret_rotated', async ({ db }, now) => {
    const app = await findMicroApp(db, appKey, now)
    if (!app) return { changed: undefined }
    if (!hasSecret(app)) throw new InvalidInput([WITHOUT_SECRET])
    const kept = app.secrets.find(({ last_used_at }) => last_used_at !== null) ?? app.secrets[0]
    const ended = app.secrets.filter((other) => other !== kept)
    await replaceSecret(db, appKey, newSecret(deps.keys, secret, now), {
      ended,
      othersEndAt: addSeconds(now, overlap_s),
    })
    return { changed: app, detail: { overlap_s } }
  })
  return { ...(await showMicroApp(deps, appKey)), app_secret: secret }
}

/** The app with its live secrets, whatever its status; undefined for an unknown app_key. */
export async function findMicroAppForAuthentication(
  deps: Deps,
  appKey: string,
): Promise<MicroAppWithSecrets | undefined> {
  return APP_KEY.test(appKey) ? findMicroApp(deps.db, appKey, deps.clock.now()) : undefined
}

/** The app and the failed attempts of `countedBy`, in one read, which costs the same for text that cannot be an app_key. */
export const findAppWithFailures = (
  { db, clock }: Deps,
  { appKey, countedBy, subject }: Caller,
): Promise<AppWithFailures> =>
  // No app has the empty app_key.
  findCaller(db, { appKey: APP_KEY.test(appKey) ? appKey : '', countedBy, subject }, clock.now())

/** A secret that an app has presented. */
export interface UsedSecret extends LiveSecret {
  /** Its hash under the current SECRET_KEY, if it is stored as hashed under an old one. */
  readonly rehashed?: Buffer
}

/**
 * Records the use of a secret, at most once a minute so that a busy app writes few rows. A secret hashed under an old key is
 * stored anew under SECRET_KEY.
 */
export async function noteSecretUse(
  { db, clock, keys }: Deps,
  { app_key: appKey }: Pick<CallingApp, 'app_key'>,
  { secret_hash, last_used_at, rehashed }: UsedSecret,
): Promise<void> {
  const now = clock.now()
  if (rehashed) await rehashSecret(db, { appKey, hash: secret_hash, rehashed, hashedWith: fingerprintOf(keys) })
  const notAfter = addSeconds(now, -USE_RECORDED_EVERY_S)
  if (last_used_at && last_used_at > notAfter) return
  await touchSecret(db, { appKey, hash: rehashed ?? secret_hash, now, notAfter })
}
