import type { CallLimits } from '../config/call-limits.ts'
import { type LocalizedText, localized } from '../lib/localized-text.ts'

/** What a connection is waiting for. */
export type ConnectPhase = 'dns' | 'connect' | 'tls'

/**
 * What went wrong below HTTP. `address`: not an allowed one; `dns`, `connect`, `tls`: could not connect; `timeout`,
 * `too-large`: the response took too long or was too large; `broken`: no complete HTTP response arrived.
 */
export type CallFailure = 'address' | ConnectPhase | 'timeout' | 'too-large' | 'broken'

/** Bytes of all headers of an answer together. */
export const HEADER_BYTES = 16_384

const KIB = 1_024

const size = (bytes: number): string => (bytes % (KIB * KIB) === 0 ? `${bytes / KIB / KIB} MiB` : `${bytes / KIB} KiB`)
const within = (ms: number) => ({ seconds: ms / 1_000 })

const CONNECTING = { dns: 'not-resolved-within', connect: 'not-connected-within', tls: 'no-tls-within' } as const

/** Which limit a call exceeded, by the library's code; undefined where it was not a limit that ended it. */
export function exceededLimit(
  failure: CallFailure,
  code: string | undefined,
  limits: CallLimits,
): LocalizedText | undefined {
  switch (code) {
    case 'UND_ERR_CONNECT_TIMEOUT':
      return failure in CONNECTING
        ? localized(CONNECTING[failure as keyof typeof CONNECTING], within(limits.connectMs))
        : undefined
    case 'UND_ERR_HEADERS_TIMEOUT':
      return localized('nothing-within', within(limits.headersMs))
    case 'TimeoutError':
      return localized('incomplete-within', within(limits.totalMs))
    case 'UND_ERR_HEADERS_OVERFLOW':
      return localized('headers-larger', { size: size(HEADER_BYTES) })
    case 'UND_ERR_RES_EXCEEDED_MAX_SIZE':
      return localized('response-larger', { size: size(limits.bytes) })
    default:
      return undefined
  }
}
