import { z } from 'zod'
import type { Deps } from '../../../platform/deps.ts'
import { int64 } from '../../../platform/lib/json/fields.ts'
import type { OutputOf } from '../../../platform/lib/json/input.ts'
import { parseLossless, placed, stringifyLossless, withField } from '../../../platform/lib/json/lossless.ts'
import { listOf, problemsText, readShape, type ShapeProblem } from '../../../platform/lib/json/shape.ts'
import { type LocalizedText, localized } from '../../../platform/lib/localized-text.ts'
import { type InterfaceName, interfaceNamed, type PartnerInterface } from '../../../ticketing/interfaces/index.ts'
import { findNamedOrder, hasSold } from '../../../ticketing/orders/index.ts'
import type { PartnerWithSecrets } from '../../../ticketing/partners/index.ts'
import { noSuchEntry } from '../errors.ts'
import { obstacleToCall } from '../traffic/outcome.ts'
import { MAX_WRITTEN } from './wire.ts'

/** Why a text is not sent; `detail` says what is wrong, and where. */
export type BodyProblem =
  | { readonly kind: 'json' | 'fields'; readonly detail: LocalizedText }
  | { readonly kind: 'not-an-object' | 'too-long' | 'sold-order' | 'unknown-order' }

interface OwnBody {
  readonly text: string
  /** The order that it names, if by a 64-bit id. */
  readonly orderId: bigint | undefined
}

interface Written {
  readonly text: string
  readonly value: object
}

/** Parses a hand-written JSON object. */
export function readWritten(written: string): Written | BodyProblem {
  if (written.length > MAX_WRITTEN) return { kind: 'too-long' }
  // Browsers send line breaks in forms as CR LF.
  const text = written.replaceAll('\r\n', '\n').trim()
  const parsed = parseLossless(Buffer.from(text))
  if ('problem' in parsed) return { kind: 'json', detail: placed(parsed) }
  const { value } = parsed
  return typeof value !== 'object' || value === null || Array.isArray(value)
    ? { kind: 'not-an-object' }
    : { text, value }
}

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined

/** The text as written, with `partnerId` set to this partner if it is not. */
function asWritten({ text, value }: Written, partnerId: bigint): OwnBody {
  const orderId = int64().safeParse(fieldOf(fieldOf(value, 'body'), 'orderId'))
  const own = String(fieldOf(value, 'partnerId')) === String(partnerId)
  return {
    text: own ? text : withField(text, 'partnerId', partnerId),
    orderId: orderId.success && orderId.data >= 0n ? orderId.data : undefined,
  }
}

/**
 * What a selling partner may send from the playground. Its program may parse a body differently from us (`+5`, `[5]`,
 * `OrderId`, rounded ids), so we do not search for what is forbidden: only what our own requests could contain is sent,
 * and written the way they write it.
 */

/** A body with known fields only, and the ids by which a program could find an order. */
interface StrictBody extends OwnBody {
  readonly partnerOrderId: string
  readonly vouchers: readonly string[]
  readonly refundId: string | undefined
}

const orderIds = z.looseObject({
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

/** Fields that the schema dropped because it does not know them. */
function unknownFields(written: unknown, read: unknown, path = ''): ShapeProblem[] {
  if (!isObject(written)) return []
  return Object.entries(written).flatMap(([name, value]) => {
    const at = Array.isArray(written) ? `${path}[${name}]` : `${path}${path && '.'}${name}`
    if (!isObject(read) || !Object.hasOwn(read, name)) return [{ path: at, problem: localized('not-a-field') }]
    return unknownFields(value, read[name], at)
  })
}

/** Parses a body as if it were one of our own requests to that interface. */
export function strictBody(definition: PartnerInterface, value: object, partnerId: bigint): StrictBody | BodyProblem {
  const read = readShape(z.object({ partnerId: z.unknown().optional(), body: definition.request }), value)
  if ('problems' in read) return { kind: 'fields', detail: problemsText(read.problems) }
  const problems = unknownFields(value, read.value)
  if (problems.length > 0) return { kind: 'fields', detail: problemsText(problems) }
  const { body } = read.value
  const { orderId, refundId, refundSerialNo, ...ids } = orderIds.safeParse(body).data ?? orderIds.parse({})
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

/** A new id in our own format, so that no program takes it for an existing one. */
const NEW_REFUND = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/

/**
 * Why a body about this order is not sent; undefined if it may be. `reads`: the interface changes nothing, so orders
 * that were sold, or that the platform does not know, may be named, but never another partner's.
 */
export function obstacleTo(
  { orderId, partnerOrderId, vouchers, refundId }: StrictBody,
  order: OutputOf<typeof findNamedOrder>,
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

/** The partner sells, or has sold: a body could name real orders. */
export const isSelling = async (deps: Deps, { stage, partner_id }: PartnerWithSecrets): Promise<boolean> =>
  stage === 'live' || hasSold(deps.db, partner_id)

/**
 * The body to send for a hand-written text, or why it is not sent. Until the partner sells, it is sent as written;
 * after that only what `strictBody` and `obstacleTo` allow (DECISIONS "Decided about signed calls").
 */
export async function bodyToSend(
  deps: Deps,
  partner: PartnerWithSecrets,
  name: InterfaceName,
  written: string,
): Promise<OwnBody | BodyProblem> {
  const { partner_id: partnerId } = partner
  const definition = interfaceNamed(name)
  if (!definition) throw noSuchEntry()
  const read = readWritten(written)
  if ('kind' in read) return read
  if (!(await isSelling(deps, partner))) return asWritten(read, partnerId)
  const body = strictBody(definition, read.value, partnerId)
  if ('kind' in body) return body
  const order = body.orderId === undefined ? undefined : await findNamedOrder(deps.db, body.orderId)
  return obstacleTo(body, order, { partnerId, reads: obstacleToCall(name) === undefined }) ?? body
}
