import { verify } from '../authenticate.ts'
import { readLooseAuthorization } from './authorization.ts'

export interface DiagnosedCall {
  readonly method: string
  /** Request target as sent, or the URL that was pasted. */
  readonly url: string
  /** Host header, to recognise that the full URL was signed. */
  readonly host?: string | undefined
  readonly date?: string | undefined
  readonly authorization?: string | undefined
  readonly partnerId?: string | undefined
  /** Names of signature headers that were sent more than once. */
  readonly doubled?: readonly string[]
}

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
  /** The mount paths of the endpoints, from MTP_PATH_PREFIXES. */
  readonly mounts: readonly string[]
  /** MTP_PATH_PREFIXES; a path that they map may be signed in either form. */
  readonly prefixes?: readonly string[]
}

/** Signed with a live secret, over one of the paths that may be signed. */
export const isCorrectlySigned = (
  { authorization = '', date = '', ...call }: DiagnosedCall,
  { clientId, secrets }: DiagnosedPartner,
  prefixes?: readonly string[],
): boolean => verify({ ...call, authorization, date }, clientId, secrets, prefixes) !== null

/** Whether diagnosing this call takes a search for mistakes in its signature. */
export const needsSearch = (
  call: DiagnosedCall,
  partner: DiagnosedPartner,
  { prefixes }: Pick<DiagnosisSettings, 'prefixes'>,
): boolean =>
  (call.date ?? '') !== '' &&
  readLooseAuthorization(call.authorization ?? '').signature !== '' &&
  !isCorrectlySigned(call, partner, prefixes)
