import { createHash, createHmac } from 'node:crypto'
import type { Digest, Recipe } from './recipe.ts'

const BYTES = { md5: 16, sha1: 20, ripemd160: 20, sha224: 28, sha256: 32, sha384: 48, sha512: 64 } as const
type Hash = keyof typeof BYTES

const hmac = (hash: Hash): Digest => ({
  bytes: BYTES[hash],
  compute: (key, text) => createHmac(hash, key).update(text).digest(),
})

type Joined = (key: string | Buffer, text: string) => (string | Buffer)[]

const plain = (hash: Hash, joined: Joined): Digest => ({
  bytes: BYTES[hash],
  compute: (key, text) => {
    const digest = createHash(hash)
    for (const part of joined(key, text)) digest.update(part)
    return digest.digest()
  },
})

/** Signature rule 2: HMAC-SHA1. */
export const rightDigest: Digest = hmac('sha1')

// Created once: digests are compared by identity.
const sha256 = hmac('sha256')
const sha512 = hmac('sha512')
const md5 = hmac('md5')
const sha224 = hmac('sha224')
const sha384 = hmac('sha384')
const ripemd160 = hmac('ripemd160')
const swapped: Digest = {
  bytes: BYTES.sha1,
  compute: (key, text) => createHmac('sha1', text).update(key).digest(),
}
const JOINS: readonly Joined[] = [(key, text) => [key, text], (key, text) => [text, key], (_key, text) => [text]]
const withoutHmac = (['sha1', 'md5'] as const).flatMap((hash) => JOINS.map((join) => plain(hash, join)))

/** Mistakes in the choice of the digest. */
export const digestRecipes: readonly Recipe[] = [
  {
    name: 'sha-256-used',
    part: 'digest',
    explanation: 'HMAC-SHA256 was used; use HMAC-SHA1.',
    how: () => [sha256],
  },
  {
    name: 'sha-512-used',
    part: 'digest',
    explanation: 'HMAC-SHA512 was used; use HMAC-SHA1.',
    how: () => [sha512],
  },
  {
    name: 'sha-224-used',
    part: 'digest',
    explanation: 'HMAC-SHA224 was used; use HMAC-SHA1.',
    how: () => [sha224],
  },
  {
    name: 'sha-384-used',
    part: 'digest',
    explanation: 'HMAC-SHA384 was used; use HMAC-SHA1.',
    how: () => [sha384],
  },
  {
    name: 'ripemd-160-used',
    part: 'digest',
    explanation: 'HMAC-RIPEMD160 was used; use HMAC-SHA1.',
    how: () => [ripemd160],
  },
  {
    name: 'md5-used',
    part: 'digest',
    explanation: 'HMAC-MD5 was used; use HMAC-SHA1.',
    how: () => [md5],
  },
  {
    name: 'key-and-message-swapped',
    part: 'digest',
    explanation: 'Key and message are swapped: the key is the clientSecret, the message is the string to sign.',
    how: () => [swapped],
  },
  {
    name: 'hmac-missing',
    part: 'digest',
    explanation: 'A plain hash was used; the signature is an HMAC-SHA1 with the clientSecret as its key.',
    how: () => withoutHmac,
  },
]
