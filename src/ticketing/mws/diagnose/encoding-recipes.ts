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
