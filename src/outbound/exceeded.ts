import type { CallLimits } from '../config/call-limits.ts'
import type { CallFailure } from './call-failure.ts'

/** Bytes of all headers of an answer together. */
export const HEADER_BYTES = 16_384

const KIB = 1_024

const size = (bytes: number): string => (bytes % (KIB * KIB) === 0 ? `${bytes / KIB / KIB} MiB` : `${bytes / KIB} KiB`)
const seconds = (ms: number): string => `${ms / 1_000} s`

const CONNECTING: Readonly<Partial<Record<CallFailure, string>>> = {
  dns: 'the host name could not be resolved',
  connect: 'could not connect',
  tls: 'could not establish TLS',
}

/**
 * A clause that names the limit which a call exceeded, by the library's code of the failure; undefined where it was not
 * a limit that ended the call.
 */
export function exceededLimit(failure: CallFailure, code: string | undefined, limits: CallLimits): string | undefined {
  switch (code) {
    case 'UND_ERR_CONNECT_TIMEOUT':
      return CONNECTING[failure] && `${CONNECTING[failure]} within ${seconds(limits.connectMs)}`
    case 'UND_ERR_HEADERS_TIMEOUT':
      return `the response took too long: nothing came within ${seconds(limits.headersMs)}`
    case 'TimeoutError':
      return `the response took too long: it was not complete within ${seconds(limits.totalMs)}`
    case 'UND_ERR_HEADERS_OVERFLOW':
      return `the headers of the response are larger than ${size(HEADER_BYTES)}`
    case 'UND_ERR_RES_EXCEEDED_MAX_SIZE':
      return `the response is larger than ${size(limits.bytes)}`
    default:
      return undefined
  }
}
