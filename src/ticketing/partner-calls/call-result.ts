import type { ShapeProblem } from '../../platform/lib/json/shape.ts'
import { type LocalizedText, localized } from '../../platform/lib/localized-text.ts'
import type { CallFailure as HttpFailure } from '../../platform/outbound/index.ts'

/**
 * How a call can fail. Below HTTP: `address`, `dns`, `connect`, `tls`, `timeout`, `too-large`, `broken`. Then
 * `http-status` (not 200), `encryption` (the body cannot be decrypted), `json`, `schema`, and `partner-code` (the
 * partner refused). `breaker`: the call was not made.
 */
type FailureKind = HttpFailure | 'http-status' | 'encryption' | 'json' | 'schema' | 'partner-code' | 'breaker'

/** The kinds below HTTP, as texts. */
export const HTTP_FAILURE_MEANINGS: Readonly<Record<HttpFailure, LocalizedText>> = {
  address: localized('address-not-allowed'),
  dns: localized('not-resolved'),
  connect: localized('not-connected'),
  tls: localized('no-tls'),
  timeout: localized('took-too-long'),
  'too-large': localized('response-too-large'),
  broken: localized('connection-closed'),
}

export interface CallProblem {
  readonly kind: FailureKind
  /** Holds no secret. */
  readonly detail: LocalizedText
  /** Whether the partner may have acted on the request; if false, repeating it is safe. */
  readonly maybe_received: boolean
  /** The partner's code; only for `partner-code`. */
  readonly code?: number
  /** Field by field, holding no secrets; only for `schema`. */
  readonly problems?: readonly ShapeProblem[]
}

/** The outcome of a call. `json` is the response as received, because entries are stored complete. */
export type Reply<Answer> =
  | { readonly outcome: 'success'; readonly answer: Answer; readonly json: unknown }
  /** The result is still to come: 598, 602, 999. */
  | { readonly outcome: 'pending'; readonly code: number; readonly describe: string }
  | { readonly outcome: 'failed'; readonly failure: CallProblem; readonly json?: unknown }

export type CallResult<Answer> = Reply<Answer> & { readonly callId: string }

export const failed = (failure: CallProblem, json?: unknown): Reply<never> => ({ outcome: 'failed', failure, json })

export const failureOf = (result: CallResult<unknown>): CallProblem | null =>
  result.outcome === 'failed' ? result.failure : null
