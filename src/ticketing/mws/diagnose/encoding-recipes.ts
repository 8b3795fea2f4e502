import { readOr } from '../../../platform/lib/read-or.ts'
import { mistakesIn } from './recipe.ts'

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const HEX = /^(?:[0-9a-f]{2})+$/i
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
export const encodingRecipes = mistakesIn('received', [
  {
    name: 'hex-instead-of-base64',
    explanation: 'The digest was written as hex; the signature is the Base64 of its raw bytes.',
    how: ({ signature }) => known(fromHex(signature)),
  },
  {
    name: 'base64-of-hex',
    explanation: 'The hex text of the digest was encoded as Base64; encode its raw bytes.',
    how: ({ signature }) => known(fromHex(inner(signature))),
  },
  {
    name: 'base64-twice',
    explanation: 'Base64 was applied twice.',
    how: ({ signature }) => known(fromBase64(inner(signature))),
  },
  {
    name: 'base64url',
    explanation: 'The URL-safe Base64 alphabet (- and _) was used; the standard one has + and /, padded with =.',
    how: ({ signature }) => (/^[\w-]*[-_][\w-]*={0,2}$/.test(signature) ? [Buffer.from(signature, 'base64url')] : []),
  },
  {
    name: 'base64-padding-missing',
    explanation: 'The = at the end of the Base64 text is missing.',
    how: ({ signature }) => known(...['=', '=='].map((padding) => fromBase64(signature + padding))),
  },
  {
    name: 'base64-last-character',
    explanation:
      'The last character before the = has bits set that no byte uses: the text was cut, changed or made by an encoder of your own. Send the Base64 of the 20 bytes as a library writes it.',
    how: ({ signature }) => (fromCanonicalBase64(signature) === null ? known(fromBase64(signature)) : []),
  },
  {
    name: 'base64-line-breaks',
    explanation:
      'The Base64 text contains line breaks; use an encoder that adds none (Java: getEncoder, Python: b64encode).',
    how: ({ signature }) =>
      signature.search(LINE_BREAK) < 0 ? [] : known(fromBase64(signature.replace(LINE_BREAK, ''))),
  },
  {
    name: 'signature-url-encoded',
    explanation: 'The signature was URL-encoded, or its + became a space; send the Base64 as it is.',
    how: ({ signature }) => [
      ...(signature.includes('%') ? known(fromBase64(urlDecoded(signature))) : []),
      ...(signature.includes(' ') ? known(fromBase64(signature.replaceAll(' ', '+'))) : []),
    ],
  },
])
