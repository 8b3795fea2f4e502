/** How far a call has come. */

/** What a connection is waiting for. */
export type ConnectPhase = 'dns' | 'connect' | 'tls'

/** Milliseconds from the start of the call; null for what it did not come to. */
export interface CallTimings {
  readonly connected: number | null
  readonly headers: number | null
  readonly total: number
}

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
