import { verify } from '../authenticate.ts'
import { readLooseAuthorization } from './authorization.ts'

export interface DiagnosedCall {
  readonly method: string
  /** Request target as sent, or the URL that was pasted. */
  readonly url: string
  /** Host header, to recognise a signed full URL. */
  readonly host?: string | undefined
  readonly date?: string | undefined
  readonly authorization?: string | undefined
  readonly partnerId?: string | undefined
  /** Names of signature headers that were sent more than once. */
  readonly doubled?: readonly string[]
}

/** The partner that the call claims to come from, found by clientId or, when that fails, by PartnerId. */
export interface DiagnosedPartner {
  readonly clientId: string
  readonly partnerId: string
  readonly secrets: readonly string[]
  readonly suspended?: boolean
  /** In stage sandbox: warnings of live partners count as mistakes. */
  readonly strict?: boolean
}

export interface DiagnosisSettings {
  readonly now: Date
  /** MTP_CLOCK_SKEW_S */
  readonly skewSeconds: number
  /** The paths below which the endpoints are, as MTP_PATH_PREFIXES says. */
  readonly mounts: readonly string[]
  /** MTP_PATH_PREFIXES; what they map may be signed as either path. */
  readonly prefixes?: readonly string[]
}

/** As the verifier says: with one of the live secrets, over one of the paths that may be signed. */
export const isCorrectlySigned = (
  { authorization = '', date = '', ...call }: DiagnosedCall,
  { clientId, secrets }: DiagnosedPartner,
  prefixes?: readonly string[],
): boolean => verify({ ...call, authorization, date }, clientId, secrets, prefixes) !== null

/** Whether a diagnosis of this call has to look for mistakes in its signature. */
export const needsSearch = (
  call: DiagnosedCall,
  partner: DiagnosedPartner,
  { prefixes }: Pick<DiagnosisSettings, 'prefixes'>,
): boolean =>
  (call.date ?? '') !== '' &&
  readLooseAuthorization(call.authorization ?? '').signature !== '' &&
  !isCorrectlySigned(call, partner, prefixes)
