import type { Deps } from '../../platform/deps.ts'
import { sha256 } from '../../platform/lib/crypto/digest.ts'
import { newWebhookSecret } from '../../platform/lib/crypto/generated-secret.ts'
import { decryptSecret, encryptSecret } from '../../platform/lib/crypto/keys.ts'
import * as store from './store.ts'

/** An app's webhook, and the secrets that sign its calls (`whsec_…`): the current one, then the former one until it ends. */
export interface WebhookOfApp {
  readonly url: string
  readonly secrets: readonly string[]
}

export async function findWebhookOfApp({ db, keys, clock }: Deps, appKey: string): Promise<WebhookOfApp | undefined> {
  const found = await store.findWebhook(db, appKey, clock.now())
  if (!found) return undefined
  const sealed = [found.webhook_secret, found.former_webhook_secret].filter((secret) => secret !== null)
  const context = store.webhookSecretContext(appKey)
  return { url: found.webhook_url, secrets: sealed.map((secret) => decryptSecret(keys, secret, context)) }
}

/** `mark` identifies the current secret, even if it can no longer be decrypted; empty without one. */
export async function presentWebhookSecrets(
  { db, clock }: Deps,
  appKey: string,
): Promise<{ readonly mark: string; readonly formerSigns: boolean }> {
  const found = await store.findWebhook(db, appKey, clock.now())
  const sealed = found?.webhook_secret
  const mark = sealed ? sha256(sealed).toString('base64url', 0, 16) : ''
  return { mark, formerSigns: Boolean(found?.former_webhook_secret) }
}

/** Returns the secret, to be shown this once. The previous one also signs until `formerEndsAt`. */
export async function makeWebhookSecret(
  { db, keys }: Pick<Deps, 'db' | 'keys'>,
  appKey: string,
  formerEndsAt?: Date,
): Promise<string> {
  const secret = newWebhookSecret()
  const sealed = encryptSecret(keys, secret, store.webhookSecretContext(appKey))
  await store.setWebhookSecret(db, appKey, sealed, formerEndsAt)
  return secret
}

/** After a change of address: a new address gets a new secret, no address has none. */
export async function renewWebhookSecret(
  deps: Pick<Deps, 'db' | 'keys'>,
  appKey: string,
  { before, after }: { readonly before: string | null; readonly after: string | null },
): Promise<string | undefined> {
  if (before === after) return undefined
  if (after !== null) return makeWebhookSecret(deps, appKey)
  await store.setWebhookSecret(deps.db, appKey, null)
  return undefined
}
