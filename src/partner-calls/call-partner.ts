import { randomUUID } from 'node:crypto'
import type { z } from 'zod'
import type { Deps } from '../deps.ts'
import { INTERFACES, type InterfaceName, type PartnerInterface } from '../interfaces/index.ts'
import { maskedHeaders, masker, shortened } from '../lib/crypto/masking.ts'
import { stringifyLossless } from '../lib/json/lossless.ts'
import { addressGuard, HttpCallError, post } from '../outbound/index.ts'
import { findPartner, type PartnerWithSecrets, secretTexts } from '../partners/index.ts'
import { type CallResult, failed, MEANINGS, type Reply } from './call-result.ts'
import { type CallRecord, type Forgery, insertCall } from './call-store.ts'
import { noSuchPartner, RefusedRequest } from './errors.ts'
import { heldBack, type SentAgain, SLOW_MS } from './faults.ts'
import {
  codeOf,
  keptHeaders,
  type ReadableAnswer,
  readable,
  readReply,
  type SignedRequest,
  signedRequest,
} from './wire.ts'

type Entry<Name extends InterfaceName> = Extract<(typeof INTERFACES)[number], { name: Name }>

/** The field `body` of the request, and the whole answer, of an interface. */
export type RequestOf<Name extends InterfaceName> = z.input<Entry<Name>['request']>
export type AnswerOf<Name extends InterfaceName> = z.output<Entry<Name>['answer']>

export interface CallOptions {
  /** The order that the call is about; a response that names another one is invalid. */
  readonly orderId?: bigint
  /** Signs with this secret instead of the one in force: for the test call before a new one signs. */
  readonly secret?: string
  /** A background call: it is not made while the partner is slow (breaker.ts). */
  readonly background?: boolean
  /** Makes a call that the partner has to refuse: whether it verifies us. */
  readonly forge?: Forgery
}

/** What came of it. */
interface Outcome {
  readonly reply: Reply<unknown>
  readonly durationMs: number
  readonly http?: ReadableAnswer
}

/**
 * One signed call to a partner. It is made once, never inside of a transaction, and recorded with its secrets masked.
 * Whatever the partner does wrong is a result; only errors of our own throw.
 */
export async function callPartner<Name extends InterfaceName>(
  deps: Deps,
  partner: PartnerWithSecrets,
  name: Name,
  body: RequestOf<Name>,
  options: CallOptions = {},
): Promise<CallResult<AnswerOf<Name>>> {
  const entry = entryOf(name)
  const text = stringifyLossless({ partnerId: partner.partner_id, body: entry.request.parse(body) })
  const sending = { entry, text, byHand: false }
  const { reply, record } = await makeCall(deps, partner, sending, options)
  const again = deps.calls.faults?.twice === true && options.forge === undefined
  const sentAgain: SentAgain[] = again
    ? [{ first: record, again: (await makeCall(deps, partner, sending, options)).record, isLate: false }]
    : []
  const first = options.forge === undefined ? await heldBack(deps, name, options.orderId) : undefined
  if (first) sentAgain.push({ first, again: await sendLate(deps, partner, first), isLate: true })
  deps.calls.onCall?.(record, sentAgain)
  return { ...(reply as Reply<AnswerOf<Name>>), callId: record.call_id }
}

/** The same bytes as before, signed anew. Steps do not take the answer for that of their own call. */
async function sendLate(deps: Deps, partner: PartnerWithSecrets, first: CallRecord): Promise<CallRecord> {
  const sending = { entry: entryOf(first.interface as InterfaceName), text: first.request_body, byHand: true }
  return (await makeCall(deps, partner, sending, first.order_id === null ? {} : { orderId: first.order_id })).record
}

/**
 * The same call with a body that a person has written: `text` goes out as it is, whatever the interface takes. Test
 * steps do not count such calls as theirs.
 */
export async function callAsWritten(
  deps: Deps,
  partner: PartnerWithSecrets,
  name: InterfaceName,
  text: string,
  options: CallOptions = {},
): Promise<CallResult<unknown>> {
  const { reply, record } = await makeCall(deps, partner, { entry: entryOf(name), text, byHand: true }, options)
  deps.calls.onCall?.(record, [])
  return { ...reply, callId: record.call_id }
}

const entryOf = (name: InterfaceName) => INTERFACES.find((candidate) => candidate.name === name) as PartnerInterface

interface Sending {
  readonly entry: PartnerInterface
  /** The whole body, not encrypted. */
  readonly text: string
  readonly byHand: boolean
}

/** One exchange, and its record. */
async function makeCall(
  deps: Deps,
  partner: PartnerWithSecrets,
  { entry, text, byHand }: Sending,
  options: CallOptions,
): Promise<{ readonly reply: Reply<unknown>; readonly record: CallRecord }> {
  const callId = randomUUID()
  const startedAt = deps.clock.now()
  const request = signedRequest(deps, partner, entry, text, options)
  const mask = masker([...secretTexts(partner), options.secret ?? '', signatureOf(request)])
  const read = (answer: ReadableAnswer) => readReply(entry, answer, { mask, orderId: options.orderId })
  const { reply, durationMs, http } = await send(
    deps,
    partner,
    { entry, byHand, background: options.background === true },
    request,
    read,
  )
  const failure = reply.outcome === 'failed' ? reply.failure : undefined
  deps.meters.partnerCalls.observe({ interface: entry.name, outcome: failure?.kind ?? 'ok' }, durationMs / 1000)
  const record: CallRecord = {
    call_id: callId,
    partner_id: partner.partner_id,
    interface: entry.name,
    order_id: options.orderId ?? null,
    started_at: startedAt,
    duration_ms: durationMs,
    url: mask(request.url),
    request_headers: maskedHeaders(withShortSignature(request.headers), mask),
    request_body: mask(request.text),
    http_status: http?.status ?? null,
    response_headers: http ? maskedHeaders(keptHeaders(http), mask) : null,
    response_body: http ? mask(http.body.toString()) : null,
    code: codeOf(reply),
    failure: failure?.kind ?? null,
    failure_detail: failure?.detail ?? null,
    forged: options.forge ?? null,
    by_hand: byHand,
  }
  await insertCall(deps.db, record)
  return { reply, record }
}

const signatureOf = ({ headers }: SignedRequest): string => headers.Authorization?.split(':')[1] ?? ''

const withShortSignature = ({ Authorization = '', ...headers }: SignedRequest['headers']) => ({
  ...headers,
  Authorization: shortened(Authorization),
})

async function send(
  deps: Deps,
  { partner_id, aes_key }: PartnerWithSecrets,
  { entry, byHand, background }: Pick<Sending, 'entry' | 'byHand'> & { readonly background: boolean },
  request: SignedRequest,
  read: (answer: ReadableAnswer) => Reply<unknown>,
): Promise<Outcome> {
  const notTried = (kind: 'address' | 'breaker', detail: string): Outcome => ({
    reply: failed({ kind, detail, maybe_received: false }),
    durationMs: 0,
  })
  if (request.url === '') return notTried('address', `no URL is registered for ${entry.name}`)
  deps.assertMayCall?.()
  const hangUp = deps.calls.faults?.loses === entry.name
  const pauseMs = deps.calls.faults?.slow && !hangUp ? SLOW_MS : 0
  const allowed = deps.calls.breakers.allowsCall(partner_id, background)
  if (allowed !== true) return notTried('breaker', allowed.refused)
  let answered = false
  const began = performance.now()
  try {
    const http = readable(await post({ ...request, hangUp, pauseMs }, addressGuard(deps.config)), aes_key)
    // What a person has written may well be answered with 400 or 401: orders of visitors must not wait for that.
    answered = http.status === 200 || byHand
    return { reply: read(http), durationMs: http.timings.total - pauseMs, http }
  } catch (error) {
    if (!(error instanceof HttpCallError)) throw error
    const { failure: kind, maybeReceived, timings, exceeded = MEANINGS[kind] } = error
    answered = kind === 'address' || hangUp
    const detail = `${exceeded}: ${error.message}`
    return { reply: failed({ kind, detail, maybe_received: maybeReceived }), durationMs: timings.total }
  } finally {
    deps.calls.breakers.recordOutcome(partner_id, answered, performance.now() - began - pauseMs)
  }
}

/** The partner with the secrets that its calls are signed with; throws for one that does not exist. */
export async function existingPartner(deps: Deps, partnerId: bigint): Promise<PartnerWithSecrets> {
  const partner = await findPartner(deps, partnerId)
  if (!partner) throw noSuchPartner(partnerId)
  return partner
}

/** For what must not be begun with a partner that is suspended. */
export async function activePartner(deps: Deps, partnerId: bigint): Promise<PartnerWithSecrets> {
  const partner = await existingPartner(deps, partnerId)
  if (partner.status !== 'active') throw new RefusedRequest(`partner ${partnerId} is ${partner.status}`)
  return partner
}
