import type { Deps } from '../../platform/deps.ts'
import { newWebhookSecret } from '../../platform/lib/crypto/generated-secret.ts'
import { decryptSecret, encryptSecret } from '../../platform/lib/crypto/keys.ts'
import * as store from './webhook-store.ts'

/** Where an app is told, and what signs it, `whsec_…`. */
export interface WebhookOfApp {
  readonly url: string
  readonly secret: string | undefined
}

/** Undefined for an app without one. */
export async function findWebhookOfApp({ db, keys }: Deps, appKey: string): Promise<WebhookOfApp | undefined> {
  const found = await store.findWebhook(db, appKey)
  if (!found) return undefined
  const { webhook_url: url, webhook_secret: sealed } = found
  return { url, secret: sealed ? decryptSecret(keys, sealed, store.webhookSecretContext(appKey)) : undefined }
}

/** Makes a secret, and returns it to be shown this once. */
export async function makeWebhookSecret({ db, keys }: Pick<Deps, 'db' | 'keys'>, appKey: string): Promise<string> {
  const secret = newWebhookSecret()
  await store.setWebhookSecret(db, appKey, encryptSecret(keys, secret, store.webhookSecretContext(appKey)))
  return secret
}

/** Which secret a webhook has after a change: a new one at another address, none without an address. */
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

/** For the audit log: the address of a webhook often holds a secret, in its path as well as in its query. */
export const maskedWebhook = (url: string | null): string | null => url && `${new URL(url).origin}/…`
