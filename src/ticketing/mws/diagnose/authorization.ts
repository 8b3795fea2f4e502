import type { MistakeName } from './mistakes.ts'

export interface LooseAuthorization {
  /** The clientId as far as it can be recognised, or empty. */
  readonly clientId: string
  readonly signature: string
  readonly mistakes: readonly MistakeName[]
}

const OTHER_SCHEME = /^(?:MWS|Basic|Bearer|Digest|HMAC|AWS)(?:[\s:]+|(?<=MWS))/i

function splitScheme(header: string): [rest: string, mistake?: MistakeName] {
  if (header.startsWith('MWS ')) return [header.slice('MWS '.length)]
  const other = OTHER_SCHEME.exec(header)?.[0]
  return other === undefined ? [header, 'scheme-missing'] : [header.slice(other.length), 'scheme-wrong']
}

/** Without a colon, the last space is taken as the separator, if there is one. */
function splitCredentials(credentials: string): [clientId: string, signature: string, mistake?: MistakeName] {
  const colon = credentials.lastIndexOf(':')
  if (colon >= 0) return [credentials.slice(0, colon), credentials.slice(colon + 1)]
  const space = credentials.lastIndexOf(' ')
  return [credentials.slice(0, Math.max(space, 0)), credentials.slice(space + 1), 'colon-missing']
}

/** Splits any Authorization header, also one that parseAuthorization refuses, and names what is wrong with its form. */
export function readLooseAuthorization(header: string): LooseAuthorization {
  if (header.trim() === '') return { clientId: '', signature: '', mistakes: ['authorization-missing'] }
  const [credentials, scheme] = splitScheme(header)
  const [looseClientId, looseSignature, colon] = splitCredentials(credentials)
  const clientId = looseClientId.trim()
  // Line breaks stay: they are an encoding mistake with its own name. Without the lookbehind, a long run of spaces
  // inside would take quadratic time.
  const signature = looseSignature.replace(/^[ \t]+|(?<![ \t])[ \t]+$/g, '')
  const spaced = clientId !== looseClientId || signature !== looseSignature
  const spacing = spaced ? 'authorization-white-space' : undefined
  const mistakes = [scheme, colon, spacing, signature === '' ? 'signature-missing' : undefined] as const
  return { clientId, signature, mistakes: mistakes.filter((mistake) => mistake !== undefined) }
}
