import { createHash, createHmac } from 'node:crypto'
import { type Digest, mistakesIn } from './recipe.ts'

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

/** Digests are compared by identity: each is created once. */
const hmacUsed = (name: string, hash: Hash) => {
  const digest = hmac(hash)
  return { name, explanation: `HMAC-${hash.toUpperCase()} was used; use HMAC-SHA1.`, how: () => [digest] }
}

const swapped: Digest = {
  bytes: BYTES.sha1,
  compute: (key, text) => createHmac('sha1', text).update(key).digest(),
}
const JOINS: readonly Joined[] = [(key, text) => [key, text], (key, text) => [text, key], (_key, text) => [text]]
const withoutHmac = (['sha1', 'md5'] as const).flatMap((hash) => JOINS.map((join) => plain(hash, join)))

export const digestRecipes = mistakesIn('digest', [
  hmacUsed('sha-256-used', 'sha256'),
  hmacUsed('sha-512-used', 'sha512'),
  hmacUsed('sha-224-used', 'sha224'),
  hmacUsed('sha-384-used', 'sha384'),
  hmacUsed('ripemd-160-used', 'ripemd160'),
  hmacUsed('md5-used', 'md5'),
  {
    name: 'key-and-message-swapped',
    explanation: 'Key and message are swapped: the key is the clientSecret, the message is the string to sign.',
    how: () => [swapped],
  },
  {
    name: 'hmac-missing',
    explanation: 'A plain hash was used; the signature is an HMAC-SHA1 with the clientSecret as its key.',
    how: () => withoutHmac,
  },
])
