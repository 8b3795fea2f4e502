import type { NamedOrder } from '../../src/ticketing/orders/trial-store.ts'
import type { Random } from '../fuzz/random.ts'

/** Bodies that try to reach an order that a visitor has bought, and the ways in which programs may read them. */

/** An order as a seller's program keeps it. */
export type KnownOrder = Pick<NamedOrder, 'order_id' | 'partner_order_id' | 'vouchers'>

const fullWidth = (digits: string): string =>
  [...digits].map((digit) => String.fromCodePoint(0xff10 + Number(digit))).join('')

/** One id in many spellings: each is the JSON of a value. */
export const SPELLINGS: Readonly<Record<string, (id: string) => string>> = {
  number: (id) => id,
  text: (id) => `"${id}"`,
  plus: (id) => `"+${id}"`,
  spaces: (id) => `" ${id} "`,
  'a decimal point': (id) => `${id}.0`,
  'a decimal point in a text': (id) => `"${id}.0"`,
  'an exponent': (id) => `${id}e0`,
  'a list': (id) => `[${id}]`,
  'an object': (id) => `{"orderId": ${id}}`,
  'full-width digits': (id) => `"${fullWidth(id)}"`,
  'a leading zero': (id) => `"0${id}"`,
  'a tab': (id) => `"\\t${id}"`,
  'a following word': (id) => `"${id}x"`,
  hexadecimal: (id) => `"0x${BigInt(id).toString(16)}"`,
  'escaped digits': (id) => `"${[...id].map((digit) => `\\u003${digit}`).join('')}"`,
  minus: (id) => `-${id}`,
  'a comma': (id) => `"${id},1"`,
}

const NAMES = ['orderId', 'OrderId', 'orderid', 'ORDERID', 'order_id', 'orderId ', 'order\\u0049d', 'orderID', 'id']

/** A request of order refund as the platform would send it, with some of its fields written differently. */
export function attackingBody(random: Random, own: KnownOrder, target: KnownOrder): string {
  const fields: string[] = []
  const add = (name: string, json: string) => fields.push(`"${name}": ${json}`)
  const either = (): KnownOrder => (random.chance(0.5) ? own : target)
  const spelled = (order: KnownOrder) =>
    random.chance(0.5)
      ? String(order.order_id)
      : (SPELLINGS[random.pick(Object.keys(SPELLINGS))]?.(String(order.order_id)) ?? '')
  if (random.chance(0.95)) add(random.chance(0.6) ? 'orderId' : random.pick(NAMES), spelled(either()))
  if (random.chance(0.15)) add(random.pick(NAMES), spelled(either()))
  if (random.chance(0.9)) add('refundId', '"0b1c2d3e-0000-4000-8000-000000000001"')
  if (random.chance(0.95)) add('partnerOrderId', JSON.stringify(random.pick([own, own, target]).partner_order_id))
  if (random.chance(0.05)) add('PartnerOrderId', JSON.stringify(target.partner_order_id))
  if (random.chance(0.95)) add('partnerDealId', '"deal-1"')
  if (random.chance(0.5)) add('voucherList', JSON.stringify(random.pick([own, own, own, target]).vouchers.slice(0, 1)))
  if (random.chance(0.05)) add('voucher_list', JSON.stringify(target.vouchers))
  add('refundQuantity', random.pick(['1', '1', '"1"', '"+1"']))
  for (const name of ['unitPrice', 'refundPrice', 'refundFee']) add(name, random.pick(['1.10', '10']))
  add('refundTime', '"2026-05-07 10:00:00"')
  const body = `{${fields.join(', ')}}`
  const beside = random.chance(0.1) ? `, "${random.pick(NAMES)}": ${target.order_id}` : ''
  const twice = random.chance(0.05) ? `, "body": {"orderId": ${target.order_id}}` : ''
  return `{"partnerId": 7001, "body": ${body}${beside}${twice}}`
}

/** Reads an id in one way; undefined if there is none. */
type ReadId = (value: unknown) => bigint | undefined

const digitsIn = (text: string): string => text.normalize('NFKC').trim().replace(/^\+/, '').match(/^\d+/)?.[0] ?? ''

/** How PHP, Java and JavaScript programs read an id from a JSON value, each as leniently as its language suggests. */
const READERS: Readonly<Record<string, ReadId>> = {
  php: (value) => {
    const one = Array.isArray(value) ? value[0] : value
    const text = typeof one === 'number' ? BigInt(Math.round(one)).toString() : String(one)
    return digitsIn(text) === '' ? undefined : BigInt(digitsIn(text))
  },
  java: (value) => (digitsIn(String(value)) === '' ? undefined : BigInt(digitsIn(String(value)))),
  javascript: (value) => {
    const number = Number(Array.isArray(value) ? value[0] : value)
    return Number.isFinite(number) ? BigInt(Math.round(number)) : undefined
  },
}

const canonicalName = (name: string): string => name.toLowerCase().replaceAll(/[^a-z]/g, '')

/** Every value below a name that some program could take for this field, wherever it is. */
function valuesOf(json: unknown, name: string): unknown[] {
  if (typeof json !== 'object' || json === null) return []
  return Object.entries(json).flatMap(([field, value]) => [
    ...(canonicalName(field) === name ? [value] : []),
    ...valuesOf(value, name),
  ])
}

/** Which of these orders a program that reads ids this way could act on. */
export function touched(text: string, json: unknown, orders: readonly KnownOrder[]): KnownOrder[] {
  const ids = [...valuesOf(json, 'orderid'), ...valuesOf(json, 'id')].flat()
  const names = [...valuesOf(json, 'partnerorderid')].map(String)
  const codes = valuesOf(json, 'voucherlist').flat().map(String)
  return orders.filter(
    ({ order_id, partner_order_id, vouchers }) =>
      Object.values(READERS).some((read) =>
        ids.some((value) => read(value) === order_id || String(read(value)) === String(BigInt(Number(order_id)))),
      ) ||
      names.includes(partner_order_id ?? '') ||
      codes.some((code) => vouchers.includes(code)) ||
      text.includes(String(order_id)),
  )
}
