import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { Keys } from './keys.ts'

const ALGORITHM = 'aes-256-gcm'
const IV_BYTES = 12
const TAG_BYTES = 16

/**
 * Encrypts a secret that must be readable again: initialisation vector, ciphertext and tag in one buffer. The context
 * (which row it belongs to) is authenticated with it, so that what is sealed for one row does not open in another.
 */
export function seal(keys: Keys, text: string, context: string): Buffer {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv(ALGORITHM, keys.seal, iv, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(context))
  return Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
}

/** The text that was sealed; throws when key, context or buffer is not the one of then. */
export function open(keys: Keys, sealed: Buffer, context: string): string {
  try {
    const [iv, tag] = [sealed.subarray(0, IV_BYTES), sealed.subarray(-TAG_BYTES)]
    const decipher = createDecipheriv(ALGORITHM, keys.seal, iv, { authTagLength: TAG_BYTES })
    decipher.setAAD(Buffer.from(context)).setAuthTag(tag)
    const text = decipher.update(sealed.subarray(IV_BYTES, -TAG_BYTES))
    return Buffer.concat([text, decipher.final()]).toString('utf8')
  } catch (cause) {
    const why = 'SECRET_KEY is not the one that it was sealed with, or its row was altered'
    throw new Error(`a sealed secret cannot be opened: ${why}`, { cause })
  }
}
