import { createCipheriv, createDecipheriv } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { type Json, type Order, PartnerProgram, refuse } from './program.ts'

/** Programs of sellers, each with one habit that was met in the field. */

export class Plain extends PartnerProgram {}

/** JSON.parse as it is: long ids lose their last digits. */
export class RoundedIds extends PartnerProgram {
  override read(text: string): Json {
    return JSON.parse(text)
  }
}

/** The PartnerId is a number, as in the platform's requests. */
export class NumericPartnerId extends PartnerProgram {
  override envelope(code: number, describe: string, fields: Json): Json {
    return { ...super.envelope(code, describe, fields), partnerId: Number(this.me.partnerId) }
  }
}

const PERSON = ['name', 'pinyin', 'mobile', 'address', 'postCode', 'email', 'gender', 'credentials']
const ASKED = ['orderId', 'partnerOrderId']
const TICKETS = [
  'partnerDealId',
  'voucherList',
  'refundQuantity',
  'unitPrice',
  'refundPrice',
  'refundFee',
  'refundTime',
]
const SALE = ['partnerDealId', 'mtDealId', 'buyPrice', 'unitPrice', 'totalPrice', 'quantity', 'travelDate']

/** A mapper that refuses names that it does not know, and fails where a list that it knows is missing. */
export class StrictMapper extends PartnerProgram {
  readonly #known: Readonly<Record<string, readonly string[]>> = {
    '/order/create': ['orderId', ...SALE, 'visitors', 'contactPerson'],
    '/order/pay': ASKED,
    '/order/query': ASKED,
    '/order/refund': [...ASKED, 'refundId', ...TICKETS],
  }
  readonly #lists: Readonly<Record<string, string>> = { '/order/create': 'visitors', '/order/refund': 'voucherList' }
  override answerTo(path: string, headers: IncomingHttpHeaders, text: string) {
    const { body } = this.read(text) as { body: Json }
    const people = [body.contactPerson ?? {}, ...((body.visitors as object[]) ?? [])].flatMap(Object.keys)
    const unknown = [
      ...Object.keys(body).filter((name) => this.#known[path]?.includes(name) === false),
      ...people.filter((name) => !PERSON.includes(name)),
    ]
    const list = this.#lists[path]
    if (unknown.length === 0 && (list === undefined || Array.isArray(body[list])))
      return super.answerTo(path, headers, text)
    return { status: 500, answer: `Unrecognized field or missing list: ${unknown.join(', ')}` }
  }
}

/** Compares the signature and not the clientId before it. */
export class SignatureOnly extends PartnerProgram {
  override isSigned(path: string, headers: IncomingHttpHeaders): boolean {
    const [, signature = ''] = (headers.authorization ?? '').split(':')
    return super.isSigned(path, { ...headers, authorization: `MWS ${this.me.clientId}:${signature}` })
  }
}

/** Nothing is described on success. */
export class NullForDescribe extends PartnerProgram {
  override envelope(code: number, describe: string, fields: Json): Json {
    return { ...super.envelope(code, describe, fields), describe: code === 200 ? null : describe }
  }
}

/** Nobody is named. */
export class NamesNobody extends PartnerProgram {
  override envelope(code: number, describe: string, fields: Json): Json {
    const { partnerId: _, ...rest } = super.envelope(code, describe, fields)
    return rest
  }
}

/** A bad signature is refused without a word. */
export class RefusesSilently extends PartnerProgram {
  override envelope(code: number, describe: string, fields: Json): Json {
    return describe === 'bad signature' ? { code } : super.envelope(code, describe, fields)
  }
}

/** Lists with nothing in them are null. */
export class NullsForLists extends PartnerProgram {
  override pay(order: Order): Json {
    return { ...super.pay(order), voucherPics: null, credentialList: null, realNameType: null }
  }
}

/** What does not verify is 410, and nobody looks at the Date. */
export class SaysFourTen extends PartnerProgram {
  override maxAge = undefined
  override refuseSignature = () => ({ status: 200, code: 410 })
}

/** HTTP 401 for a bad signature. */
export class SaysUnauthorized extends PartnerProgram {
  override refuseSignature = () => ({ status: 401, code: 401 })
}

/** Everything gets through. */
export class ChecksNothing extends PartnerProgram {
  override isSigned = (): boolean => true
}

/** Twenty products a page, whatever was asked for, and no total. */
export class PagesOfTwenty extends PartnerProgram {
  override readonly products = ['zoo', ...Array.from({ length: 44 }, (_, n) => `product-${n}`)]
  override pullProducts(body: Json): Json {
    const { totalSize: _, ...page } = super.pullProducts({ ...body, pageSize: 20 })
    return page
  }
}

/** Quantities and prices are text. */
export class NumbersAsText extends PartnerProgram {
  override write(answer: Json): string {
    return JSON.stringify(answer, (name, value) =>
      typeof value === 'number' && name !== 'code' ? String(value) : value,
    )
  }
}

/** Numbers are text, the code too. */
export class CodeAsText extends PartnerProgram {
  override write(answer: Json): string {
    return JSON.stringify(answer, (_name, value) => (typeof value === 'number' ? String(value) : value))
  }
}

/** Encrypted bodies. Order create is always answered encrypted, everything else in the form of the request. */
export class Encrypted extends PartnerProgram {
  override aesKey = 'interop-key-0016'
  readonly seen = new Set<string>()
  #cipher(make: typeof createCipheriv | typeof createDecipheriv, bytes: Buffer): Buffer {
    const key = Buffer.from(this.aesKey)
    const cipher = make('aes-128-cbc', key, Buffer.concat([key.subarray(8), key.subarray(0, 8)]))
    return Buffer.concat([cipher.update(bytes), cipher.final()])
  }
  override answerTo(path: string, headers: IncomingHttpHeaders, text: string) {
    const isEncrypted = headers['x-encryption-status'] === 'encrypted'
    if (isEncrypted) this.seen.add(path)
    const plain = isEncrypted ? this.#cipher(createDecipheriv, Buffer.from(text, 'base64')).toString() : text
    const { status, answer } = super.answerTo(path, headers, plain)
    if (!isEncrypted && path !== '/order/create') return { status, answer }
    return { status, answer: this.#cipher(createCipheriv, Buffer.from(answer)).toString('base64') }
  }
}

/** Its products cannot be pulled. */
export class NoProductPull extends PartnerProgram {
  override functions = ['price-calendar', 'pay-at-once', 'refund-at-once']
  override pullProducts(): Json {
    return refuse(300, 'not built')
  }
}

/** Its prices are no prices, which has nothing to do with its defences. */
export class FaultyPrices extends NoProductPull {
  override answerTo(path: string, headers: IncomingHttpHeaders, text: string) {
    const { status, answer } = super.answerTo(path, headers, text)
    return { status, answer: answer.replace(/"stock":99/g, '"stock":"many"') }
  }
}

/** Tickets come later, by a pay notice that is sent while the platform waits. */
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
    setTimeout(() => void issue().catch((error: Error) => this.told.push({ path: 'none', code: error.message })), 500)
    return refuse(598, 'issuing')
  }
}

/**
 * Orders of one product are accepted by hand, some time after they are paid: here half of the time that a step waits.
 */
export class AcceptsByHand extends PartnerProgram {
  override functions = ['product-pull', 'price-calendar', 'pay-at-once', 'pay-later', 'refund-at-once']
  override readonly products = ['zoo', 'boat']
  override wish = { products: { main: 'zoo', later: 'boat' }, quantity: 1 }
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
    return this.tellIssued(order)
  }
  /** Its own state changes once the platform knows. */
  async tellIssued(order: Order, issueType = 1): Promise<void> {
    const codes = { voucherType: 1, vouchers: this.codesOf(order), voucherPics: [] }
    const body = { orderId: order.orderId, partnerOrderId: order.partnerOrderId, ...codes }
    const { code } = await this.notify(
      '/mtp/api/order/pay/notice',
      this.numbered({ partnerId: this.me.partnerId, issueType, code: 200, describe: 'success', body }),
    )
    order.paid = code === 200
  }
}

/** Takes issueType 0 for "issued"; once refused it says 1. */
export class IssuedIsZero extends AcceptsByHand {
  override afterMs = 0
  override async tellIssued(order: Order): Promise<void> {
    await super.tellIssued(order, 0)
    if (!order.paid) await super.tellIssued(order, 1)
  }
}

/** Says 598, and then nothing more. */
export class NeverIssues extends AcceptsByHand {
  override async onWaitForTickets(): Promise<unknown> {
    return undefined
  }
}

/** Answers 200 at once, and the codes follow by notice. */
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

/** Codes stand beside documents only. */
export class CodesBesideDocuments extends PartnerProgram {
  override wish = { quantity: 1 }
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

/** Its notices name the partnerOrderId of another order. */
export class ForeignOrderId extends PartnerProgram {
  override numbered(message: Json): string {
    return super.numbered({ ...message, body: { ...(message.body as Json), partnerOrderId: 'P-of-somebody' } })
  }
}

/** Has codes, and does not say which are used. */
export class SilentAboutCodes extends PartnerProgram {
  override numbered(message: Json): string {
    const { voucherList: _, ...body } = message.body as Json
    return super.numbered({ ...message, body })
  }
}

/** One code for all tickets of an order, which becomes used with the first of them; one notice a ticket. */
export class OneCodeForAll extends PartnerProgram {
  override wish = { quantity: 3 }
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
    for (let used = 1; used <= order.quantity; used++) await this.tellUsed(order, used)
    return undefined
  }
  /** The codes and the quantity of each refund that was asked for. */
  readonly asked: unknown[] = []
  override refund(body: Json): Json {
    this.asked.push([body.voucherList, Number(body.refundQuantity)])
    return super.refund(body)
  }
}

/** Says its own id of an order when that is created, and never again: elsewhere it is optional. */
export class NamesOrderOnce extends PartnerProgram {
  override functions = ['product-pull', 'price-calendar', 'pay-at-once', 'refund-at-once', 'robustness']
  override answerTo(path: string, headers: IncomingHttpHeaders, text: string) {
    const { status, answer } = super.answerTo(path, headers, text)
    return { status, answer: path === '/order/create' ? answer : answer.replace(/,?"partnerOrderId":"[^"]*"/, '') }
  }
}

/** Every refund is answered with the id of the first one. */
export class AnswersAboutFirstRefund extends PartnerProgram {
  override refund(body: Json): Json {
    const done = super.refund(body)
    return { ...done, refundId: [...this.refunds.keys()][0] }
  }
}

/** A refund is answered with the partnerOrderId of the newest order that is not its own. */
export class AnswersAboutAnotherOrder extends PartnerProgram {
  override refund(body: Json): Json {
    const done = super.refund(body)
    const other = [...this.orders.values()].findLast(({ orderId }) => orderId !== String(body.orderId))
    return { ...done, partnerOrderId: other?.partnerOrderId }
  }
}

/** A refund is answered with the orderId of the newest order that is not its own. */
export class AnswersWithAnotherOrderId extends PartnerProgram {
  override refund(body: Json): Json {
    const done = super.refund(body)
    return { ...done, orderId: [...this.orders.keys()].findLast((orderId) => orderId !== String(body.orderId)) }
  }
}
