import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Client } from '../../acceptance/client.ts'
import { httpWire } from '../../acceptance/http.ts'
import { makeSeller, type Seller } from '../../acceptance/seller.ts'
import { FEW_LINES, type System, startSystem } from '../../acceptance/system.ts'
import { certify } from './certify.ts'
import * as partners from './partners.ts'
import type { Json, Order, PartnerProgram } from './program.ts'

let system: System
let client: Client
beforeAll(async () => {
  system = await startSystem({ ...FEW_LINES, SANDBOX_WAIT_S: '30' })
  client = new Client(httpWire(system.origin), system.origin)
})
afterAll(() => system.stop())

/** Starts a program and registers it with the platform. */
async function startProgram<Program extends PartnerProgram>(
  Kind: new () => Program,
  fields: object = {},
): Promise<Program> {
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

/** Certifies a program, then pulls its whole catalogue page by page, which no step of the sandbox does. */
async function certifyAndPull(program: PartnerProgram) {
  const certified = await certify(program)
  const report = await client.admin('POST', `/partners/${program.me.partnerId}/products/pull`)
  return { ...certified, pulled: (report.pulled as string[]).length }
}

interface Quirk {
  readonly name: string
  readonly kind: new () => PartnerProgram
  /** Checks that warn the seller. */
  readonly warned?: readonly string[]
  /** Why the program is not certified: the failed step and check. */
  readonly refused?: readonly [step: string, check: Json]
  /** Spends most of its time waiting, so these run concurrently. */
  readonly waits?: true
}

const QUIRKS: readonly Quirk[] = [
  { name: 'none', kind: partners.Plain },
  { name: 'quantities and prices as text', kind: partners.NumbersAsText },
  { name: 'null for lists', kind: partners.NullsForLists },
  { name: 'partnerId as a number', kind: partners.NumericPartnerId, warned: ['envelope'] },
  { name: 'that unknown fields and missing lists are refused', kind: partners.StrictMapper },
  { name: 'that the clientId is not checked', kind: partners.SignatureOnly, warned: ['client-checked'] },
  {
    name: '410 for a bad signature, and no check of the Date',
    kind: partners.BadSignatureIs410,
    warned: ['date-checked'],
  },
  { name: 'HTTP 401 for a bad signature', kind: partners.BadSignatureIs401 },
  { name: 'pages of twenty, and no total', kind: partners.PagesOfTwenty },
  { name: 'no product pull', kind: partners.NoProductPull },
  { name: 'encrypted bodies', kind: partners.Encrypted },
  { name: 'codes by pay notice, after 598', kind: partners.CodesByNotice },
  { name: 'codes by pay notice, after 200 with asyReturnVoucher', kind: partners.CodesFollow },
  {
    name: 'partnerOrderId only in the answer to order create',
    kind: partners.PartnerOrderIdOnce,
    // None is about order ids: the program checks no prices, and uses all tickets where it should use one.
    warned: ['code', 'order-state'],
    refused: ['refund-of-rest', { id: 'quantities', path: 'body.usedQuantity' }],
  },
  { name: 'one code for all tickets', kind: partners.OneCodeForAll },
  { name: 'orders accepted by hand', kind: partners.AcceptsByHand, waits: true },
  { name: 'issueType 0 for issued, until it is refused', kind: partners.IssuedIsZero },
  { name: 'codes only in credentialList', kind: partners.CodesBesideDocuments },
  {
    name: 'the partnerOrderId of another order in notices',
    kind: partners.ForeignPartnerOrderId,
    waits: true,
    refused: [
      'consumption',
      { id: 'notice-accepted', actual: expect.stringContaining('partnerOrderId is P-of-somebody') },
    ],
  },
  {
    name: 'consumption notices without codes',
    kind: partners.NoVoucherList,
    waits: true,
    refused: ['consumption', { id: 'notice-accepted', actual: expect.stringContaining('voucherList is required') }],
  },
  {
    name: 'a faulty answer to a correct call, which is no failed signature check',
    kind: partners.FaultyPrices,
    warned: ['fields'],
    refused: ['price-calendar', { id: 'fields', path: 'body[0].stock', actual: '"many"' }],
  },
  {
    name: 'the id of the first refund in every answer',
    kind: partners.AnswersAboutFirstRefund,
    refused: ['refund-again', { id: 'refund-id', path: 'body.refundId' }],
  },
  {
    name: 'another partnerOrderId in answers to refunds',
    kind: partners.AnswersAboutAnotherOrder,
    refused: ['refund-at-once', { id: 'fields', path: 'body.partnerOrderId' }],
  },
  {
    name: 'another orderId in answers to refunds',
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
    name: 'names with capitals',
    kind: partners.CapitalNames,
    refused: ['product-pull', { id: 'code', path: 'code', actual: 'missing, but Code is there' }],
  },
  {
    name: 'null for describe',
    kind: partners.NullForDescribe,
    refused: ['product-pull', { id: 'envelope', path: 'describe', actual: 'null' }],
  },
  {
    name: 'answers without partnerId',
    kind: partners.NoPartnerId,
    refused: ['product-pull', { id: 'envelope', path: 'partnerId', actual: 'missing' }],
  },
  {
    name: 'no describe in the refusal of a bad signature',
    kind: partners.RefusesWithoutDescribe,
    refused: ['wrong-signature', { id: 'envelope', path: 'describe', actual: 'missing' }],
  },
  {
    name: 'ids read as doubles',
    kind: partners.RoundedIds,
    warned: ['order-id', 'order-state'],
  },
  {
    name: 'that signatures are not checked',
    kind: partners.ChecksNothing,
    refused: ['wrong-signature', { actual: expect.stringMatching(/^accepted a call with a wrong signature/) }],
  },
]

describe('a partner whose quirk is', () => {
  const expectVerdict = async ({ kind, refused, warned = [] }: Quirk): Promise<void> => {
    const program = await startProgram(kind)
    const { passed, step, failures, warnings, pulled } = await certifyAndPull(program).finally(() => program.close())
    expect({ passed, step, failures }).toEqual(
      refused
        ? { passed: false, step: refused[0], failures: expect.arrayContaining([expect.objectContaining(refused[1])]) }
        : { passed: true, step: undefined, failures: [] },
    )
    expect([...new Set(warnings)]).toEqual(warned)
    const cannotBePulled = program instanceof partners.NoProductPull || program instanceof partners.CapitalNames
    expect(pulled).toBe(cannotBePulled ? 0 : program.products.length)
    if (program instanceof partners.IssuedIsZero) {
      const payNotices = program.noticeAnswers.filter(({ path }) => path === '/mtp/api/order/pay/notice')
      expect(payNotices).toMatchObject([
        { code: 400, describe: expect.stringContaining('issueType 0 reports a failure') },
        { code: 200 },
      ])
    }
    if (program instanceof partners.CodesByNotice) {
      expect(program.noticeAnswers).toContainEqual(expect.objectContaining({ path: '/mtp/api/order/pay/notice' }))
      expect(program.noticeAnswers.filter(({ code }) => code !== 200)).toEqual([])
    }
    if (program instanceof partners.Encrypted) {
      expect([...program.encryptedPaths].sort()).toEqual([
        '/order/create',
        '/order/pay',
        '/order/query',
        '/order/refund',
      ])
    }
  }
  it.each(QUIRKS.filter(({ waits }) => !waits))('$name', expectVerdict)
  it.concurrent.each(QUIRKS.filter(({ waits }) => waits))('$name', expectVerdict)

  it('one code for all tickets: the remaining tickets are refunded after one was used', async () => {
    const program = await startProgram(partners.OneCodeForAll)
    try {
      const admin = (path: string, body: object = {}) =>
        client.admin('POST', `/orders${path}`, body) as Promise<{ order: Json & { order_id: string } }>
      const partnerId = program.me.partnerId
      await client.admin('POST', `/partners/${partnerId}/products/pull`)
      const prices = { unit_price: 100, buy_price: 80 }
      const { order } = await admin('', { partner_id: partnerId, partner_deal_id: 'zoo', quantity: 3, ...prices })
      await admin(`/${order.order_id}/pay`)
      const [mine] = program.orders.values()
      expect(await program.notifyUsed(mine as Order, 1)).toMatchObject({ code: 200 })
      const code = `${mine?.partnerOrderId}-all`
      const { order: after } = await admin(`/${order.order_id}/refund`)
      expect(program.refundRequests).toEqual([[[code], 2]])
      expect(after).toMatchObject({
        ...{ state: 'consumed', used_quantity: 1, refunded_quantity: 2 },
        vouchers: [{ voucher: code, quantity: 3, used_quantity: 1, refunded_quantity: 2 }],
      })
    } finally {
      program.close()
    }
  })
})
