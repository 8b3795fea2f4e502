import type { ShapeProblem } from '../lib/json/shape.ts'
import type { CallFailure as HttpFailure } from '../outbound/http-call.ts'

/**
 * How a call can fail. Below HTTP: `address`, `dns`, `connect`, `tls`, `timeout`, `too-large`, `broken`. Then
 * `http-status` (not 200), `encryption` (the body cannot be decrypted), `json`, `schema`, and `partner-code`, the partner's own no. `breaker`: not even tried.
 */
type FailureKind = HttpFailure | 'http-status' | 'encryption' | 'json' | 'schema' | 'partner-code' | 'breaker'

/** The kinds below HTTP in words. */
export const MEANINGS: Readonly<Record<HttpFailure, string>> = {
  address: 'the URL leads to an address or port that is not called',
  dns: 'the host name cannot be resolved',
  connect: 'no connection came about',
  tls: 'no TLS session came about',
  timeout: 'the answer took too long',
  'too-large': 'the answer is larger than 1 MiB',
  broken: 'the connection ended before the answer did, or what came is no HTTP',
}

export interface Failure {
  readonly kind: FailureKind
  /** A clause for a person; holds no secret. */
  readonly detail: string
  /** Whether the partner may have acted on the request all the same; false makes a repetition safe. */
  readonly maybe_received: boolean
  /** The partner's code; of `partner-code` only. */
  readonly code?: number
  /** Field by field; of `schema` only. */
  readonly problems?: readonly ShapeProblem[]
}

/** What a call came to. `json` is the answer as it came, for what is kept whole. */
export type Reply<Answer> =
  | { readonly outcome: 'success'; readonly answer: Answer; readonly json: unknown }
  /** Not done yet, and no failure: 598, 602, 999. */
  | { readonly outcome: 'pending'; readonly code: number; readonly describe: string }
  | { readonly outcome: 'failed'; readonly failure: Failure; readonly json?: unknown }

export type CallResult<Answer> = Reply<Answer> & { readonly callId: string }

export const failed = (failure: Failure, json?: unknown): Reply<never> => ({ outcome: 'failed', failure, json })

export const failureOf = (result: CallResult<unknown>): Failure | null =>
  result.outcome === 'failed' ? result.failure : null
