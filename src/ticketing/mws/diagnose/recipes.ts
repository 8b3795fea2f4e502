import { createHash, createHmac } from 'node:crypto'
import { type Digest, mistakesIn, type Recipe } from './recipe.ts'

const HEX = /^(?:[0-9a-f]{2})+$/i
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/

const decodings = (secret: string): Buffer[] => [
  ...(HEX.test(secret) ? [Buffer.from(secret, 'hex')] : []),
  ...(BASE64.test(secret) ? [Buffer.from(secret, 'base64')] : []),
]

const LABELS = ['clientSecret=', 'clientSecret:', 'clientSecret: ', 'secret=', 'secret:', 'secret: ']

export const keyRecipes = mistakesIn('key', [
  {
    name: 'secret-with-white-space',
    explanation:
      'The clientSecret was used with whitespace before or after it; trim what you read from a file or form.',
    how: ({ secret }) => [
      ...['\n', '\r\n', ' ', '\t'].map((space) => secret + space),
      ...[' ', '\ufeff'].map((space) => space + secret),
      ` ${secret} `,
    ],
  },
  {
    name: 'secret-with-prefix',
    explanation: 'A label or the clientId was copied together with the clientSecret; the key is the secret alone.',
    how: ({ secret, clientId }) => [...LABELS, `${clientId}:`].map((label) => label + secret),
  },
  {
    name: 'secret-quoted',
    explanation: 'The clientSecret was used with the quotation marks around it.',
    how: ({ secret }) => [`"${secret}"`, `'${secret}'`],
  },
  {
    name: 'secret-in-other-case',
    explanation: 'The clientSecret was changed to upper or lower case; use it as it was issued.',
    how: ({ secret }) => [secret.toUpperCase(), secret.toLowerCase()],
  },
  {
    name: 'secret-cut',
    explanation: 'The first or the last character of the clientSecret is missing.',
    how: ({ secret }) => [secret.slice(0, -1), secret.slice(1)],
  },
  {
    name: 'secret-decoded',
    explanation: 'The clientSecret was decoded from hex or Base64; its characters themselves are the key.',
    how: ({ secret }) => decodings(secret),
  },
  {
    name: 'secret-encoded',
    explanation: 'The clientSecret was encoded (Base64, hex) before use; its characters themselves are the key.',
    how: ({ secret }) => [Buffer.from(secret).toString('base64'), Buffer.from(secret).toString('hex')],
  },
  {
    name: 'client-id-as-key',
    explanation: 'The clientId was used as the key; the key is the clientSecret.',
    how: ({ clientId }) => [clientId],
  },
  {
    name: 'partner-id-as-key',
    explanation: 'The PartnerId was used as the key; the key is the clientSecret.',
    how: ({ partnerId }) => [partnerId],
  },
])

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

const FORM = 'The string to sign is METHOD, one space, path, one line feed (0x0A), Date.'

/** Mistakes in the frame of the string to sign: method, space, line feed, end. */
export const textRecipes: readonly Recipe[] = [
  ...mistakesIn('method', [
    {
      name: 'method-lower-case',
      explanation: 'The method must be signed in upper case, as POST.',
      how: ({ method }) => [method.toLowerCase(), method[0] + method.slice(1).toLowerCase()],
    },
    {
      name: 'method-wrong',
      explanation: 'The signed method is not the one that was sent.',
      how: ({ method }) => ['POST', 'GET'].filter((other) => other !== method),
    },
    {
      name: 'method-missing',
      explanation: `The method was not signed. ${FORM}`,
      how: () => [''],
    },
  ]),
  ...mistakesIn('space', [
    {
      name: 'space-missing',
      explanation: `The space between method and path is missing. ${FORM}`,
      how: () => [''],
    },
    {
      name: 'space-replaced',
      explanation: `Something other than one space was signed between method and path. ${FORM}`,
      how: () => ['\n', '  ', '\t'],
    },
  ]),
  ...mistakesIn('newline', [
    {
      name: 'newline-missing',
      explanation: `The line feed between path and Date is missing. ${FORM}`,
      how: () => [''],
    },
    {
      name: 'newline-literal',
      explanation:
        'A backslash (or slash) and the letter n were signed instead of a line feed (0x0A); in PHP and shells "\\n" needs double quotes or $\'…\'.',
      how: () => ['\\n', '/n'],
    },
    {
      name: 'newline-crlf',
      explanation: 'A carriage return and a line feed were signed instead of one line feed (0x0A).',
      how: () => ['\r\n'],
    },
    {
      name: 'newline-replaced',
      explanation: `Something other than one line feed was signed between path and Date. ${FORM}`,
      how: () => [' ', '\n\n', '\r', ','],
    },
  ]),
  ...mistakesIn('end', [
    {
      name: 'trailing-newline',
      explanation: 'A line break was signed after the Date; nothing follows it (with echo use printf or echo -n).',
      how: () => ['\n', '\r\n'],
    },
  ]),
]
