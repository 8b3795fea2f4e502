import { randomUUID } from 'node:crypto'
import type { Keys } from '../lib/crypto/keys.ts'
import { open, seal } from '../lib/crypto/sealing.ts'
import type { SealedSecret } from './partner-store.ts'

/** A live clientSecret of a partner, readable: to verify the partner's calls and, if it `signs`, to sign ours. */
export interface PartnerSecret {
  secret_id: string
  secret: string
  /** To the minute; null: never. */
  last_used_at: Date | null
  signs: boolean
}

// A sealed secret that was moved to another partner's row must not open there.
const contextOf = (partnerId: bigint, secretId: string): string => `partner_secret ${partnerId} ${secretId}`

export function sealSecret(keys: Keys, partnerId: bigint, secret: string): { secret_id: string; sealed: Buffer } {
  const secret_id = randomUUID()
  return { secret_id, sealed: seal(keys, secret, contextOf(partnerId, secret_id)) }
}

export const openSecret = (
  keys: Keys,
  partnerId: bigint,
  { secret_id, sealed, last_used_at, signs }: Pick<SealedSecret, 'secret_id' | 'sealed' | 'last_used_at' | 'signs'>,
): PartnerSecret => ({ secret_id, secret: open(keys, sealed, contextOf(partnerId, secret_id)), last_used_at, signs })

const keyContextOf = (partnerId: bigint): string => `partner_aes_key ${partnerId}`

export const sealAesKey = (keys: Keys, partnerId: bigint, key: string): Buffer =>
  seal(keys, key, keyContextOf(partnerId))

export const openAesKey = (keys: Keys, partnerId: bigint, sealed: Buffer): string =>
  open(keys, sealed, keyContextOf(partnerId))
