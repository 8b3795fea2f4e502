import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { historyOf, recordOf, seedOrder, seedRefund } from '../../orders/orders.ts'
import { Client } from '../client.ts'
import { httpWire } from '../http.ts'
import {
  BA_FAILED,
  CONSUME,
  consumption,
  DEAL_CHANGE,
  decision,
  failure,
  makeSeller,
  REFUND,
  type Seller,
  type Sending,
  send,
  success,
} from '../seller.ts'
import { type System, sharedSystem } from '../system.ts'

/** Each bad body is sent with a correct and a wrong signature. An unsigned caller learns nothing about the body. */

let system: System
let pool: pg.Pool
let seller: Seller

beforeAll(async () => {
  system = await sharedSystem()
  pool = new pg.Pool({ connectionString: system.databaseUrl, max: 1 })
  seller = await makeSeller(new Client(httpWire(system.origin), system.origin))
})
afterAll(async () => {
  await pool?.end()
  await system?.stop()
})

let orderId = 8985652356562370000n
/** Every test has an order of three tickets with one refund under review. */
beforeEach(async () => {
  orderId += 1n
  const partnerId = Number(seller.partnerId)
  await seedOrder(pool, { orderId, partnerId, quantity: 3, vouchers: ['A', 'B', 'C'] })
  await seedRefund(pool, { refundId: `R${orderId}`, orderId, partnerId })
})

const answerTo = async (path: string, body: string | Buffer, more: Partial<Sending> = {}): Promise<string> =>
  (await send(system.origin, seller, { path, body, ...more })).text

/** An unsigned caller gets exactly the same answer, headers included, whatever the body. */
async function expectNothingLearnt(path: string, body: string | Buffer): Promise<void> {
  const told = async (sent: string | Buffer) => {
    const { status, headers, text } = await send(system.origin, seller, { path, body: sent, signed: { secret: 'x' } })
    const { date, 'x-request-id': _, ...rest } = headers
    return { status, rest, text }
  }
  const answer = await told(body)
  expect(answer).toEqual(await told('{}'))
  expect(answer.text).toBe(failure(seller, BA_FAILED))
}

interface Case {
  readonly name: string
  readonly path?: string
  readonly body: () => string | Buffer
  /** The answer's `describe`; undefined if the body is accepted. */
  readonly refused?: string | RegExp
  /** Expected changes to the order. */
  readonly order?: object
}

const told = (changes: object) => () => consumption({ orderId, ...changes })
const voucher = (text: string, status = 1, quantity: number | string = 1) =>
  `{"voucher":${text},"voucherInvalidTime":"2026-12-31 23:59:59","quantity":${quantity},"status":${status}}`
const withVouchers = (...list: string[]) => told({ more: `,"voucherList":[${list.join(',')}]` })
const inside = (members: string) => () => consumption({ orderId }).replace('"body":{', `"body":{${members},`)
const int64 = 'must be a 64-bit integer, as a number or string'
const int32 = 'must be a 32-bit integer, as a number or string'

const READING: Case[] = [
  { name: 'empty', body: () => '', refused: 'HTTP body: empty' },
  { name: 'whitespace', body: () => ' \r\n\t', refused: 'HTTP body: empty' },
  { name: 'not JSON', body: () => 'hello', refused: /^HTTP body: not JSON: / },
  { name: 'a form', body: () => `body=${orderId}`, refused: /^HTTP body: not JSON: / },
  { name: 'JSON cut off', body: () => consumption({ orderId }).slice(0, -1), refused: /^HTTP body: not JSON: / },
  { name: 'two JSON texts', body: () => `${consumption({ orderId })}{}`, refused: /^HTTP body: not JSON: / },
  { name: 'NaN', body: told({ used: 'NaN' }), refused: /^HTTP body: not JSON: / },
  {
    name: 'single quotes',
    body: () => consumption({ orderId }).replaceAll('"', "'"),
    refused: /^HTTP body: not JSON: /,
  },
  { name: 'NUL bytes', body: () => '\0\0\0', refused: /^HTTP body: not JSON: / },
  { name: 'null', body: () => 'null', refused: 'the JSON value must be an object' },
  { name: 'an array', body: () => `[${consumption({ orderId })}]`, refused: 'the JSON value must be an object' },
  { name: 'a text', body: () => '"body"', refused: 'the JSON value must be an object' },
  { name: 'no body field', body: () => '{}', refused: /^body / },
  {
    name: 'body as text',
    body: () => JSON.stringify({ body: '{}' }),
    refused: 'body must be an object, not a string with JSON in it',
  },
  { name: 'body as array', body: () => '{"body":[]}', refused: 'body must be an object' },
  { name: 'arrays 10,000 deep', body: () => '['.repeat(10_000), refused: 'HTTP body: nested deeper than 32 levels' },
  { name: 'objects 10,000 deep', body: () => '{"body":'.repeat(10_000), refused: /nested deeper than 32 levels/ },
  {
    name: '2 MiB',
    body: () => told({ more: `,"x":"${'x'.repeat(2 ** 21)}"` })(),
    refused: 'HTTP body: larger than 1 MiB',
  },
  { name: '2 MiB of brackets', body: () => '['.repeat(2 ** 21), refused: 'HTTP body: larger than 1 MiB' },
  {
    name: 'invalid UTF-8',
    body: () => Buffer.concat([Buffer.from('{"body":"'), Buffer.from([0xff, 0xfe, 0xc0, 0x80]), Buffer.from('"}')]),
    refused: 'HTTP body: not valid UTF-8',
  },
  { name: 'GBK', body: () => Buffer.from('7b2261223a22c4e3bac3227d', 'hex'), refused: 'HTTP body: not valid UTF-8' },
  { name: 'UTF-16', body: () => Buffer.from('{}', 'utf16le'), refused: 'HTTP body: UTF-16, not UTF-8' },
  { name: 'U+0000 in a text', body: inside('"x":"\\u0000"'), refused: /U\+0000/ },
  { name: 'half of a surrogate pair', body: inside('"x":"\\ud800"'), refused: /surrogate/ },
  { name: 'doubled names', body: inside('"orderId":1'), refused: /the name "orderId" appears twice/ },
  {
    name: 'doubled names, one escaped',
    body: inside('"\\u006frderId":1'),
    refused: /the name "orderId" appears twice/,
  },
]

const CONSUMPTION: Case[] = [
  {
    name: 'orderId and quantities as text',
    body: () => consumption({ orderId: `"${orderId}"`, quantity: '"3"', used: '"1"' }),
    order: { used: 1 },
  },
  { name: 'a byte order mark', body: () => `\ufeff${consumption({ orderId })}`, order: { used: 1 } },
  { name: 'unknown fields', body: inside('"remark":{"any":["thing",null]}'), order: { used: 1 } },
  {
    name: 'partnerId of another',
    body: () => `{"partnerId":1,${consumption({ orderId }).slice(1)}`,
    refused: 'partnerId does not belong to the clientId of the signature',
  },
  {
    name: 'partnerId as text',
    body: () => `{"partnerId":"${seller.partnerId}",${consumption({ orderId }).slice(1)}`,
    order: { used: 1 },
  },
  {
    name: 'partnerId beyond 64 bits',
    body: () => `{"partnerId":18446744073709551617,${consumption({ orderId }).slice(1)}`,
    refused: /^partnerId must be digits/,
  },
  {
    name: 'an orderId next to the right one',
    body: () => consumption({ orderId: orderId + 4n }),
    refused: /^order \d+ does not exist$/,
  },
  { name: 'orderId beyond 2^64', body: told({ orderId: '18446744073709551616' }), refused: `body.orderId ${int64}` },
  { name: 'orderId beyond 2^63', body: told({ orderId: '9223372036854775808' }), refused: `body.orderId ${int64}` },
  { name: 'orderId of 1,000 digits', body: told({ orderId: '9'.repeat(1000) }), refused: `body.orderId ${int64}` },
  {
    name: 'orderId with an exponent',
    body: told({ orderId: '8985652356562370001e0' }),
    refused: `body.orderId ${int64}`,
  },
  { name: 'orderId as fraction', body: told({ orderId: '1.5' }), refused: `body.orderId ${int64}` },
  { name: 'orderId as word', body: told({ orderId: '"one"' }), refused: `body.orderId ${int64}` },
  { name: 'orderId as object', body: told({ orderId: '{}' }), refused: `body.orderId ${int64}` },
  { name: 'orderId null', body: told({ orderId: 'null' }), refused: /^body\.orderId / },
  { name: 'a negative orderId', body: told({ orderId: '-7' }), refused: 'order -7 does not exist' },
  {
    name: 'partnerOrderId of 24 digits as number',
    body: () => consumption({ orderId }).replace('"P-1"', '123456789012345678901234'),
    refused: /^body\.partnerOrderId /,
  },
  {
    name: 'partnerOrderId missing',
    body: () => consumption({ orderId }).replace('partnerOrderId', 'x'),
    refused: 'body.partnerOrderId is required',
  },
  {
    name: 'partnerOrderId as object',
    body: () => consumption({ orderId }).replace('"P-1"', '{}'),
    refused: /^body\.partnerOrderId /,
  },
  {
    name: 'quantities as words',
    body: told({ quantity: '"three"', used: '"one"' }),
    refused: `body.quantity ${int32}; body.usedQuantity ${int32}`,
  },
  { name: 'a quantity beyond 2^31', body: told({ used: '2147483648' }), refused: `body.usedQuantity ${int32}` },
  { name: 'a quantity beyond 2^53', body: told({ used: '9007199254740993' }), refused: `body.usedQuantity ${int32}` },
  {
    name: 'a quantity beyond 2^64',
    body: told({ used: '18446744073709551617' }),
    refused: `body.usedQuantity ${int32}`,
  },
  { name: 'a fraction of a ticket', body: told({ used: '0.5' }), refused: `body.usedQuantity ${int32}` },
  { name: 'true', body: told({ used: 'true' }), refused: `body.usedQuantity ${int32}` },
  { name: 'a negative usedQuantity', body: told({ used: -1 }), refused: 'usedQuantity must not be negative' },
  {
    name: 'a negative refundedQuantity',
    body: told({ refunded: -1 }),
    refused: 'refundedQuantity must not be negative',
  },
  { name: 'quantity 0', body: told({ quantity: 0, used: 0 }), refused: 'quantity must be at least 1' },
  {
    name: "another quantity than the order's",
    body: told({ quantity: 4 }),
    refused: /^quantity is 4; order \d+ has 3$/,
  },
  {
    name: 'more used than there are',
    body: told({ used: 4 }),
    refused: 'usedQuantity and refundedQuantity together must not exceed quantity',
  },
  {
    name: 'more used and refunded than there are',
    body: told({ used: 2, refunded: 2 }),
    refused: /together must not exceed/,
  },
  {
    name: 'quantities whose sum overflows',
    body: told({ used: 2147483647, refunded: 2147483647 }),
    refused: /together must not exceed/,
  },
  {
    name: "a voucher that is not the order's",
    body: withVouchers(voucher('"A"'), voucher('"Z"')),
    refused: /^voucher Z is not of order/,
  },
  {
    name: 'a voucher state that does not exist',
    body: withVouchers(voucher('"A"', 9)),
    refused: 'body.voucherList[0].status must be one of 0, 1, 2, 3',
  },
  {
    name: 'a voucher without a time',
    body: withVouchers('{"voucher":"A","quantity":1,"status":1}'),
    refused: 'body.voucherList[0].voucherInvalidTime is required',
  },
  {
    name: 'a voucher list that is none',
    body: told({ more: ',"voucherList":{"0":1}' }),
    refused: 'body.voucherList must be an array',
  },
  {
    name: 'a voucher twice',
    body: withVouchers(voucher('"A"', 1), voucher('"A"', 0)),
    order: { used: 1, vouchers: { A: 'used', B: 'unused', C: 'unused' } },
  },
  {
    name: 'a date that does not exist',
    body: told({ more: ',"useStartDate":"2026-02-30"' }),
    refused: 'body.useStartDate must be a date, yyyy-MM-dd',
  },
  { name: '__proto__ beside the fields', body: inside('"__proto__":{"polluted":1}'), order: { used: 1 } },
  {
    name: '__proto__ instead of the fields',
    body: () => consumption({ orderId }).replace('"body":', '"body":{"__proto__":').concat('}'),
    refused: /^body\.orderId is required; /,
  },
  { name: 'constructor and prototype', body: inside('"constructor":{"prototype":{"polluted":1}}'), order: { used: 1 } },
]

const DECISION: Case[] = [
  {
    name: 'an unknown order',
    path: REFUND,
    body: () => decision(7n, `R${orderId}`, 200),
    refused: 'order 7 does not exist',
  },
  {
    name: 'an unknown refundId',
    path: REFUND,
    body: () => decision(orderId, 'R', 200),
    refused: 'refund R does not exist',
  },
  {
    name: 'the refund of another order',
    path: REFUND,
    body: () => decision(orderId, `R${orderId - 1n}`, 200),
    refused: /^refund R\d+ does not exist$/,
  },
  {
    name: 'a decision that does not exist',
    path: REFUND,
    body: () => decision(orderId, `R${orderId}`, 602),
    refused: 'code must be one of 200, 606, 699',
  },
  {
    name: 'no describe',
    path: REFUND,
    body: () => decision(orderId, `R${orderId}`, 200).replace('"describe"', '"x"'),
    refused: 'describe is required',
  },
  {
    name: 'a refundId of 300 characters',
    path: REFUND,
    body: () => decision(orderId, 'R'.repeat(300), 200),
    refused: /^body\.refundId must have at most 255/,
  },
]

const PRODUCT: Case[] = [
  { name: 'no entries', path: DEAL_CHANGE, body: () => '{"body":[]}', refused: 'body must have at least one entry' },
  {
    name: 'no partnerDealId',
    path: DEAL_CHANGE,
    body: () => '{"body":[{"status":1}]}',
    refused: 'body[0].partnerDealId is required',
  },
  {
    name: 'an unknown status',
    path: DEAL_CHANGE,
    body: () => '{"body":[{"partnerDealId":"D","status":1},{"partnerDealId":"E","status":3}]}',
    refused: 'body[1].status must be one of 0, 1, 2, 5',
  },
  { name: 'a body that is null', path: DEAL_CHANGE, body: () => '{"body":null}', refused: /^body / },
]

const UNTOUCHED = { state: 'paid', used: 0, refunded: 0, vouchers: { A: 'unused', B: 'unused', C: 'unused' } }

describe.each([
  ['that cannot be read', READING],
  ['of a consumption notice', CONSUMPTION],
  ['of a refund notice', DECISION],
  ['of a product change notice', PRODUCT],
])('a body %s', (_kind, cases) => {
  it.each(cases)('$name', async ({ path = CONSUME, body, refused, order = {} }) => {
    const bytes = body()
    await expectNothingLearnt(path, bytes)
    const { code, describe, ...rest } = JSON.parse(await answerTo(path, bytes))
    expect(rest).toEqual({ partnerId: seller.partnerId })
    if (refused === undefined) expect({ code, describe }).toEqual({ code: 200, describe: 'success' })
    else
      expect({ code, describe }).toEqual({
        code: 300,
        describe: typeof refused === 'string' ? refused : expect.stringMatching(refused),
      })
    expect(await recordOf(pool, orderId)).toMatchObject({ ...UNTOUCHED, ...order })
  })
})

it('a body that one endpoint cannot read is refused at the others too', async () => {
  for (const path of [REFUND, DEAL_CHANGE, `/rhone${REFUND}`, `/rhone${DEAL_CHANGE}`]) {
    for (const { body } of READING) expect(JSON.parse(await answerTo(path, body()))).toMatchObject({ code: 300 })
  }
})

describe('the meaning of a notice:', () => {
  it('lower quantities than before are accepted without effect', async () => {
    expect(await answerTo(CONSUME, consumption({ orderId, used: 2, refunded: 1 }))).toBe(success(seller))
    const history = await historyOf(pool, orderId)
    for (const [used, refunded] of [
      [1, 1],
      [2, 0],
      [0, 0],
    ]) {
      expect(await answerTo(CONSUME, consumption({ orderId, used: used ?? 0, refunded: refunded ?? 0 }))).toBe(
        success(seller),
      )
    }
    expect(await recordOf(pool, orderId)).toMatchObject({ state: 'consumed', used: 2, refunded: 1 })
    expect(await historyOf(pool, orderId)).toEqual(history)
  })

  it('reports that contradict each other are refused when their maximums exceed the order', async () => {
    expect(await answerTo(CONSUME, consumption({ orderId, used: 2 }))).toBe(success(seller))
    const contrary = await answerTo(CONSUME, consumption({ orderId, used: 0, refunded: 2 }))
    expect(contrary).toMatch(/has 3 tickets; 2 used and 2 refunded are more than that/)
    expect(await recordOf(pool, orderId)).toMatchObject({ used: 2, refunded: 0 })
  })

  it('a second decision on a refund: the same is accepted, a different one refused', async () => {
    const decide = (code: number, describe?: string) =>
      answerTo(REFUND, decision(orderId, `R${orderId}`, code, describe))
    expect(await decide(200)).toBe(success(seller))
    const history = await historyOf(pool, orderId)
    expect(await decide(200, 'in other words')).toBe(success(seller))
    for (const code of [606, 699]) {
      expect(await decide(code)).toBe(
        failure(seller, `refund R${orderId} is already refunded; it cannot become refused`),
      )
    }
    expect(await historyOf(pool, orderId)).toEqual(history)
    expect(await recordOf(pool, orderId)).toMatchObject({ refunded: 1, refunds: { [`R${orderId}`]: 'refunded' } })
  })

  it('a refused refund can no longer be granted', async () => {
    expect(await answerTo(REFUND, decision(orderId, `R${orderId}`, 606))).toBe(success(seller))
    expect(await answerTo(REFUND, decision(orderId, `R${orderId}`, 699))).toBe(success(seller))
    const granted = await answerTo(REFUND, decision(orderId, `R${orderId}`, 200))
    expect(granted).toBe(failure(seller, `refund R${orderId} is already refused; it cannot become refunded`))
    expect(await recordOf(pool, orderId)).toMatchObject({ refunded: 0, refunds: { [`R${orderId}`]: 'refused' } })
  })
})
