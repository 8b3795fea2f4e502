import { execFileSync } from 'node:child_process'

/**
 * Encrypted bodies as a partner's program makes them, by the openssl command: nothing of src/ is imported here, so an
 * error there cannot hide behind the same error in the tests.
 */

const hexOf = (key: string): string => (key.length === 32 ? key : Buffer.from(key, 'latin1').toString('hex'))

function openssl(key: string, input: string | Buffer, ...more: string[]): Buffer {
  const hex = hexOf(key)
  const iv = hex.slice(16) + hex.slice(0, 16)
  const most = { input, maxBuffer: 8 * 1_048_576, stdio: ['pipe', 'pipe', 'pipe'] as ['pipe', 'pipe', 'pipe'] }
  return execFileSync('openssl', ['enc', '-aes-128-cbc', '-K', hex, '-iv', iv, ...more], most)
}

export const aesEncrypted = (key: string, text: string | Buffer): string => openssl(key, text).toString('base64')

/** Throws for what the key does not fit. */
export const aesDecrypted = (key: string, base64: string): string =>
  openssl(key, Buffer.from(base64, 'base64'), '-d').toString('utf8')
