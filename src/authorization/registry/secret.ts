import type { Deps } from '../../platform/deps.ts'
import { addSeconds } from '../../platform/lib/clock.ts'
import { generateSecret, type SecretDates, type SecretRotation } from '../../platform/lib/crypto/generated-secret.ts'
import { fingerprintOf } from '../../platform/lib/crypto/keys.ts'
import { InvalidInput } from '../../platform/lib/json/input.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { changeMicroApp, showMicroApp } from './micro-app.ts'
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
  await changeMicroApp(deps, appKey, 'app_secret_rotated', async ({ db }, app, now) => {
    if (!hasSecret(app)) {
      throw new InvalidInput([{ field: 'token_auth_methods', problem: localized('has-no-secret') }])
    }
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
export const findMicroAppForAuthentication = (
  { db, clock }: Deps,
  appKey: string,
): Promise<MicroAppWithSecrets | undefined> => findMicroApp(db, appKey, clock.now())

/** The app and the failed attempts of `countedBy`, in one read, which costs the same for text that cannot be an app_key. */
export const findAppWithFailures = ({ db, clock }: Deps, caller: Caller): Promise<AppWithFailures> =>
  findCaller(db, caller, clock.now())

/** A secret that an app has presented. */
export interface UsedSecret extends LiveSecret {
  /** Its hash under the current SECRET_KEY, if it is stored as hashed under an old one. */
  readonly rehashed?: Buffer
}

/** At most once a minute: a busy app writes few rows. One hashed under an old key is stored anew under SECRET_KEY. */
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
