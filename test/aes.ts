import { createCipheriv, createDecipheriv } from 'node:crypto'

/**
 * Encrypts and decrypts bodies the way a partner would, written from the contract alone. It imports nothing from src/, so
 * that a bug there cannot hide behind the same bug here. test/lib/crypto/aes-body.test.ts compares it with openssl.
 */

/** The initialisation vector is the key with its halves swapped. */
function parametersOf(key: string): ['aes-128-cbc', Buffer, Buffer] {
  const hex = key.length === 32 ? key : Buffer.from(key, 'latin1').toString('hex')
  return ['aes-128-cbc', Buffer.from(hex, 'hex'), Buffer.from(hex.slice(16) + hex.slice(0, 16), 'hex')]
}

export function aesEncrypted(key: string, text: string | Buffer): string {
  const cipher = createCipheriv(...parametersOf(key))
  return Buffer.concat([cipher.update(text), cipher.final()]).toString('base64')
}

/** Throws if the text was encrypted with another key. */
export function aesDecrypted(key: string, base64: string): string {
  const decipher = createDecipheriv(...parametersOf(key))
  return Buffer.concat([decipher.update(Buffer.from(base64, 'base64')), decipher.final()]).toString('utf8')
}
