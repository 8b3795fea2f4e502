import { stringToSign } from '../../../platform/lib/crypto/signing.ts'
import { decodedPath, pathAsSent } from '../../../platform/lib/web/request-target.ts'
import { namesPartner, signedWithQuery } from '../authenticate.ts'
import { AUTHORIZATION_MISTAKES, readLooseAuthorization } from './authorization.ts'
import { CREDENTIAL_MISTAKES } from './credentials.ts'
import { DATE_MISTAKES, diagnoseDate } from './date-header.ts'
import { type DiagnosedCall, type DiagnosedPartner, type DiagnosisSettings, isCorrectlySigned } from './diagnosed.ts'
import { type ExplainedSignature, explainSignature, needsSecret, RECIPES, signedText } from './find-mistakes.ts'
import { QUERY_SIGNED } from './path-recipes.ts'
import type { Evidence, Recipe, SigningMistake } from './recipe.ts'

export { readLooseAuthorization } from './authorization.ts'
export type { DiagnosedCall, DiagnosedPartner, DiagnosisSettings } from './diagnosed.ts'
export type { SigningMistake } from './recipe.ts'

/** Every mistake that a diagnosis can name. */
export const MISTAKES: readonly SigningMistake[] = [
  ...Object.values(AUTHORIZATION_MISTAKES),
  ...Object.values(CREDENTIAL_MISTAKES),
  ...RECIPES.map(({ name, explanation }) => ({ name, explanation })),
  ...Object.values(DATE_MISTAKES),
]

export interface Diagnosis {
  /** Stable names, those of the signature before those of the Date; empty if the call would be accepted. */
  readonly mistakes: readonly string[]
  readonly explanation: string
  /** What should have been signed. The right signature itself is never revealed. */
  readonly stringToSign: string
  /** What was signed instead, if that was found. */
  readonly signedInstead?: string
  /** Stable names of warnings; the call is accepted despite them. */
  readonly warnings: readonly string[]
  /** Whether the signer holds a secret of the partner, even if it used it wrongly. */
  readonly verified: boolean
}

/** Finds out how a call was signed; null if nothing explains it. */
type Explain = (
  call: DiagnosedCall,
  partner: DiagnosedPartner,
  settings: DiagnosisSettings,
) => (ExplainedSignature & { readonly verified: boolean }) | null | 'busy'

/** Longer requests are no real attempts, and would make every recipe slower. */
const LONGEST = 1_024

/** Tries the known mistakes, alone and in pairs: 30 to 100 ms of work if none matches. */
export function explain(
  call: DiagnosedCall,
  partner: DiagnosedPartner,
  settings: DiagnosisSettings,
  recipes: readonly Recipe[] = RECIPES,
): (ExplainedSignature & { readonly verified: boolean }) | null {
  const path = pathAsSent(call.url)
  const question = call.url.indexOf('?')
  const { signature } = readLooseAuthorization(call.authorization ?? '')
  const evidence: Omit<Evidence, 'path' | 'secret'> = {
    method: call.method.toUpperCase(),
    query: question < 0 ? '' : call.url.slice(question),
    host: call.host ?? /^https?:\/\/([^/?#]+)/i.exec(call.url)?.[1],
    mounts: settings.mounts,
    date: call.date ?? '',
    clientId: partner.clientId,
    partnerId: partner.partnerId,
    signature,
  }
  const length = call.url.length + evidence.date.length + (evidence.host?.length ?? 0) + signature.length
  if (length > LONGEST) return null
  for (const secret of partner.secrets) {
    for (const right of new Set([path, decodedPath(path)])) {
      const whole = { ...evidence, path: right, secret }
      const explained = explainSignature(whole, recipes)
      if (explained !== null) return { ...explained, verified: needsSecret(whole, explained) }
    }
  }
  return null
}

interface SignatureFindings {
  readonly mistakes: readonly SigningMistake[]
  readonly warnings: readonly SigningMistake[]
  readonly signedInstead?: string
  readonly verified: boolean
}

function judgeSignature(
  call: DiagnosedCall,
  partner: DiagnosedPartner,
  settings: DiagnosisSettings,
  explainCall: Explain,
): SignatureFindings {
  const { authorization = '', date = '' } = call
  const loose = readLooseAuthorization(authorization)
  const mistakes = [...loose.mistakes]
  const nothing = { warnings: [], verified: false }
  if (loose.signature === '') return { mistakes, ...nothing }
  if (isCorrectlySigned(call, partner, settings.prefixes)) {
    const query = signedWithQuery(
      { ...call, authorization, date },
      partner.clientId,
      partner.secrets,
      settings.prefixes,
    )
    if (!query) return { mistakes, warnings: [], verified: true }
    return partner.strict
      ? { mistakes: [...mistakes, QUERY_SIGNED], warnings: [], verified: true }
      : { mistakes, warnings: [QUERY_SIGNED], verified: true }
  }
  if (loose.clientId !== partner.clientId) {
    const swapped = loose.clientId === partner.partnerId
    mistakes.push(swapped ? CREDENTIAL_MISTAKES.partnerIdForClientId : CREDENTIAL_MISTAKES.clientIdUnknown)
  }
  if (date === '') return { mistakes, ...nothing }
  const explained = explainCall(call, partner, settings)
  if (explained === 'busy') return { mistakes: [...mistakes, CREDENTIAL_MISTAKES.busy], ...nothing }
  if (explained === null) return { mistakes: [...mistakes, CREDENTIAL_MISTAKES.unrecognised], ...nothing }
  const { recipes, signing, verified } = explained
  return { mistakes: [...mistakes, ...recipes], warnings: [], signedInstead: signedText(signing), verified }
}

/** The mistakes of the PartnerId header, and its warnings. */
function judgePartnerId({ partnerId }: DiagnosedCall, partner: DiagnosedPartner): [SigningMistake[], SigningMistake[]] {
  const { partnerIdMissing, partnerIdMismatch } = CREDENTIAL_MISTAKES
  if (partnerId === undefined) return partner.strict ? [[partnerIdMissing], []] : [[], [partnerIdMissing]]
  return namesPartner(partnerId, BigInt(partner.partnerId)) ? [[], []] : [[partnerIdMismatch], []]
}

/** Names the mistakes of a signed call; `explainCall` finds those in its signature. */
export function diagnose(
  call: DiagnosedCall,
  partner: DiagnosedPartner,
  settings: DiagnosisSettings,
  explainCall: Explain = explain,
): Diagnosis {
  const signature = judgeSignature(call, partner, settings, explainCall)
  const [partnerIdMistakes, partnerIdWarnings] = judgePartnerId(call, partner)
  const date = diagnoseDate(call.date ?? '', settings.now, settings.skewSeconds)
  const mistakes: SigningMistake[] = [
    ...(call.doubled?.length ? [CREDENTIAL_MISTAKES.headerDoubled] : []),
    ...signature.mistakes,
    ...partnerIdMistakes,
    ...(date === null ? [] : [date]),
  ]
  if (mistakes.length === 0 && partner.suspended) mistakes.push(CREDENTIAL_MISTAKES.suspended)
  const right = stringToSign({ method: call.method, path: pathAsSent(call.url), date: call.date ?? '' })
  const { signedInstead, verified } = signature
  return {
    mistakes: mistakes.map(({ name }) => name),
    explanation:
      mistakes.map(({ explanation }) => explanation).join(' ') ||
      'The signature is correct and the Date is within the limit.',
    stringToSign: right,
    ...(signedInstead === undefined || signedInstead === right ? {} : { signedInstead }),
    warnings: [...partnerIdWarnings, ...signature.warnings].map(({ name }) => name),
    verified,
  }
}
