import { decodedPath, namesPartner, pathAsSent, stringToSign, verify } from '../signature.ts'
import { AUTHORIZATION_MISTAKES, readLooseAuthorization } from './authorization.ts'
import { DATE_MISTAKES, diagnoseDate } from './date-header.ts'
import type { Evidence, Mistake } from './recipe.ts'
import { type Explained, explainSignature, RECIPES, signedText } from './search.ts'

export { readLooseAuthorization } from './authorization.ts'
export type { Mistake } from './recipe.ts'

const CREDENTIAL_MISTAKES = {
  headerDoubled: {
    name: 'header-doubled',
    explanation: 'Authorization, Date or PartnerId came more than once; send each exactly once.',
  },
  clientIdUnknown: {
    name: 'client-id-unknown',
    explanation: 'No partner has this clientId.',
  },
  partnerIdForClientId: {
    name: 'partner-id-instead-of-client-id',
    explanation: 'The Authorization header holds the PartnerId where the clientId belongs.',
  },
  partnerIdMismatch: {
    name: 'partner-id-mismatch',
    explanation: 'The PartnerId header does not belong to this clientId.',
  },
  suspended: {
    name: 'partner-suspended',
    explanation:
      'The call is right, but the partner is suspended: nothing that it sends is accepted until it is active.',
  },
  unrecognised: {
    name: 'signature-unrecognised',
    explanation:
      'The signature fits no mistake that we know, nor two together. Check first that the clientSecret is the one issued for this clientId.',
  },
} as const satisfies Record<string, Mistake>

/** Every mistake that a diagnosis can name, for the README's table. */
export const MISTAKES: readonly Mistake[] = [
  ...Object.values(AUTHORIZATION_MISTAKES),
  ...Object.values(CREDENTIAL_MISTAKES),
  ...RECIPES.map(({ name, explanation }) => ({ name, explanation })),
  ...Object.values(DATE_MISTAKES),
]

export interface DiagnosedCall {
  readonly method: string
  /** Request target as sent, or the URL that was pasted. */
  readonly url: string
  /** Host header, to recognise a signed full URL. */
  readonly host?: string | undefined
  readonly date?: string | undefined
  readonly authorization?: string | undefined
  readonly partnerId?: string | undefined
  /** Names of signature headers that came more than once. */
  readonly doubled?: readonly string[]
}

/** The partner that the call claims to come from, found by clientId or, when that fails, by PartnerId. */
export interface DiagnosedPartner {
  readonly clientId: string
  readonly partnerId: string
  readonly secrets: readonly string[]
  readonly suspended?: boolean
}

export interface DiagnosisSettings {
  readonly now: Date
  /** MTP_CLOCK_SKEW_S */
  readonly skewSeconds: number
  /** MTP_PATH_PREFIXES, the empty one included. */
  readonly prefixes: readonly string[]
}

export interface Diagnosis {
  /** Stable names, the signature's before the Date's; empty when the call would be accepted. */
  readonly mistakes: readonly string[]
  readonly explanation: string
  /** What should have been signed. The right signature itself is never told. */
  readonly stringToSign: string
  /** What was signed instead, as far as that was found out. */
  readonly signedInstead?: string
}

/** Longer requests are no honest try, and each recipe would pay for them. */
const LONGEST = 1_024

function explain(call: DiagnosedCall, partner: DiagnosedPartner, settings: DiagnosisSettings): Explained | null {
  const path = pathAsSent(call.url)
  const question = call.url.indexOf('?')
  const { signature } = readLooseAuthorization(call.authorization ?? '')
  const evidence: Omit<Evidence, 'path' | 'secret'> = {
    method: call.method.toUpperCase(),
    query: question < 0 ? '' : call.url.slice(question),
    host: call.host ?? /^https?:\/\/([^/?#]+)/i.exec(call.url)?.[1],
    prefixes: settings.prefixes,
    date: call.date ?? '',
    clientId: partner.clientId,
    partnerId: partner.partnerId,
    signature,
  }
  const length = call.url.length + evidence.date.length + (evidence.host?.length ?? 0) + signature.length
  if (length > LONGEST) return null
  for (const secret of partner.secrets) {
    for (const right of new Set([path, decodedPath(path)])) {
      const explained = explainSignature({ ...evidence, path: right, secret })
      if (explained !== null) return explained
    }
  }
  return null
}

function signatureMistakes(
  call: DiagnosedCall,
  partner: DiagnosedPartner | null,
  settings: DiagnosisSettings,
): { mistakes: Mistake[]; signedInstead?: string } {
  const { authorization = '', date = '' } = call
  const loose = readLooseAuthorization(authorization)
  const mistakes = [...loose.mistakes]
  if (loose.signature === '') return { mistakes }
  if (partner === null) return { mistakes: [...mistakes, CREDENTIAL_MISTAKES.clientIdUnknown] }
  if (verify({ ...call, authorization, date }, partner.clientId, partner.secrets) !== null) return { mistakes }
  if (loose.clientId !== partner.clientId) {
    const swapped = loose.clientId === partner.partnerId
    mistakes.push(swapped ? CREDENTIAL_MISTAKES.partnerIdForClientId : CREDENTIAL_MISTAKES.clientIdUnknown)
  }
  if (date === '') return { mistakes }
  const explained = explain(call, partner, settings)
  if (explained === null) return { mistakes: [...mistakes, CREDENTIAL_MISTAKES.unrecognised] }
  return { mistakes: [...mistakes, ...explained.recipes], signedInstead: signedText(explained.signing) }
}

/** Names what is wrong with a signed call (sandbox, step 2), by recomputing its signature under every known mistake. */
export function diagnose(
  call: DiagnosedCall,
  partner: DiagnosedPartner | null,
  settings: DiagnosisSettings,
): Diagnosis {
  const signature = signatureMistakes(call, partner, settings)
  const mismatch =
    partner !== null && call.partnerId !== undefined && !namesPartner(call.partnerId, BigInt(partner.partnerId))
  const date = diagnoseDate(call.date ?? '', settings.now, settings.skewSeconds)
  const mistakes: Mistake[] = [
    ...(call.doubled?.length ? [CREDENTIAL_MISTAKES.headerDoubled] : []),
    ...signature.mistakes,
    ...(mismatch ? [CREDENTIAL_MISTAKES.partnerIdMismatch] : []),
    ...(date === null ? [] : [date]),
  ]
  if (mistakes.length === 0 && partner?.suspended) mistakes.push(CREDENTIAL_MISTAKES.suspended)
  const right = stringToSign({ method: call.method, path: pathAsSent(call.url), date: call.date ?? '' })
  const { signedInstead } = signature
  return {
    mistakes: mistakes.map(({ name }) => name),
    explanation:
      mistakes.map(({ explanation }) => explanation).join(' ') || 'The signature is right and the Date is in time.',
    stringToSign: right,
    ...(signedInstead === undefined || signedInstead === right ? {} : { signedInstead }),
  }
}
