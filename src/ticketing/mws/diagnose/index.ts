import { mountsOf } from '../../../platform/config/mounts.ts'
import { stringToSign } from '../../../platform/lib/crypto/signing.ts'
import { decodedPath, pathAsSent } from '../../../platform/lib/web/request-target.ts'
import { namesPartner, type PartnerCall, signedWithQuery, verify } from '../authenticate.ts'
import { readLooseAuthorization } from './authorization.ts'
import { diagnoseDate } from './date-header.ts'
import { type ExplainedSignature, explainSignature, needsSecret, RECIPES, signedText } from './find-mistakes.ts'
import { type MistakeName, mistake, type Warning } from './mistakes.ts'
import type { Evidence, Recipe } from './recipe.ts'

/** A call as sent, or as it was pasted; `host` is the Host header, to recognise that the full URL was signed. */
export type DiagnosedCall = Pick<PartnerCall, 'method' | 'url'> &
  Partial<PartnerCall> & { readonly host?: string | undefined }

/** The partner that the call claims to come from, found by clientId or else by PartnerId. */
export interface DiagnosedPartner {
  readonly clientId: string
  readonly partnerId: string
  readonly secrets: readonly string[]
  readonly suspended?: boolean
  /** In stage sandbox, where the warnings of live partners are mistakes. */
  readonly strict?: boolean
}

export interface DiagnosisSettings {
  readonly now: Date
  /** MTP_CLOCK_SKEW_S */
  readonly skewSeconds: number
  /** MTP_PATH_PREFIXES */
  readonly prefixes: readonly string[]
}

export interface Diagnosis {
  /** Those of the signature before those of the Date; empty if the call would be accepted. */
  readonly mistakes: readonly MistakeName[]
  readonly explanation: string
  /** What should have been signed. The right signature itself is never revealed. */
  readonly stringToSign: string
  /** What was signed instead, if that was found. */
  readonly signedInstead?: string
  /** The call is accepted despite them. */
  readonly warnings: readonly Warning[]
  /** Whether the signer holds a secret of the partner, even if it used it wrongly. */
  readonly verified: boolean
}

/** Signed with a live secret, over one of the paths that may be signed. */
const isCorrectlySigned = (
  { authorization = '', date = '', ...call }: DiagnosedCall,
  { clientId, secrets }: DiagnosedPartner,
  { prefixes }: DiagnosisSettings,
): boolean => verify({ ...call, authorization, date }, clientId, secrets, prefixes) !== null

/** Whether diagnosing this call takes a search for mistakes in its signature. */
export const needsSearch = (call: DiagnosedCall, partner: DiagnosedPartner, settings: DiagnosisSettings): boolean =>
  (call.date ?? '') !== '' &&
  readLooseAuthorization(call.authorization ?? '').signature !== '' &&
  !isCorrectlySigned(call, partner, settings)

type Explained = ExplainedSignature & { readonly verified: boolean }

/** Finds out how a call was signed; null if nothing explains it. */
type Explain = (
  call: DiagnosedCall,
  partner: DiagnosedPartner,
  settings: DiagnosisSettings,
) => Explained | null | 'busy'

/** Longer requests are no real attempts, and would make every recipe slower. */
const LONGEST = 1_024

/** Tries the known mistakes, alone and in pairs: 30 to 100 ms of work if none matches. */
export function explain(
  call: DiagnosedCall,
  partner: DiagnosedPartner,
  { prefixes }: DiagnosisSettings,
  recipes: readonly Recipe[] = RECIPES,
): Explained | null {
  const path = pathAsSent(call.url)
  const question = call.url.indexOf('?')
  const { signature } = readLooseAuthorization(call.authorization ?? '')
  const evidence: Omit<Evidence, 'path' | 'secret'> = {
    method: call.method.toUpperCase(),
    query: question < 0 ? '' : call.url.slice(question),
    host: call.host ?? /^https?:\/\/([^/?#]+)/i.exec(call.url)?.[1],
    mounts: mountsOf(prefixes),
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

interface SignatureFindings extends Pick<Diagnosis, 'mistakes' | 'signedInstead' | 'verified'> {
  readonly warnings?: Diagnosis['warnings']
}

function judgeSignature(
  call: DiagnosedCall,
  partner: DiagnosedPartner,
  settings: DiagnosisSettings,
  explainCall: Explain,
): SignatureFindings {
  const { authorization = '', date = '' } = call
  const { mistakes, signature, clientId } = readLooseAuthorization(authorization)
  if (signature === '') return { mistakes, verified: false }
  if (isCorrectlySigned(call, partner, settings)) {
    const { secrets } = partner
    const query = signedWithQuery({ ...call, authorization, date }, partner.clientId, secrets, settings.prefixes)
    if (!query) return { mistakes, verified: true }
    return partner.strict
      ? { mistakes: [...mistakes, 'query-signed'], verified: true }
      : { mistakes, warnings: ['query-signed'], verified: true }
  }
  const named = [...mistakes]
  if (clientId !== partner.clientId)
    named.push(clientId === partner.partnerId ? 'partner-id-instead-of-client-id' : 'client-id-unknown')
  if (date === '') return { mistakes: named, verified: false }
  const explained = explainCall(call, partner, settings)
  if (explained === 'busy') return { mistakes: [...named, 'diagnosis-busy'], verified: false }
  if (explained === null) return { mistakes: [...named, 'signature-unrecognised'], verified: false }
  const { recipes, signing, verified } = explained
  return { mistakes: [...named, ...recipes.map(({ name }) => name)], signedInstead: signedText(signing), verified }
}

/** Names the mistakes of a signed call; `explainCall` finds those in its signature. */
export function diagnose(
  call: DiagnosedCall,
  partner: DiagnosedPartner,
  settings: DiagnosisSettings,
  explainCall: Explain = explain,
): Diagnosis {
  const { partnerId, date = '' } = call
  const signature = judgeSignature(call, partner, settings, explainCall)
  const names: MistakeName[] = call.doubled?.length ? ['header-doubled'] : []
  names.push(...signature.mistakes)
  if (partnerId === undefined && partner.strict) names.push('partner-id-missing')
  if (partnerId !== undefined && !namesPartner(partnerId, BigInt(partner.partnerId))) names.push('partner-id-mismatch')
  const wrongDate = diagnoseDate(date, settings.now, settings.skewSeconds)
  const mistakes = [...names.map((name) => mistake(name)), ...(wrongDate ? [wrongDate] : [])]
  if (mistakes.length === 0 && partner.suspended) mistakes.push(mistake('partner-suspended'))
  const warnings: Warning[] = partnerId === undefined && !partner.strict ? ['partner-id-missing'] : []
  const right = stringToSign({ method: call.method, path: pathAsSent(call.url), date })
  const { signedInstead, verified } = signature
  return {
    mistakes: mistakes.map(({ name }) => name),
    explanation:
      mistakes.map(({ explanation }) => explanation).join(' ') ||
      'The signature is correct and the Date is within the limit.',
    stringToSign: right,
    ...(signedInstead === undefined || signedInstead === right ? {} : { signedInstead }),
    warnings: [...warnings, ...(signature.warnings ?? [])],
    verified,
  }
}
