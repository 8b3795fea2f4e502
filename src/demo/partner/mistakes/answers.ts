import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import { ENCRYPTION_HEADER, encrypted } from '../encryption.ts'
import { readJson, writeJson } from '../wire.ts'
import type { DemoMistake, Switches } from './mistakes.ts'

export type Json = Record<string, unknown>

/** The call whose response is altered. */
interface Occasion {
  /** The interface's path. */
  readonly path: string
  readonly reply: FastifyReply
  /** The Authorization header of the call. */
  readonly authorization: string
  readonly clientSecret: string
}

/** Alters a response: returns an object for the next mistake, or the final text. */
type Spoil = (answer: Json, occasion: Occasion) => Json | string | Promise<Json>

type Spoilers = Readonly<Partial<Record<DemoMistake, Spoil>>>

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Changes the body, or each of its entries. */
export const inBody = (answer: Json, change: (entry: Json) => Json): Json => {
  const { body } = answer
  if (Array.isArray(body)) return { ...answer, body: body.map((entry: Json) => change(entry)) }
  return isObject(body) ? { ...answer, body: change(body) } : answer
}

export const without = (entry: Json, field: string): Json =>
  Object.fromEntries(Object.entries(entry).filter(([name]) => name !== field))

/** The id as a JSON parser reads it that stores numbers as doubles. */
export const rounded = (id: bigint): bigint => BigInt(String(Number(id)))

/** A required field of each answer; an answer without one loses `code`. */
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

/** Alters entries that have this field. */
const field =
  (name: string, change: (value: unknown, entry: Json) => unknown): Spoil =>
  (answer) =>
    inBody(answer, (entry) => (name in entry ? { ...entry, [name]: change(entry[name], entry) } : entry))

/** Adds a copy of the first entry on a day outside the requested range. */
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

/** Mistakes in single fields: the answer is well-formed but wrong. */
const SPOILT_FIELDS: Spoilers = {
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

const UNKNOWN_ORDER = 301
const WRONG_PRICE = 410

/** The answer for an order that does not exist. */
const INVENTED = {
  orderStatus: 4,
  orderQuantity: 1,
  usedQuantity: 0,
  refundedQuantity: 0,
  voucherType: 0,
  voucherList: [],
}

/** Turns a refusal of this interface into a success. */
const granted =
  (path: string, isRefusal: (code: number) => boolean, body: Json): Spoil =>
  (answer, occasion) =>
    occasion.path === path && isRefusal(Number(answer.code))
      ? { ...answer, code: 200, describe: 'success', body }
      : answer

/** Mistakes of a shop that grants what it should refuse, or confuses orders. */
const GRANTED: Spoilers = {
  'unknown-order-found': granted('/order/query', (code) => code === UNKNOWN_ORDER, INVENTED),
  'old-price-accepted': granted('/order/create', (code) => code === WRONG_PRICE, { partnerOrderId: 'DP-OLD-PRICE' }),
  'any-refund-accepted': granted('/order/refund', (code) => code > 602, {}),
  'orders-share-id': (answer, { path }) =>
    path === '/order/create' ? inBody(answer, (entry) => ({ ...entry, partnerOrderId: 'DP-SHARED' })) : answer,
}

/** Changes status or headers, and leaves the content as it is. */
const head =
  (change: (reply: FastifyReply) => unknown): Spoil =>
  (answer, { reply }) => {
    change(reply)
    return answer
  }

/** Mistakes in the answer as a whole. Those that return text come last, as nothing can be altered after them. */
const SPOILT: Spoilers = {
  'answer-code-300': (answer) => ({ ...without(answer, 'body'), code: 300, describe: 'error' }),
  'answer-other-partner-id': (answer) => ({ ...answer, partnerId: `${answer.partnerId}1` }),
  'answer-echoes-secrets': (answer, { reply, authorization, clientSecret }) => {
    reply.header('X-Debug', `${authorization} ${clientSecret}`)
    const describe = `${answer.describe} (signed with ${clientSecret})`
    return { ...answer, describe, debug: { authorization, clientSecret } }
  },
  'answer-too-large': (answer) => ({ ...answer, padding: 'x'.repeat(2 * 1024 * 1024) }),
  'answer-http-500': head((reply) => reply.code(500)),
  'answer-redirects': head((reply) => reply.code(302).header('Location', '/alive')),
  'answer-slow': async (answer) => {
    await sleep(20_000, undefined, { ref: false })
    return answer
  },
  'answer-wrong-content-type': head((reply) => reply.type('text/html; charset=utf-8')),
  'answer-wrong-aes-key': (answer, { reply }) => {
    reply.header(ENCRYPTION_HEADER, 'encrypted')
    return encrypted('another key, 16.', writeJson(answer))
  },
  'answer-empty': () => '',
  'answer-not-json': (_answer, { reply }) => {
    reply.type('text/html; charset=utf-8')
    return '<html><body><h1>It works!</h1></body></html>'
  },
}

const ALL = Object.entries({ ...GRANTED, ...SPOILT_FIELDS, ...SPOILT }) as [DemoMistake, Spoil][]

/** Applies all switched-on mistakes to a finished response: first to its fields, then to the whole. */
export async function spoil(switches: Switches, payload: string, occasion: Occasion): Promise<string> {
  let answer = readJson(payload) as Json
  for (const [mistake, change] of ALL) {
    if (!switches.has(mistake)) continue
    const spoilt = await change(answer, occasion)
    if (typeof spoilt === 'string') return spoilt
    answer = spoilt
  }
  return writeJson(answer)
}
