import { createHash, createHmac } from 'node:crypto'
import { type Digest, mistakesIn, type Recipe } from './recipe.ts'

const HEX = /^(?:[0-9a-f]{2})+$/i
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/

const decodings = (secret: string): Buffer[] => [
  ...(HEX.test(secret) ? [Buffer.from(secret, 'hex')] : []),
  ...(BASE64.test(secret) ? [Buffer.from(secret, 'base64')] : []),
]

const LABELS = ['clientSecret=', 'clientSecret:', 'clientSecret: ', 'secret=', 'secret:', 'secret: ']

export const keyRecipes = mistakesIn('key', {
  'secret-with-white-space': ({ secret }) => [
    ...['\n', '\r\n', ' ', '\t'].map((space) => secret + space),
    ...[' ', '\ufeff'].map((space) => space + secret),
    ` ${secret} `,
  ],
  'secret-with-prefix': ({ secret, clientId }) => [...LABELS, `${clientId}:`].map((label) => label + secret),
  'secret-quoted': ({ secret }) => [`"${secret}"`, `'${secret}'`],
  'secret-in-other-case': ({ secret }) => [secret.toUpperCase(), secret.toLowerCase()],
  'secret-cut': ({ secret }) => [secret.slice(0, -1), secret.slice(1)],
  'secret-decoded': ({ secret }) => decodings(secret),
  'secret-encoded': ({ secret }) => [Buffer.from(secret).toString('base64'), Buffer.from(secret).toString('hex')],
  'client-id-as-key': ({ clientId }) => [clientId],
  'partner-id-as-key': ({ partnerId }) => [partnerId],
})

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
const hmacUsed = (hash: Hash) => {
  const digest = hmac(hash)
  return () => [digest]
}

const swapped: Digest = {
  bytes: BYTES.sha1,
  compute: (key, text) => createHmac('sha1', text).update(key).digest(),
}
const JOINS: readonly Joined[] = [(key, text) => [key, text], (key, text) => [text, key], (_key, text) => [text]]
const withoutHmac = (['sha1', 'md5'] as const).flatMap((hash) => JOINS.map((join) => plain(hash, join)))

export const digestRecipes = mistakesIn('digest', {
  'sha-256-used': hmacUsed('sha256'),
  'sha-512-used': hmacUsed('sha512'),
  'sha-224-used': hmacUsed('sha224'),
  'sha-384-used': hmacUsed('sha384'),
  'ripemd-160-used': hmacUsed('ripemd160'),
  'md5-used': hmacUsed('md5'),
  'key-and-message-swapped': () => [swapped],
  'hmac-missing': () => withoutHmac,
})

/** Mistakes in the frame of the string to sign: method, space, line feed, end. */
export const textRecipes: readonly Recipe[] = [
  ...mistakesIn('method', {
    'method-lower-case': ({ method }) => [method.toLowerCase(), method[0] + method.slice(1).toLowerCase()],
    'method-wrong': ({ method }) => ['POST', 'GET'].filter((other) => other !== method),
    'method-missing': () => [''],
  }),
  ...mistakesIn('space', {
    'space-missing': () => [''],
    'space-replaced': () => ['\n', '  ', '\t'],
  }),
  ...mistakesIn('newline', {
    'newline-missing': () => [''],
    'newline-literal': () => ['\\n', '/n'],
    'newline-crlf': () => ['\r\n'],
    'newline-replaced': () => [' ', '\n\n', '\r', ','],
  }),
  ...mistakesIn('end', { 'trailing-newline': () => ['\n', '\r\n'] }),
]
