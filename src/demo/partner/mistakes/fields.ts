import { inBody, isObject, type Json, rounded, type Spoil, type Spoilers, without } from './spoil.ts'

/** A required field of each answer; where there is none, the code. */
const REQUIRED: Readonly<Record<string, string>> = {
  '/poi/query': 'name',
  '/product/query': 'title',
  '/product/price/query': 'settlementPrice',
  '/product/level/price/calendar/v2': 'partnerPrimaryKey',
  '/order/create': 'partnerOrderId',
  '/order/pay': 'voucherType',
  '/order/query': 'orderStatus',
  '/order/refund': 'refundId',
  '/order/reschedule': 'successCount',
  '/balance/query': 'prepaidAccountBalance',
}

const SCRIPT = '<script>alert(1)</script>'
const PICTURE = '"><img src="x" onerror="alert(1)">'
const FAR_AWAY = '2099-12-31'
const STRANGER = 'DEMO-STRANGER'

const isCalendar = (path: string): boolean => path.startsWith('/product/') && path.includes('price')

/** Alters an entry that has this field; the callback gets the current value. */
const field =
  (name: string, change: (value: unknown, entry: Json) => unknown): Spoil =>
  (answer) =>
    inBody(answer, (entry) => (name in entry ? { ...entry, [name]: change(entry[name], entry) } : entry))

/** With one more entry: the first again, on a day that nobody has asked for. */
function withFarDay(answer: Json): Json {
  const [first] = Array.isArray(answer.body) ? answer.body : []
  if (!isObject(first)) return answer
  const day = 'priceDate' in first ? 'priceDate' : 'date'
  return { ...answer, body: [...(answer.body as Json[]), { ...first, [day]: FAR_AWAY }] }
}

const ofStranger = (entry: Json): Json => ('partnerDealId' in entry ? { ...entry, partnerDealId: STRANGER } : entry)

const wrongType = (value: unknown): unknown => {
  if (typeof value === 'string') return [value]
  return typeof value === 'number' || typeof value === 'bigint' ? `about ${value}` : 'yes'
}

const wrongTypes = (entry: Json): Json =>
  Object.fromEntries(Object.entries(entry).map(([name, value]) => [name, wrongType(value)]))

const SHOWN: Readonly<Json> = { title: SCRIPT, subTitle: PICTURE, name: SCRIPT }

const withScripts = (entry: Json): Json =>
  Object.fromEntries(Object.entries(entry).map(([name, value]) => [name, SHOWN[name] ?? value]))

/** Mistakes in single fields: the answer can be read, but says something wrong. */
export const SPOILT_FIELDS: Spoilers = {
  'prices-out-of-range': (answer, { path }) => (isCalendar(path) ? withFarDay(answer) : answer),
  'prices-of-another-product': (answer, { path }) =>
    isCalendar(path) ? ofStranger(inBody(answer, ofStranger)) : answer,
  'vouchers-do-not-fit-type': field('vouchers', (vouchers) =>
    (vouchers as string[]).length > 0 ? (vouchers as string[]).slice(1) : ['000000000000'],
  ),
  'refund-answers-another-refund': field('refundId', (refundId) => `${refundId}-other`),
  'reschedule-count-wrong': field('successCount', (count) => Number(count) - 1),
  'answer-other-order-id': field('orderId', (orderId) => BigInt(orderId as bigint) + 1n),
  'answer-rounded-order-id': field('orderId', (orderId) => rounded(BigInt(orderId as bigint))),
  'answer-missing-field': (answer, { path }) => {
    const name = REQUIRED[path]
    return name === undefined ? without(answer, 'code') : inBody(answer, (entry) => without(entry, name))
  },
  'answer-wrong-types': (answer) => ('body' in answer ? inBody(answer, wrongTypes) : wrongTypes(answer)),
  'answer-scripts': (answer) => ({ ...inBody(answer, withScripts), describe: SCRIPT }),
}
