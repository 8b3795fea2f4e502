import type { z } from 'zod'
import { stringifyLossless } from '../../platform/lib/json/lossless.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { RefusedRequest } from '../../platform/lib/web/rescode.ts'
import { type INTERFACES, type InterfaceName, interfaceNamed, type PartnerInterface } from '../interfaces/index.ts'
import { findPartner, type PartnerWithSecrets, type TestCallWith } from '../partners/index.ts'
import type { CallResult, Reply } from './call-result.ts'
import { type CallRecord, lastCallAbout } from './call-store.ts'
import type { CallDeps, SentAgain } from './deps.ts'
import { type CallOptions, makeCall } from './exchange.ts'

type Definition<Name extends InterfaceName> = Extract<(typeof INTERFACES)[number], { name: Name }>

/** The `body` of an interface's request, and its whole answer. */
export type RequestOf<Name extends InterfaceName> = z.input<Definition<Name>['request']>
export type AnswerOf<Name extends InterfaceName> = z.output<Definition<Name>['answer']>

/** The call before each in the life of an order, which arrives again late. */
const BEFORE: Readonly<Partial<Record<InterfaceName, InterfaceName>>> = {
  'order-pay': 'order-create',
  'order-close': 'order-create',
  'order-refund': 'order-pay',
  'order-reschedule': 'order-pay',
  'order-refunded': 'order-pay',
}

/**
 * Makes one signed call to a partner, and records it with its secrets masked. Never call it inside a transaction. It is
 * only repeated if a test run asks for that (deps.ts). Whatever the partner does wrong is a result; only our own errors
 * throw.
 */
export async function callPartner<Name extends InterfaceName>(
  deps: CallDeps,
  partner: PartnerWithSecrets,
  name: Name,
  body: RequestOf<Name>,
  options: CallOptions,
): Promise<CallResult<AnswerOf<Name>>> {
  const definition = definitionOf(name)
  const text = stringifyLossless({ partnerId: partner.partner_id, body: definition.request.parse(body) })
  const sending = { definition, text, byHand: false }
  const { reply, record } = await makeCall(deps, partner, sending, options)
  const { sendTwice = false, outOfOrder = false } = options.forge === undefined ? (deps.calls.faults ?? {}) : {}
  const sentAgain: SentAgain[] = sendTwice
    ? [{ first: record, again: (await makeCall(deps, partner, sending, options)).record, isLate: false }]
    : []
  const { orderId } = options
  const before = outOfOrder ? BEFORE[name] : undefined
  const first = before && orderId !== undefined ? await lastCallAbout(deps.db, orderId, before) : undefined
  if (first) sentAgain.push({ first, again: await sendLate(deps, partner, first, options), isLate: true })
  deps.calls.onCall?.(record, sentAgain)
  return { ...(reply as Reply<AnswerOf<Name>>), callId: record.call_id }
}

/** Sends the body of an earlier call again, with a new signature. Steps ignore the answer. */
async function sendLate(
  deps: CallDeps,
  partner: PartnerWithSecrets,
  first: CallRecord,
  { cause }: CallOptions,
): Promise<CallRecord> {
  const sending = { definition: definitionOf(first.interface as InterfaceName), text: first.request_body, byHand: true }
  const about = first.order_id === null ? {} : { orderId: first.order_id }
  return (await makeCall(deps, partner, sending, { cause, ...about })).record
}

/** Sends `text`, which a person wrote, whatever the interface takes. Test steps do not count such calls. */
export async function callAsWritten(
  deps: CallDeps,
  partner: PartnerWithSecrets,
  name: InterfaceName,
  text: string,
  options: CallOptions,
): Promise<CallResult<unknown>> {
  const sending = { definition: definitionOf(name), text, byHand: true }
  const { reply, record } = await makeCall(deps, partner, sending, options)
  deps.calls.onCall?.(record, [])
  return { ...reply, callId: record.call_id }
}

/**
 * Closes the circuit breaker, because somebody who has restarted their program wants to try it now. Not for live
 * partners: real customers must not wait for a partner that is down.
 */
export function callNow({ calls }: CallDeps, { partner_id, stage }: PartnerWithSecrets): void {
  if (stage === 'sandbox') calls.breakers.reset(partner_id)
}

const definitionOf = (name: InterfaceName) => interfaceNamed(name) as PartnerInterface

export interface MadeCall {
  readonly call: CallRecord
  readonly sentAgain: readonly SentAgain[]
}

export async function withCalls<Given extends CallDeps, Result>(
  deps: Given,
  operation: (deps: Given) => Promise<Result>,
): Promise<{ readonly result: Result; readonly calls: readonly MadeCall[] }> {
  const calls: MadeCall[] = []
  const onCall = (call: CallRecord, sentAgain: readonly SentAgain[]) => {
    calls.push({ call, sentAgain })
  }
  const result = await operation({ ...deps, calls: { ...deps.calls, onCall } })
  return { result, calls }
}

export async function existingPartner(deps: CallDeps, partnerId: bigint): Promise<PartnerWithSecrets> {
  const partner = await findPartner(deps, partnerId)
  if (!partner) throw new RefusedRequest(localized('no-partner', { partner: partnerId }), { status: 404 })
  return partner
}

/** As existingPartner; also throws if it is suspended. */
export async function activePartner(deps: CallDeps, partnerId: bigint): Promise<PartnerWithSecrets> {
  const partner = await existingPartner(deps, partnerId)
  if (partner.status !== 'active')
    throw new RefusedRequest(localized('partner-is', { partner: partnerId, state: partner.status }))
  return partner
}

/** Tests a new secret: whether the partner accepts a heartbeat signed with it. */
export const heartbeatWith: TestCallWith<CallDeps> =
  (deps) =>
  async (partner, { secret }) => {
    const options = { secret, cause: { kind: 'new-secret', ref: null } } as const
    const result = await callPartner(deps, partner, 'heartbeat', {}, options)
    return result.outcome === 'failed' ? { ok: false, detail: result.failure.detail } : { ok: true, detail: '' }
  }
