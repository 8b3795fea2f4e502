import { randomUUID } from 'node:crypto'
import { maskedHeaders, masker, shortened } from '../../platform/lib/crypto/masking.ts'
import { type LocalizedText, localized } from '../../platform/lib/localized-text.ts'
import type { SpanAttributes } from '../../platform/lib/tracing.ts'
import { placeholderFor } from '../../platform/lib/web/body-placeholder.ts'
import { compressedText } from '../../platform/lib/web/body-text.ts'
import { HttpCallError, post } from '../../platform/outbound/index.ts'
import type { PartnerInterface } from '../interfaces/index.ts'
import { breakerAllows, noteCertificate, storeBreaker } from '../partner-reach/index.ts'
import { type PartnerWithSecrets, secretTexts } from '../partners/index.ts'
import { failed, HTTP_FAILURE_MEANINGS, type Reply } from './call-result.ts'
import { type CallRecord, type Forgery, insertCall } from './call-store.ts'
import type { CallCause } from './cause.ts'
import { type CallDeps, SLOW_MS } from './deps.ts'
import {
  keptHeaders,
  type ReadableAnswer,
  readableAnswer,
  readReply,
  replyCode,
  type SignedRequest,
  signedRequest,
} from './wire.ts'

export interface CallOptions {
  readonly cause: CallCause
  /** The order that the call is about; a response that names another one is invalid. */
  readonly orderId?: bigint
  /** Signs with this secret instead of the current one, to test a new one. */
  readonly secret?: string
  /** A background call, which is not made while the partner is slow (circuit-breakers.ts). */
  readonly background?: boolean
  /** Makes a call that the partner has to refuse, to see whether it verifies us. */
  readonly forge?: Forgery
}

interface Outcome {
  readonly reply: Reply<unknown>
  readonly durationMs: number
  readonly http?: ReadableAnswer
}

export interface Sending {
  readonly definition: PartnerInterface
  /** The whole body, not encrypted. */
  readonly text: string
  readonly byHand: boolean
}

interface Exchange {
  readonly reply: Reply<unknown>
  readonly record: CallRecord
}

/**
 * Makes one exchange and records it; as a span of the current trace, if traces are sent. `traceparent` lets the partner
 * continue the trace.
 */
export function makeCall(
  deps: CallDeps,
  partner: PartnerWithSecrets,
  sending: Sending,
  options: CallOptions,
): Promise<Exchange> {
  const { tracing } = deps
  if (!tracing) return exchange(deps, partner, sending, options, {})
  return tracing.call(
    `POST ${sending.definition.name}`,
    ({ traceparent }) => exchange(deps, partner, sending, options, { traceparent }),
    ({ record }) => factsOf(record),
  )
}

async function exchange(
  deps: CallDeps,
  partner: PartnerWithSecrets,
  { definition, text, byHand }: Sending,
  options: CallOptions,
  headers: Readonly<Record<string, string>>,
): Promise<Exchange> {
  const callId = randomUUID()
  const startedAt = deps.clock.now()
  const signed = signedRequest(deps, partner, definition, text, options)
  const request = { ...signed, headers: { ...signed.headers, ...headers } }
  const mask = masker([...secretTexts(partner), options.secret ?? '', signatureOf(request)])
  const read = (answer: ReadableAnswer) => readReply(definition, answer, { mask, sent: signed.text })
  const background = options.background === true
  const { reply, durationMs, http } = await send(deps, partner, { definition, byHand, background }, request, read)
  const failure = reply.outcome === 'failed' ? reply.failure : undefined
  deps.metrics.partnerCalls.observe({ interface: definition.name, outcome: failure?.kind ?? 'ok' }, durationMs / 1000)
  deps.metrics.activity.count('call', String(partner.partner_id), failure ? 'failed' : 'ok')
  const record: CallRecord = {
    call_id: callId,
    partner_id: partner.partner_id,
    interface: definition.name,
    order_id: options.orderId ?? null,
    started_at: startedAt,
    duration_ms: durationMs,
    url: mask(request.url),
    request_headers: maskedHeaders(withShortSignature(request.headers), mask),
    request_body: mask(request.text),
    http_status: http?.status ?? null,
    response_headers: http ? maskedHeaders(keptHeaders(http), mask) : null,
    response_body: http
      ? mask(compressedText(http.headers) ? placeholderFor('not-kept-compressed') : http.body.toString())
      : null,
    code: replyCode(reply),
    failure: failure?.kind ?? null,
    failure_detail: failure?.detail ?? null,
    forged: options.forge ?? null,
    by_hand: byHand,
    cause: options.cause.kind,
    cause_ref: options.cause.ref,
  }
  await insertCall(deps.db, record)
  return { reply, record }
}

const signatureOf = ({ headers }: SignedRequest): string => headers.Authorization?.split(':')[1] ?? ''

const withShortSignature = ({ Authorization = '', ...headers }: SignedRequest['headers']) => ({
  ...headers,
  Authorization: shortened(Authorization),
})

/**
 * Whether a status means that the partner is down or overloaded. One that lacks an interface (404) or refuses a call
 * (401) is up: calls that it does not take must not open the breaker for visitors' orders.
 */
const cannotAnswer = (status: number): boolean => status >= 500 || status === 429

async function send(
  deps: CallDeps,
  { partner_id, aes_key }: PartnerWithSecrets,
  { definition, byHand, background }: Pick<Sending, 'definition' | 'byHand'> & { readonly background: boolean },
  request: SignedRequest,
  read: (answer: ReadableAnswer) => Reply<unknown>,
): Promise<Outcome> {
  const notTried = (kind: 'address' | 'breaker', detail: LocalizedText): Outcome => ({
    reply: failed({ kind, detail, maybe_received: false }),
    durationMs: 0,
  })
  if (request.url === '') return notTried('address', localized('no-url', { interface: definition.name }))
  deps.assertLeaseHeld?.()
  const hangUp = deps.calls.faults?.dropsAnswerOf === definition.name
  const pauseMs = deps.calls.faults?.slow && !hangUp ? SLOW_MS : 0
  const allowed = await breakerAllows(deps, partner_id, background)
  if (allowed !== true) return notTried('breaker', allowed.refused)
  let answered = false
  const began = performance.now()
  try {
    const http = readableAnswer(await post({ ...request, hangUp, pauseMs }, deps.calls.guard), aes_key)
    // A body that a person wrote may break the partner's program; that must not hold up visitors' orders.
    answered = !cannotAnswer(http.status) || byHand
    if (http.certificateEnds) await noteCertificate(deps, partner_id, request.url, http.certificateEnds)
    return { reply: read(http), durationMs: http.timings.total - pauseMs, http }
  } catch (error) {
    if (!(error instanceof HttpCallError)) throw error
    const { failure: kind, maybeReceived, timings, reason = HTTP_FAILURE_MEANINGS[kind] } = error
    answered = kind === 'address' || hangUp
    const detail = localized('caused-by', { problem: reason, cause: error.message })
    return { reply: failed({ kind, detail, maybe_received: maybeReceived }), durationMs: timings.total }
  } finally {
    const change = deps.calls.breakers.recordOutcome(partner_id, answered, performance.now() - began - pauseMs)
    await storeBreaker(deps, partner_id, change)
  }
}

const factsOf = ({ partner_id, http_status, code, failure }: CallRecord): SpanAttributes => ({
  'gatehouse.partner_id': String(partner_id),
  ...(http_status === null ? {} : { 'http.response.status_code': http_status }),
  ...(code === null ? {} : { 'gatehouse.code': code }),
  ...(failure === null ? {} : { 'error.type': failure }),
})
