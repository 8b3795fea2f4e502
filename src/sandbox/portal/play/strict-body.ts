import { z } from 'zod'
import { stringifyLossless } from '../../../platform/lib/json/lossless.ts'
import { listOf, problemsText, readShape, type ShapeProblem } from '../../../platform/lib/json/shape.ts'
import { type LocalizedText, localized } from '../../../platform/lib/localized-text.ts'
import type { PartnerInterface } from '../../../ticketing/interfaces/index.ts'
import type { NamedOrder } from '../../../ticketing/orders/index.ts'
import type { BodyProblem, OwnBody } from './body.ts'

/**
 * What a partner that sells may send from the playground. Its program may read a body in another way than we do (`+5`,
 * `[5]`, `OrderId`, rounded ids), so nothing is searched for what must not be sent: only what our own requests could
 * say is sent, and as our own requests write it.
 */

/** A body of known fields, and the ids in it by which a program could find an order. */
export interface StrictBody extends OwnBody {
  readonly partnerOrderId: string
  readonly vouchers: readonly string[]
  readonly refundId: string | undefined
}

const named = z.looseObject({
  orderId: z.bigint().optional(),
  partnerOrderId: z.string().default(''),
  voucherList: listOf('vouchers', z.string()).default([]),
  credentialList: listOf('vouchers', z.looseObject({ voucher: z.string() })).default([]),
  refundId: z.string().optional(),
  refundSerialNo: z.string().optional(),
})

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null

const refused = (path: string, problem: LocalizedText): BodyProblem => ({
  kind: 'fields',
  detail: problemsText([{ path, problem }]),
})

/** Fields of a value that its schema has dropped, because it does not know them. */
function unknownFields(written: unknown, read: unknown, path = ''): ShapeProblem[] {
  if (!isObject(written)) return []
  return Object.entries(written).flatMap(([name, value]) => {
    const at = Array.isArray(written) ? `${path}[${name}]` : `${path}${path && '.'}${name}`
    if (!isObject(read) || !Object.hasOwn(read, name)) return [{ path: at, problem: localized('not-a-field') }]
    return unknownFields(value, read[name], at)
  })
}

/** Reads a body as one of our own requests to that interface. */
export function strictBody(definition: PartnerInterface, value: object, partnerId: bigint): StrictBody | BodyProblem {
  const read = readShape(z.object({ partnerId: z.unknown().optional(), body: definition.request }), value)
  if ('problems' in read) return { kind: 'fields', detail: problemsText(read.problems) }
  const problems = unknownFields(value, read.value)
  if (problems.length > 0) return { kind: 'fields', detail: problemsText(problems) }
  const { body } = read.value
  const { orderId, refundId, refundSerialNo, ...ids } = named.safeParse(body).data ?? named.parse({})
  const written = 'body' in value && isObject(value.body) ? value.body.orderId : undefined
  if (orderId !== undefined && (orderId < 1n || String(written) !== String(orderId))) {
    return refused('body.orderId', localized('not-order-digits'))
  }
  return {
    text: stringifyLossless({ partnerId, body }),
    orderId,
    partnerOrderId: ids.partnerOrderId,
    vouchers: [...ids.voucherList, ...ids.credentialList.flatMap(({ voucher }) => voucher || [])],
    refundId: refundId ?? refundSerialNo,
  }
}

/** As our own requests write it, so that no program takes it for another one. */
const NEW_REFUND = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/

/**
 * Why a body about this order is not sent; undefined if it may be. `reads`: the interface changes nothing, so an order
 * that is sold, or that the platform does not know, may be named; one of another partner never.
 */
export function obstacleTo(
  { orderId, partnerOrderId, vouchers, refundId }: StrictBody,
  order: NamedOrder | undefined,
  { partnerId, reads }: { readonly partnerId: bigint; readonly reads: boolean },
): BodyProblem | undefined {
  if (orderId === undefined) return undefined
  if (order === undefined) return reads && partnerOrderId === '' ? undefined : { kind: 'unknown-order' }
  if (order.order_id !== orderId || order.partner_id !== partnerId) return { kind: 'unknown-order' }
  if (order.sold && !reads) return { kind: 'sold-order' }
  if (partnerOrderId !== '' && partnerOrderId !== order.partner_order_id) {
    return refused('body.partnerOrderId', localized('not-of-the-order'))
  }
  if (!vouchers.every((voucher) => order.vouchers.includes(voucher))) {
    return refused('body', localized('voucher-not-of-order'))
  }
  const isNew = refundId === undefined || NEW_REFUND.test(refundId)
  if (!isNew && !order.refund_ids.includes(refundId)) {
    return refused('body', localized('refund-not-of-order'))
  }
  return undefined
}
