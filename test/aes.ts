import { createCipheriv, createDecipheriv } from 'node:crypto'

/**
 * Encrypted bodies as a partner's program makes them, from the contract alone: nothing of src/ is imported here, so an
 * error there cannot hide behind the same error in the tests. test/lib/crypto/aes-body.test.ts compares them with openssl.
 */

/** Its second half comes first in the initialisation vector. */
function parametersOf(key: string): ['aes-128-cbc', Buffer, Buffer] {
  const hex = key.length === 32 ? key : Buffer.from(key, 'latin1').toString('hex')
  return ['aes-128-cbc', Buffer.from(hex, 'hex'), Buffer.from(hex.slice(16) + hex.slice(0, 16), 'hex')]
}

export function aesEncrypted(key: string, text: string | Buffer): string {
  const cipher = createCipheriv(...parametersOf(key))
  return Buffer.concat([cipher.update(text), cipher.final()]).toString('base64')
}

/** Throws for what the key does not fit. */
export function aesDecrypted(key: string, base64: string): string {
  const decipher = createDecipheriv(...parametersOf(key))
  return Buffer.concat([decipher.update(Buffer.from(base64, 'base64')), decipher.final()]).toString('utf8')
}
