import type { SigningMistake } from './recipe.ts'

/** Mistakes in the form of the Authorization header, which show without any secret. */
export const AUTHORIZATION_MISTAKES = {
  missing: {
    name: 'authorization-missing',
    explanation: 'The Authorization header is missing; it is "MWS clientId:signature".',
  },
  schemeMissing: {
    name: 'scheme-missing',
    explanation: 'The scheme is missing: the header must begin with MWS and one space.',
  },
  schemeWrong: {
    name: 'scheme-wrong',
    explanation: 'The scheme is misspelt: the header must begin with MWS in upper case and one space.',
  },
  colonMissing: {
    name: 'colon-missing',
    explanation: 'The colon between clientId and signature is missing.',
  },
  whiteSpace: {
    name: 'authorization-white-space',
    explanation: 'There is extra whitespace around clientId or signature; the form is "MWS clientId:signature".',
  },
  signatureMissing: {
    name: 'signature-missing',
    explanation: 'Nothing follows the colon; the signature belongs there.',
  },
} as const satisfies Record<string, SigningMistake>

export interface LooseAuthorization {
  /** The clientId as far as it can be recognised, or empty. */
  readonly clientId: string
  readonly signature: string
  readonly mistakes: readonly SigningMistake[]
}

const OTHER_SCHEME = /^(?:MWS|Basic|Bearer|Digest|HMAC|AWS)(?:[\s:]+|(?<=MWS))/i
const M = AUTHORIZATION_MISTAKES

function splitScheme(header: string): [rest: string, mistake?: SigningMistake] {
  if (header.startsWith('MWS ')) return [header.slice('MWS '.length)]
  const other = OTHER_SCHEME.exec(header)?.[0]
  return other === undefined ? [header, M.schemeMissing] : [header.slice(other.length), M.schemeWrong]
}

/** Without a colon, the last space is taken as the separator, if there is one. */
function splitCredentials(credentials: string): [clientId: string, signature: string, mistake?: SigningMistake] {
  const colon = credentials.lastIndexOf(':')
  if (colon >= 0) return [credentials.slice(0, colon), credentials.slice(colon + 1)]
  const space = credentials.lastIndexOf(' ')
  return [credentials.slice(0, Math.max(space, 0)), credentials.slice(space + 1), M.colonMissing]
}

/** Splits any Authorization header, also one that parseAuthorization refuses, and names what is wrong with its form. */
export function readLooseAuthorization(header: string): LooseAuthorization {
  if (header.trim() === '') return { clientId: '', signature: '', mistakes: [M.missing] }
  const [credentials, scheme] = splitScheme(header)
  const [looseClientId, looseSignature, colon] = splitCredentials(credentials)
  const clientId = looseClientId.trim()
  // Line breaks stay: they are an encoding mistake with its own name. Without the lookbehind, a long run of spaces
  // inside would take quadratic time.
  const signature = looseSignature.replace(/^[ \t]+|(?<![ \t])[ \t]+$/g, '')
  const spaced = clientId !== looseClientId || signature !== looseSignature
  const mistakes = [scheme, colon, spaced ? M.whiteSpace : undefined, signature === '' ? M.signatureMissing : undefined]
  return { clientId, signature, mistakes: mistakes.filter((mistake) => mistake !== undefined) }
}
