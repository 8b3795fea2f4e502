import { createCipheriv, createDecipheriv } from 'node:crypto'

/**
 * Encrypted bodies, for both directions: AES-128-CBC with PKCS#7, as Base64. Copy this file as it is if you need them.
 * They do not replace TLS and the signature: nothing in them shows that a text was changed in transit.
 */

/** The header of an encrypted body; its value is `encrypted`. */
export const ENCRYPTION_HEADER = 'X-Encryption-Status'

/** A key is 16 characters, or the hex digits of its 16 bytes; the initialisation vector is the key with its halves swapped. */
function cipherOf(key: string): [algorithm: string, key: Buffer, iv: Buffer] {
  const bytes = key.length === 32 ? Buffer.from(key, 'hex') : Buffer.from(key, 'latin1')
  return ['aes-128-cbc', bytes, Buffer.concat([bytes.subarray(8), bytes.subarray(0, 8)])]
}

export function encrypted(key: string, text: string): string {
  const cipher = createCipheriv(...cipherOf(key))
  return Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]).toString('base64')
}

/**
 * Throws if the key does not fit. Answer every error thrown here with the same text: different texts would let callers
 * decrypt bodies (padding oracle).
 */
export function decrypted(key: string, base64: string): string {
  const decipher = createDecipheriv(...cipherOf(key))
  return Buffer.concat([decipher.update(base64, 'base64'), decipher.final()]).toString('utf8')
}
