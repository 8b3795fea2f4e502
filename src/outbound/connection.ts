import { TLSSocket } from 'node:tls'
import { Client } from 'undici'
import type { CallLimits } from '../config/call-limits.ts'
import { fromEpochMilliseconds } from '../lib/clock.ts'
import { type AddressGuard, type ConnectPhase, guardedConnector } from './address-guard.ts'
import { HEADER_BYTES } from './exceeded.ts'

/** The connection of one call, and how far the call has come on it. */

/** Milliseconds from the start of the call; null for what it did not come to. */
export interface CallTimings {
  readonly connected: number | null
  readonly headers: number | null
  readonly total: number
}

/** How far a call has come. */
export class CallProgress {
  readonly #start = performance.now()
  /** What the connection waits for; null once it stands. */
  phase: ConnectPhase | null = 'dns'
  connected: number | null = null
  headers: number | null = null
  certificateEnds: Date | null = null

  elapsed(): number {
    return Math.round(performance.now() - this.#start)
  }

  timings(): CallTimings {
    return { connected: this.connected, headers: this.headers, total: this.elapsed() }
  }
}

/** OpenSSL writes `May  5 06:11:34 2027 GMT`. */
function certificateEnd(socket: unknown): Date | null {
  if (!(socket instanceof TLSSocket)) return null
  const end = Date.parse(socket.getPeerCertificate().valid_to)
  return Number.isNaN(end) ? null : fromEpochMilliseconds(end)
}

/** For one call; `progress` is told how the connection comes about. */
export function openClient(
  origin: string,
  guard: AddressGuard,
  limits: CallLimits,
  progress: CallProgress,
  onConnected: () => void,
): Client {
  const connect = guardedConnector(guard, limits.connectMs, (phase) => {
    progress.phase = phase
  })
  return new Client(origin, {
    connect: (options, callback) =>
      connect(options, (...result) => {
        if (result[0] === null) {
          progress.phase = null
          progress.connected = progress.elapsed()
          progress.certificateEnds = certificateEnd(result[1])
          onConnected()
        }
        callback(...result)
      }),
    headersTimeout: limits.headersMs,
    // A drip of bytes would never end this one; the limit of the whole call does.
    bodyTimeout: 0,
    maxResponseSize: limits.bytes,
    maxHeaderSize: HEADER_BYTES,
  })
}
