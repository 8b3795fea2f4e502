import { createCipheriv, createDecipheriv } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { type Json, type Order, PartnerProgram, refuse } from './program.ts'

/** Programs of sellers, each with one quirk that was met in the field. */

export class Plain extends PartnerProgram {}

/** Uses plain JSON.parse, so long ids lose their last digits. */
export class RoundedIds extends PartnerProgram {
  override read(text: string): Json {
    return JSON.parse(text)
  }
}

/** Sends the PartnerId as a number, as in the platform's requests. */
export class NumericPartnerId extends PartnerProgram {
  override envelope(code: number, describe: string, fields: Json): Json {
    return { ...super.envelope(code, describe, fields), partnerId: Number(this.me.partnerId) }
  }
}

const PERSON_FIELDS = ['name', 'pinyin', 'mobile', 'address', 'postCode', 'email', 'gender', 'credentials']
const ORDER_IDS = ['orderId', 'partnerOrderId']
const REFUND_FIELDS = [
  'partnerDealId',
  'voucherList',
  'refundQuantity',
  'unitPrice',
  'refundPrice',
  'refundFee',
  'refundTime',
]
const SALE_FIELDS = ['partnerDealId', 'mtDealId', 'buyPrice', 'unitPrice', 'totalPrice', 'quantity', 'travelDate']

/** Maps JSON strictly: refuses unknown names, and fails when an expected list is missing. */
export class StrictMapper extends PartnerProgram {
  readonly #known: Readonly<Record<string, readonly string[]>> = {
    '/order/create': ['orderId', ...SALE_FIELDS, 'visitors', 'contactPerson'],
    '/order/pay': ORDER_IDS,
    '/order/query': ORDER_IDS,
    '/order/refund': [...ORDER_IDS, 'refundId', ...REFUND_FIELDS],
  }
  readonly #lists: Readonly<Record<string, string>> = { '/order/create': 'visitors', '/order/refund': 'voucherList' }
  override answerTo(path: string, headers: IncomingHttpHeaders, text: string) {
    const { body } = this.read(text) as { body: Json }
    const people = [body.contactPerson ?? {}, ...((body.visitors as object[]) ?? [])].flatMap(Object.keys)
    const unknown = [
      ...Object.keys(body).filter((name) => this.#known[path]?.includes(name) === false),
      ...people.filter((name) => !PERSON_FIELDS.includes(name)),
    ]
    const list = this.#lists[path]
    if (unknown.length === 0 && (list === undefined || Array.isArray(body[list])))
      return super.answerTo(path, headers, text)
    return { status: 500, answer: `Unrecognized field or missing list: ${unknown.join(', ')}` }
  }
}

/** Checks the signature, but not the clientId before it. */
export class SignatureOnly extends PartnerProgram {
  override isSigned(path: string, headers: IncomingHttpHeaders): boolean {
    const [, signature = ''] = (headers.authorization ?? '').split(':')
    return super.isSigned(path, { ...headers, authorization: `MWS ${this.me.clientId}:${signature}` })
  }
}

/** Sends null for `describe` on success. */
export class NullForDescribe extends PartnerProgram {
  override envelope(code: number, describe: string, fields: Json): Json {
    return { ...super.envelope(code, describe, fields), describe: code === 200 ? null : describe }
  }
}

/** Sends no partnerId. */
export class NoPartnerId extends PartnerProgram {
  override envelope(code: number, describe: string, fields: Json): Json {
    const { partnerId: _, ...rest } = super.envelope(code, describe, fields)
    return rest
  }
}

/** Refuses a bad signature without `describe` and partnerId. */
export class RefusesWithoutDescribe extends PartnerProgram {
  override envelope(code: number, describe: string, fields: Json): Json {
    return describe === 'bad signature' ? { code } : super.envelope(code, describe, fields)
  }
}

/** Sends null for empty lists. */
export class NullsForLists extends PartnerProgram {
  override pay(order: Order): Json {
    return { ...super.pay(order), voucherPics: null, credentialList: null, realNameType: null }
  }
}

/** Refuses a bad signature with 410, and does not check the Date. */
export class BadSignatureIs410 extends PartnerProgram {
  override maxAge = undefined
  override refuseSignature = () => ({ status: 200, code: 410 })
}

/** Refuses a bad signature with HTTP 401. */
export class BadSignatureIs401 extends PartnerProgram {
  override refuseSignature = () => ({ status: 401, code: 401 })
}

/** Accepts every signature. */
export class ChecksNothing extends PartnerProgram {
  override isSigned = (): boolean => true
}

/** Sends twenty products per page, whatever was requested, and no total. */
export class PagesOfTwenty extends PartnerProgram {
  override readonly products = ['zoo', ...Array.from({ length: 44 }, (_, n) => `product-${n}`)]
  override pullProducts(body: Json): Json {
    const { totalSize: _, ...page } = super.pullProducts({ ...body, pageSize: 20 })
    return page
  }
}

/** Sends all numbers except `code` as text. */
export class NumbersAsText extends PartnerProgram {
  override write(answer: Json): string {
    return JSON.stringify(answer, (name, value) =>
      typeof value === 'number' && name !== 'code' ? String(value) : value,
    )
  }
}

/** Begins every name with a capital, as serializers of C# do unless told otherwise. */
export class CapitalNames extends PartnerProgram {
  override write(answer: Json): string {
    return JSON.stringify(answer).replace(/"([a-z])(\w*)":/g, (_name, first: string, rest: string) => {
      return `"${first.toUpperCase()}${rest}":`
    })
  }
}

/** Sends all numbers as text, `code` included. */
export class CodeAsText extends PartnerProgram {
  override write(answer: Json): string {
    return JSON.stringify(answer, (_name, value) => (typeof value === 'number' ? String(value) : value))
  }
}

/** Encrypts its answer to an encrypted request, and every answer to order create. */
export class Encrypted extends PartnerProgram {
  override aesKey = 'interop-key-0016'
  readonly encryptedPaths = new Set<string>()
  #cipher(make: typeof createCipheriv | typeof createDecipheriv, bytes: Buffer): Buffer {
    const key = Buffer.from(this.aesKey)
    const cipher = make('aes-128-cbc', key, Buffer.concat([key.subarray(8), key.subarray(0, 8)]))
    return Buffer.concat([cipher.update(bytes), cipher.final()])
  }
  override answerTo(path: string, headers: IncomingHttpHeaders, text: string) {
    const isEncrypted = headers['x-encryption-status'] === 'encrypted'
    if (isEncrypted) this.encryptedPaths.add(path)
    const plain = isEncrypted ? this.#cipher(createDecipheriv, Buffer.from(text, 'base64')).toString() : text
    const { status, answer } = super.answerTo(path, headers, plain)
    if (!isEncrypted && path !== '/order/create') return { status, answer }
    return { status, answer: this.#cipher(createCipheriv, Buffer.from(answer)).toString('base64') }
  }
}

/** Has no product pull. */
export class NoProductPull extends PartnerProgram {
  override functions = ['price-calendar', 'pay-at-once', 'refund-at-once']
  override pullProducts(): Json {
    return refuse(300, 'not built')
  }
}

/** Sends invalid stock in its prices, but checks signatures correctly. */
export class FaultyPrices extends NoProductPull {
  override answerTo(path: string, headers: IncomingHttpHeaders, text: string) {
    const { status, answer } = super.answerTo(path, headers, text)
    return { status, answer: answer.replace(/"stock":99/g, '"stock":"many"') }
  }
}

/** Issues tickets later, by a pay notice while the platform waits. */
export class CodesByNotice extends PartnerProgram {
  override functions = ['product-pull', 'price-calendar', 'pay-later', 'refund-at-once']
  override pay(order: Order): Json {
    if (order.paid) return super.pay(order)
    const issue = async (): Promise<void> => {
      const codes = { voucherType: 1, vouchers: this.codesOf(order), voucherPics: null }
      const body = { orderId: order.orderId, partnerOrderId: order.partnerOrderId, ...codes }
      await this.notify(
        '/mtp/api/order/pay/notice',
        this.numbered({ partnerId: this.me.partnerId, issueType: 1, code: 200, describe: 'success', body }),
      )
      order.paid = true
    }
    if (order.issuing) refuse(598, 'issuing')
    order.issuing = true
    setTimeout(
      () => void issue().catch((error: Error) => this.noticeAnswers.push({ path: 'none', code: error.message })),
      500,
    )
    return refuse(598, 'issuing')
  }
}

/**
 * Accepts orders of one product by hand, some time after payment: here after half of the time that a step waits.
 */
export class AcceptsByHand extends PartnerProgram {
  override functions = ['product-pull', 'price-calendar', 'pay-at-once', 'pay-later', 'refund-at-once']
  override readonly products = ['zoo', 'boat']
  override runOptions = { products: { main: 'zoo', later: 'boat' }, quantity: 1 }
  afterMs = 15_000
  override pay(order: Order): Json {
    if (order.paid || order.partnerDealId === 'zoo') return super.pay(order)
    order.issuing = true
    return refuse(598, 'somebody looks at it')
  }
  override async onWaitForTickets(orderId: string): Promise<unknown> {
    const order = this.orders.get(orderId)
    if (!order || order.paid) return undefined
    await new Promise((resolve) => setTimeout(resolve, this.afterMs))
    return this.notifyIssued(order)
  }
  /** Marks the order as paid only once the platform has acknowledged the notice. */
  async notifyIssued(order: Order, issueType = 1): Promise<void> {
    const codes = { voucherType: 1, vouchers: this.codesOf(order), voucherPics: [] }
    const body = { orderId: order.orderId, partnerOrderId: order.partnerOrderId, ...codes }
    const { code } = await this.notify(
      '/mtp/api/order/pay/notice',
      this.numbered({ partnerId: this.me.partnerId, issueType, code: 200, describe: 'success', body }),
    )
    order.paid = code === 200
  }
}

/** Takes issueType 0 for "issued"; sends 1 after 0 is refused. */
export class IssuedIsZero extends AcceptsByHand {
  override afterMs = 0
  override async notifyIssued(order: Order): Promise<void> {
    await super.notifyIssued(order, 0)
    if (!order.paid) await super.notifyIssued(order, 1)
  }
}

/** Answers 598 and never issues. */
export class NeverIssues extends AcceptsByHand {
  override async onWaitForTickets(): Promise<unknown> {
    return undefined
  }
}

/** Answers 200 at once, and sends the codes by notice. */
export class CodesFollow extends CodesByNotice {
  override functions = ['product-pull', 'price-calendar', 'pay-at-once', 'refund-at-once']
  override pay(order: Order): Json {
    try {
      return super.pay(order)
    } catch {
      return { voucherType: 1, vouchers: [], asyReturnVoucher: true }
    }
  }
}

/** Sends codes only in its credentialList. */
export class CodesBesideDocuments extends PartnerProgram {
  override runOptions = { quantity: 1 }
  override pay(order: Order): Json {
    order.paid = true
    const credentialList = this.codesOf(order).map((voucher) => ({
      credentialType: 0,
      credentialNo: '110101199001011234',
      voucher,
    }))
    return { voucherType: 1, vouchers: null, realNameType: 1, credentialList }
  }
}

/** Sends the partnerOrderId of another order in its notices. */
export class ForeignPartnerOrderId extends PartnerProgram {
  override numbered(message: Json): string {
    return super.numbered({ ...message, body: { ...(message.body as Json), partnerOrderId: 'P-of-somebody' } })
  }
}

/** Issues codes, but its notices do not say which are used. */
export class NoVoucherList extends PartnerProgram {
  override numbered(message: Json): string {
    const { voucherList: _, ...body } = message.body as Json
    return super.numbered({ ...message, body })
  }
}

/** Issues one code for all tickets of an order, which is used from the first ticket on; sends one notice per ticket. */
export class OneCodeForAll extends PartnerProgram {
  override runOptions = { quantity: 3 }
  override voucherType = 2 as const
  override codesOf({ partnerOrderId }: Order): string[] {
    return [`${partnerOrderId}-all`]
  }
  override voucherList(order: Order): unknown {
    if (!order.paid) return []
    const { quantity, used, refunded } = order
    const status = used > 0 ? 1 : refunded === quantity ? 2 : 0
    return this.codesOf(order).map((voucher) => ({
      ...{ voucher, voucherPics: '', voucherInvalidTime: '2099-01-01 00:00:00', quantity, status },
    }))
  }
  override async useTickets(order: Order): Promise<unknown> {
    for (let used = 1; used <= order.quantity; used++) await this.notifyUsed(order, used)
    return undefined
  }
  /** The codes and the quantity of each refund request. */
  readonly refundRequests: unknown[] = []
  override refund(body: Json): Json {
    this.refundRequests.push([body.voucherList, Number(body.refundQuantity)])
    return super.refund(body)
  }
}

/** Sends the partnerOrderId only in answers to order create: elsewhere it is optional. */
export class PartnerOrderIdOnce extends PartnerProgram {
  override functions = ['product-pull', 'price-calendar', 'pay-at-once', 'refund-at-once', 'robustness']
  override answerTo(path: string, headers: IncomingHttpHeaders, text: string) {
    const { status, answer } = super.answerTo(path, headers, text)
    return { status, answer: path === '/order/create' ? answer : answer.replace(/,?"partnerOrderId":"[^"]*"/, '') }
  }
}

/** Answers every refund with the id of the first one. */
export class AnswersAboutFirstRefund extends PartnerProgram {
  override refund(body: Json): Json {
    const done = super.refund(body)
    return { ...done, refundId: [...this.refunds.keys()][0] }
  }
}

/** Answers a refund with the partnerOrderId of the newest other order. */
export class AnswersAboutAnotherOrder extends PartnerProgram {
  override refund(body: Json): Json {
    const done = super.refund(body)
    const other = [...this.orders.values()].findLast(({ orderId }) => orderId !== String(body.orderId))
    return { ...done, partnerOrderId: other?.partnerOrderId }
  }
}

/** Answers a refund with the orderId of the newest other order. */
export class AnswersWithAnotherOrderId extends PartnerProgram {
  override refund(body: Json): Json {
    const done = super.refund(body)
    return { ...done, orderId: [...this.orders.keys()].findLast((orderId) => orderId !== String(body.orderId)) }
  }
}
