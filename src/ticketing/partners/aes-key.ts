import type { Deps } from '../../platform/deps.ts'
import { randomDigits } from '../../platform/lib/crypto/generated-secret.ts'
import { operation } from '../../platform/lib/json/input.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { invalidRequest } from '../../platform/lib/web/rescode.ts'
import { changePartner, requirePartner } from './change.ts'
import * as store from './store.ts'
import { type AesKeyInput, aesKeyInput, type ShownPartner } from './wire.ts'

/** Every partner's program reads 16 characters; only some read 32 hex digits. 16 characters hold 95 random bits. */
const KEY_CHARACTERS = 16

const storeAesKey = (deps: Deps, partnerId: bigint, key: string, made: boolean): Promise<ShownPartner> =>
  changePartner(deps, partnerId, 'partner_aes_key_set', async ({ db }, now) => {
    await store.setAesKey(db, partnerId, store.sealAesKey(deps.keys, partnerId, key), now)
    return { made }
  })

/** Stores the key that the partner encrypts bodies with, replacing the previous one. It is never shown. */
export const setAesKey = operation(
  aesKeyInput,
  (deps: Deps, partnerId: bigint, { aes_key }: AesKeyInput): Promise<ShownPartner> =>
    storeAesKey(deps, partnerId, aes_key, false),
)

/** Replaces the key by a generated one, which is only shown now. The previous key stops working at once. */
export async function makeAesKey(deps: Deps, partnerId: bigint): Promise<ShownPartner & { aes_key: string }> {
  const aes_key = randomDigits(KEY_CHARACTERS)
  return { ...(await storeAesKey(deps, partnerId, aes_key, true)), aes_key }
}

/** Without a key calls are sent unencrypted, and encrypted bodies are refused. */
export const removeAesKey = (deps: Deps, partnerId: bigint): Promise<ShownPartner> =>
  changePartner(deps, partnerId, 'partner_aes_key_removed', async (inside, now) => {
    const { aes_key_set_at } = await requirePartner(inside, partnerId)
    if (aes_key_set_at === null) throw invalidRequest(localized('no-aes-key'), { status: 404 })
    await store.setAesKey(inside.db, partnerId, null, now)
    return {}
  })
