import { createCipheriv, createDecipheriv } from 'node:crypto'
import { type LocalizedText, localized } from '../localized-text.ts'

/**
 * HTTP bodies as some partners encrypt them: AES-128-CBC with PKCS#7, as bare standard Base64. The scheme is theirs.
 * The IV is derived from the key, so equal prefixes encrypt alike, and there is no integrity check: it comes on top of
 * TLS and the signature, and replaces neither.
 */

/** 16 printable ASCII characters, which are the key itself, or its bytes as 32 hex digits. */
export const AES_KEY = /^(?:[\x20-\x7e]{16}|[0-9a-f]{32})$/i

/** Header of an encrypted body; its value is `encrypted`. */
export const ENCRYPTION_HEADER = 'X-Encryption-Status'
/** The header's name in Node's incoming requests. */
export const ENCRYPTION_STATUS = 'x-encryption-status'

/** Marks a stored call among its headers: the body came encrypted and is stored decrypted. */
export const BODY_DECRYPTED = 'gatehouse-body-decrypted'
/** Header of each call to a partner that has a key: its clientId. */
export const APP_KEY_HEADER = 'AppKey'

const BLOCK = 16
const HALF = BLOCK / 2

function cipherOf(key: string): readonly [algorithm: string, key: Buffer, iv: Buffer] {
  const bytes = Buffer.from(key, key.length === BLOCK ? 'latin1' : 'hex')
  // The IV is the key rotated left by eight bytes.
  return ['aes-128-cbc', bytes, Buffer.concat([bytes.subarray(HALF), bytes.subarray(0, HALF)])]
}

export function encryptBody(key: string, text: string): string {
  const cipher = createCipheriv(...cipherOf(key))
  return Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]).toString('base64')
}

/**
 * One text for both wrong padding and a decrypted body that is not JSON: two would be a padding oracle, with which
 * anyone who may send bodies could decrypt other bodies byte by byte.
 */
export const KEY_DOES_NOT_FIT = localized('key-does-not-fit')

type OpenedBody = { readonly bytes: Buffer; readonly decrypted: boolean } | { readonly problem: LocalizedText }

/** Reads a plain or encrypted body; `status` is its X-Encryption-Status. Plain JSON shows by its first character. */
export function openBody(bytes: Buffer, status: unknown, key: string | null): OpenedBody {
  if (isPlain(bytes)) return { bytes, decrypted: false }
  const text = bytes.toString('latin1').trim()
  const promised = text !== '' && String(status).trim().toLowerCase() === 'encrypted'
  if (!BASE64.test(text))
    return promised ? { problem: localized('not-base64', { header: ENCRYPTION_HEADER }) } : { bytes, decrypted: false }
  if (!promised && text.length < SHORTEST) return { bytes, decrypted: false }
  if (key === null) return { problem: localized('no-key') }
  const encrypted = Buffer.from(text, 'base64')
  if (encrypted.length % BLOCK !== 0) {
    return { problem: localized('not-whole-blocks', { bytes: encrypted.length, block: BLOCK }) }
  }
  try {
    const decipher = createDecipheriv(...cipherOf(key))
    return { bytes: Buffer.concat([decipher.update(encrypted), decipher.final()]), decrypted: true }
  } catch {
    return { problem: KEY_DOES_NOT_FIT }
  }
}

// Some encoders wrap lines.
const BASE64 = /^[A-Za-z0-9+/\r\n]+={0,2}$/
/** One block. Shorter texts are plain words, such as `success`. */
const SHORTEST = Math.ceil(BLOCK / 3) * 4

const SPACES: readonly (number | undefined)[] = [0x20, 0x09, 0x0a, 0x0d]
const BRACES: readonly (number | undefined)[] = [0x7b, 0x5b]

function isPlain(bytes: Buffer): boolean {
  let at = 0
  while (SPACES.includes(bytes[at])) at++
  return BRACES.includes(bytes[at])
}
