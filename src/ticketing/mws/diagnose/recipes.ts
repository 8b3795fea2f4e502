import { createHash, createHmac } from 'node:crypto'
import { MOUNT } from '../../../platform/config/mounts.ts'
import { readOr } from '../../../platform/lib/read-or.ts'
import { PATH } from '../../mws-wire/index.ts'
import { type Digest, type Evidence, mistakesIn, type Recipe } from './recipe.ts'

const HEX = /^(?:[0-9a-f]{2})+$/i
const ANY_BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/

const decodings = (secret: string): Buffer[] => [
  ...(HEX.test(secret) ? [Buffer.from(secret, 'hex')] : []),
  ...(ANY_BASE64.test(secret) ? [Buffer.from(secret, 'base64')] : []),
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

// ---- the path that was signed

/** Splits `/rhone/mtp/api/…` into prefix and endpoint; undefined for any other path. */
function split({ path, mounts }: Evidence): { mount: string; tail: string } | undefined {
  const mount = mounts.find((candidate) => path.startsWith(`${candidate}/`))
  return mount === undefined ? undefined : { mount, tail: path.slice(mount.length) }
}

function fullUrls({ host, path, query }: Evidence): string[] {
  if (host === undefined) return []
  const hosts = [...new Set([host, host.replace(/:\d+$/, '')])]
  const origins = hosts.flatMap((name) => [`https://${name}`, `http://${name}`])
  return [...hosts.map((name) => name + path), ...origins.flatMap((origin) => [origin + path, origin + path + query])]
}

/** Other environments, and the older interface's `/lv/` instead of `/mtp/api/`, which some partners still use. */
function otherEnvironments(evidence: Evidence): string[] {
  const { path, mounts } = evidence
  const tail = split(evidence)?.tail
  if (tail === undefined) return []
  const older = mounts.filter((mount) => mount.endsWith(MOUNT)).map((mount) => `${mount.slice(0, -MOUNT.length)}/lv`)
  return [...mounts, ...older].map((mount) => mount + tail).filter((other) => other !== path)
}

function otherEndpoints(evidence: Evidence): string[] {
  const mount = split(evidence)?.mount
  if (mount === undefined) return []
  return Object.values(PATH)
    .map((tail) => mount + tail)
    .filter((other) => other !== evidence.path)
}

export const pathRecipes = mistakesIn('path', {
  'full-url-signed': fullUrls,
  'query-signed': ({ path, query }) => [path + query, `${path}?`],
  'path-of-another-environment': otherEnvironments,
  'path-of-another-endpoint': otherEndpoints,
  'path-slash': ({ path }) => [path.slice(1), `${path}/`, path.replace(/\/$/, ''), `/${path}`],
  'path-encoded': ({ path }) => {
    const encoded = encodeURIComponent(path)
    return [encoded, encoded.replaceAll('%2F', '%2f')]
  },
})

// ---- the encoding of the digest

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const LONGEST = 512

/** The bytes of canonical Base64, which is all that the verifier accepts; null for any other text. */
export function fromCanonicalBase64(text: string): Buffer | null {
  const bytes = fromBase64(text)
  return bytes?.toString('base64') === text ? bytes : null
}

/** The bytes of standard Base64, whatever its unused last bits; null for any other text. */
const fromBase64 = (text: string): Buffer | null =>
  text.length > 0 && text.length <= LONGEST && BASE64.test(text) ? Buffer.from(text, 'base64') : null

const fromHex = (text: string): Buffer | null =>
  text.length <= LONGEST && HEX.test(text) ? Buffer.from(text, 'hex') : null

const inner = (text: string): string => fromBase64(text)?.toString('latin1') ?? ''

const LINE_BREAK = /[\s\u200b]|%0[ad]|\\[rn]/gi

const urlDecoded = (text: string): string => readOr(() => decodeURIComponent(text), '')

const known = (...decoded: (Buffer | null)[]): Buffer[] => decoded.filter((bytes) => bytes !== null)

/** Mistakes in encoding the digest. Each recipe undoes one and returns the intended bytes. */
export const encodingRecipes = mistakesIn('received', {
  'hex-instead-of-base64': ({ signature }) => known(fromHex(signature)),
  'base64-of-hex': ({ signature }) => known(fromHex(inner(signature))),
  'base64-twice': ({ signature }) => known(fromBase64(inner(signature))),
  base64url: ({ signature }) =>
    /^[\w-]*[-_][\w-]*={0,2}$/.test(signature) ? [Buffer.from(signature, 'base64url')] : [],
  'base64-padding-missing': ({ signature }) => known(...['=', '=='].map((padding) => fromBase64(signature + padding))),
  'base64-last-character': ({ signature }) =>
    fromCanonicalBase64(signature) === null ? known(fromBase64(signature)) : [],
  'base64-line-breaks': ({ signature }) =>
    signature.search(LINE_BREAK) < 0 ? [] : known(fromBase64(signature.replace(LINE_BREAK, ''))),
  'signature-url-encoded': ({ signature }) => [
    ...(signature.includes('%') ? known(fromBase64(urlDecoded(signature))) : []),
    ...(signature.includes(' ') ? known(fromBase64(signature.replaceAll(' ', '+'))) : []),
  ],
})
