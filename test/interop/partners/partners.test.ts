import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Client } from '../../acceptance/client.ts'
import { httpWire } from '../../acceptance/http.ts'
import { makeSeller, type Seller } from '../../acceptance/seller.ts'
import { type System, startSystem } from '../../acceptance/system.ts'
import { certify } from './certify.ts'
import * as partners from './partners.ts'
import type { Json, Order, PartnerProgram } from './program.ts'

let system: System
let client: Client
beforeAll(async () => {
  system = await startSystem({ PARTNER_ADDRESS_ALLOW: '127.0.0.1', SANDBOX_WAIT_S: '30' })
  client = new Client(httpWire(system.origin), system.origin)
})
afterAll(() => system.stop())

/** A program that is known to the platform and listens. */
async function begin<Program extends PartnerProgram>(Kind: new () => Program, fields: object = {}): Promise<Program> {
  const program = new Kind()
  program.platformUrl = system.origin
  const made: Seller = await makeSeller(client, { stage: 'sandbox', base_url: await program.listen(), ...fields })
  program.me = made
  if (program.aesKey) {
    await client.admin('PUT', `/partners/${made.partnerId}/aes-key`, { aes_key: program.aesKey })
    await client.admin('PATCH', `/partners/${made.partnerId}`, { encrypts_calls: true })
  }
  return program
}

/** Certifies it, then pulls its whole catalogue page by page, which no step of the sandbox does. */
async function walk(program: PartnerProgram) {
  const certified = await certify(program)
  const report = await client.admin('POST', `/partners/${program.me.partnerId}/products/pull`)
  return { ...certified, pulled: (report.pulled as string[]).length }
}

interface Quirk {
  readonly name: string
  readonly kind: new () => PartnerProgram
  /** Warnings that the seller gets all the same. */
  readonly warned?: readonly string[]
  /** Why it is not certified: the step, the check and what it says. */
  readonly refused?: readonly [step: string, check: Json]
  /** A step waits most of its time: these run beside each other. */
  readonly waits?: true
}

const QUIRKS: readonly Quirk[] = [
  { name: 'none', kind: partners.Plain },
  { name: 'quantities and prices as text', kind: partners.NumbersAsText },
  { name: 'null for lists', kind: partners.NullsForLists },
  { name: 'partnerId as a number', kind: partners.NumericPartnerId, warned: ['envelope'] },
  { name: 'unknown fields and missing lists are refused', kind: partners.StrictMapper },
  { name: 'the clientId is not looked at', kind: partners.SignatureOnly, warned: ['client-checked'] },
  { name: 'a bad signature is 410; the Date is not looked at', kind: partners.SaysFourTen, warned: ['date-checked'] },
  { name: 'a bad signature is HTTP 401', kind: partners.SaysUnauthorized },
  { name: 'pages of twenty, and no total', kind: partners.PagesOfTwenty },
  { name: 'no product pull', kind: partners.NoProductPull },
  { name: 'bodies are encrypted', kind: partners.Encrypted },
  { name: 'codes come by pay notice, after 598', kind: partners.CodesByNotice },
  { name: 'codes come by pay notice, after 200 with asyReturnVoucher', kind: partners.CodesFollow },
  {
    name: 'partnerOrderId in the answer to order create only',
    kind: partners.NamesOrderOnce,
    // Nothing of order ids: it looks at no price, and uses all tickets where one was to be used.
    warned: ['code', 'order-state'],
    refused: ['refund-of-rest', { id: 'quantities', path: 'body.usedQuantity' }],
  },
  { name: 'one code for all tickets', kind: partners.OneCodeForAll },
  { name: 'somebody accepts orders by hand', kind: partners.AcceptsByHand, waits: true },
  { name: 'issueType 0 for issued, until it is refused', kind: partners.IssuedIsZero },
  { name: 'codes stand beside documents only', kind: partners.CodesBesideDocuments },
  {
    name: 'notices name the partnerOrderId of another order',
    kind: partners.ForeignOrderId,
    waits: true,
    refused: [
      'consumption',
      { id: 'notice-accepted', actual: expect.stringContaining('partnerOrderId is P-of-somebody') },
    ],
  },
  {
    name: 'consumption notices say nothing of codes',
    kind: partners.SilentAboutCodes,
    waits: true,
    refused: ['consumption', { id: 'notice-accepted', actual: expect.stringContaining('voucherList is required') }],
  },
  {
    name: 'a faulty answer to a right call is not a failed defence',
    kind: partners.FaultyPrices,
    warned: ['fields'],
    refused: ['price-calendar', { id: 'fields', path: 'body[0].stock', actual: '"many"' }],
  },
  {
    name: 'every refund is answered with the id of the first',
    kind: partners.AnswersAboutFirstRefund,
    refused: ['refund-again', { id: 'refund-id', path: 'body.refundId' }],
  },
  {
    name: 'refunds are answered with another partnerOrderId',
    kind: partners.AnswersAboutAnotherOrder,
    refused: ['refund-at-once', { id: 'fields', path: 'body.partnerOrderId' }],
  },
  {
    name: 'refunds are answered with another orderId',
    kind: partners.AnswersWithAnotherOrderId,
    refused: ['refund-at-once', { id: 'order-id', path: 'body.orderId' }],
  },
  {
    name: '598, and no tickets ever',
    kind: partners.NeverIssues,
    waits: true,
    refused: [
      'order-pay-later',
      { id: 'notice-arrived', actual: expect.stringContaining('no pay notice came within 30 s') },
    ],
  },
  {
    name: 'code as text',
    kind: partners.CodeAsText,
    refused: ['product-pull', { id: 'envelope', path: 'code', actual: '"200"' }],
  },
  {
    name: 'null for describe',
    kind: partners.NullForDescribe,
    refused: ['product-pull', { id: 'envelope', path: 'describe', actual: 'null' }],
  },
  {
    name: 'answers without partnerId',
    kind: partners.NamesNobody,
    refused: ['product-pull', { id: 'envelope', path: 'partnerId', actual: 'missing' }],
  },
  {
    name: 'a bad signature is refused without a word',
    kind: partners.RefusesSilently,
    refused: ['wrong-signature', { id: 'envelope', path: 'describe', actual: 'missing' }],
  },
  {
    name: 'ids are read as doubles',
    kind: partners.RoundedIds,
    warned: ['order-id', 'order-state'],
  },
  {
    name: 'signatures are not looked at',
    kind: partners.ChecksNothing,
    refused: ['wrong-signature', { actual: expect.stringMatching(/^accepted a call with a wrong signature/) }],
  },
]

describe('a partner whose habit is', () => {
  const isJudged = async ({ kind, refused, warned = [] }: Quirk): Promise<void> => {
    const program = await begin(kind)
    const { passed, step, failures, warnings, pulled } = await walk(program).finally(() => program.close())
    expect({ passed, step, failures }).toEqual(
      refused
        ? { passed: false, step: refused[0], failures: expect.arrayContaining([expect.objectContaining(refused[1])]) }
        : { passed: true, step: undefined, failures: [] },
    )
    expect([...new Set(warnings)]).toEqual(warned)
    expect(pulled).toBe(program instanceof partners.NoProductPull ? 0 : program.products.length)
    if (program instanceof partners.IssuedIsZero) {
      const told = program.told.filter(({ path }) => path === '/mtp/api/order/pay/notice')
      expect(told).toMatchObject([
        { code: 400, describe: expect.stringContaining('issueType 0 reports a failure') },
        { code: 200 },
      ])
    }
    if (program instanceof partners.CodesByNotice) {
      expect(program.told).toContainEqual(expect.objectContaining({ path: '/mtp/api/order/pay/notice' }))
      expect(program.told.filter(({ code }) => code !== 200)).toEqual([])
    }
    if (program instanceof partners.Encrypted) {
      expect([...program.seen].sort()).toEqual(['/order/create', '/order/pay', '/order/query', '/order/refund'])
    }
  }
  it.each(QUIRKS.filter(({ waits }) => !waits))('$name', isJudged)
  it.concurrent.each(QUIRKS.filter(({ waits }) => waits))('$name', isJudged)

  it('one code for all tickets gets the rest back after one was used', async () => {
    const program = await begin(partners.OneCodeForAll)
    try {
      const admin = (path: string, body: object = {}) =>
        client.admin('POST', `/orders${path}`, body) as Promise<{ order: Json & { order_id: string } }>
      const partnerId = program.me.partnerId
      await client.admin('POST', `/partners/${partnerId}/products/pull`)
      const prices = { unit_price: 100, buy_price: 80 }
      const { order } = await admin('', { partner_id: partnerId, partner_deal_id: 'zoo', quantity: 3, ...prices })
      await admin(`/${order.order_id}/pay`)
      const [mine] = program.orders.values()
      expect(await program.tellUsed(mine as Order, 1)).toMatchObject({ code: 200 })
      const code = `${mine?.partnerOrderId}-all`
      const { order: after } = await admin(`/${order.order_id}/refund`)
      expect(program.asked).toEqual([[[code], 2]])
      expect(after).toMatchObject({
        ...{ state: 'consumed', used_quantity: 1, refunded_quantity: 2 },
        vouchers: [{ voucher: code, quantity: 3, used_quantity: 1, refunded_quantity: 2 }],
      })
    } finally {
      program.close()
    }
  })
})
