import { setTimeout as sleep } from 'node:timers/promises'
import { ENCRYPTION_HEADER, encrypted } from '../encryption.ts'
import { readJson, writeJson } from '../json.ts'
import { SPOILT_FIELDS } from './fields.ts'
import type { DemoMistake, Switches } from './mistakes.ts'
import { inBody, type Json, type Occasion, type Spoil, type Spoilers, without } from './spoil.ts'

const UNKNOWN_ORDER = 301
const WRONG_PRICE = 410

/** Nothing is used or refunded of an order that nobody knows. */
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

/** Mistakes of a shop that grants what it should refuse, or does not tell orders apart. */
const GRANTED: Spoilers = {
  'unknown-order-found': granted('/order/query', (code) => code === UNKNOWN_ORDER, INVENTED),
  'old-price-accepted': granted('/order/create', (code) => code === WRONG_PRICE, { partnerOrderId: 'DP-OLD-PRICE' }),
  'any-refund-accepted': granted('/order/refund', (code) => code > 602, {}),
  'orders-share-id': (answer, { path }) =>
    path === '/order/create' ? inBody(answer, (entry) => ({ ...entry, partnerOrderId: 'DP-SHARED' })) : answer,
}

/** Mistakes in the answer as a whole. Those that end in a text come last: nothing can be altered after them. */
const SPOILT: Spoilers = {
  'answer-code-300': (answer) => ({ ...without(answer, 'body'), code: 300, describe: 'error' }),
  'answer-other-partner-id': (answer) => ({ ...answer, partnerId: `${answer.partnerId}1` }),
  'answer-echoes-secrets': (answer, { reply, authorization, clientSecret }) => {
    reply.header('X-Debug', `${authorization} ${clientSecret}`)
    const describe = `${answer.describe} (signed with ${clientSecret})`
    return { ...answer, describe, debug: { authorization, clientSecret } }
  },
  'answer-too-large': (answer) => ({ ...answer, padding: 'x'.repeat(2 * 1024 * 1024) }),
  'answer-http-500': (answer, { reply }) => {
    reply.code(500)
    return answer
  },
  'answer-redirects': (answer, { reply }) => {
    reply.code(302).header('Location', '/alive')
    return answer
  },
  'answer-slow': async (answer) => {
    await sleep(20_000, undefined, { ref: false })
    return answer
  },
  'answer-wrong-content-type': (answer, { reply }) => {
    reply.type('text/html; charset=utf-8')
    return answer
  },
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

/** Alters a finished response by all switched-on mistakes: first its fields, then the whole. */
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
