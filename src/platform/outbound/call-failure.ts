import type { CallLimits } from '../config/call-limits.ts'
import { type LocalizedText, localized } from '../lib/localized-text.ts'

/** What a connection is waiting for. */
export type ConnectPhase = 'dns' | 'connect' | 'tls'

/**
 * What went wrong below HTTP. `address`: not allowed; `dns`, `connect`, `tls`: could not connect; `timeout`,
 * `too-large`: the response took too long or was too large; `broken`: no complete HTTP response arrived.
 */
export type CallFailure = 'address' | ConnectPhase | 'timeout' | 'too-large' | 'broken'

/** Maximum bytes of the names and values of all headers of one response. */
export const HEADER_BYTES = 16_384

const KIB = 1_024

const size = (bytes: number): string => (bytes % (KIB * KIB) === 0 ? `${bytes / KIB / KIB} MiB` : `${bytes / KIB} KiB`)
const seconds = (ms: number): number => ms / 1_000

const CONNECTING = { dns: 'not-resolved-within', connect: 'not-connected-within', tls: 'no-tls-within' } as const

/** How a call ended. `isAnswered`: the response headers had arrived. */
interface CallEnd {
  readonly failure: CallFailure
  readonly code: string | undefined
  readonly isAnswered: boolean
}

/** Whether the reply was not HTTP, as from a port that speaks TLS: the parser gave up before a response began. */
export const isNoHttp = ({ failure, code = '', isAnswered }: CallEnd): boolean =>
  failure === 'broken' && !isAnswered && (code === 'HTTPParserError' || code.startsWith('HPE_'))

const CERTIFICATE_PROBLEMS = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'certificate-self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'certificate-unknown-issuer',
  UNABLE_TO_GET_ISSUER_CERT: 'certificate-unknown-issuer',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'certificate-unknown-issuer',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'certificate-chain',
  CERT_HAS_EXPIRED: 'certificate-expired',
  CERT_NOT_YET_VALID: 'certificate-not-yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'certificate-other-host',
} as const
type CertificateProblem = (typeof CERTIFICATE_PROBLEMS)[keyof typeof CERTIFICATE_PROBLEMS]

export const certificateProblem = (code = ''): CertificateProblem | undefined =>
  (CERTIFICATE_PROBLEMS as Readonly<Record<string, CertificateProblem>>)[code]

/** What the error code adds to the failure: which limit, which certificate problem, or that it was not HTTP. */
export function exactReason(end: CallEnd, limits: CallLimits): LocalizedText | undefined {
  const { failure, code } = end
  if (isNoHttp(end)) return localized('no-http')
  if (failure === 'broken' && code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') return localized('other-length')
  const certificate = failure === 'tls' ? certificateProblem(code) : undefined
  if (certificate) return localized(certificate)
  switch (code) {
    case 'UND_ERR_CONNECT_TIMEOUT':
      return failure in CONNECTING
        ? localized(CONNECTING[failure as keyof typeof CONNECTING], { seconds: seconds(limits.connectMs) })
        : undefined
    case 'UND_ERR_HEADERS_TIMEOUT':
      return localized('nothing-within', { seconds: seconds(limits.headersMs) })
    case 'TimeoutError':
      return localized('incomplete-within', { seconds: seconds(limits.totalMs) })
    case 'UND_ERR_HEADERS_OVERFLOW':
      return localized('headers-larger', { size: size(HEADER_BYTES) })
    case 'UND_ERR_RES_EXCEEDED_MAX_SIZE':
      return localized('response-larger', { size: size(limits.bytes) })
    default:
      return undefined
  }
}
