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

/** Somebody accepts each order by hand, and minutes later: here as long as the whole run may wait, less a little. */
export class AcceptsByHand extends CodesByNotice {
  static readonly AFTER_MS = 12_000
  override wish = { quantity: 1 }
  override pay(order: Order): Json {
    if (order.paid) return super.pay(order)
    order.issuing = true
    return refuse(598, 'somebody looks at it')
  }
  override async onWaitForTickets(orderId: string): Promise<unknown> {
    const order = this.orders.get(orderId)
    if (!order || order.paid) return undefined
    await new Promise((resolve) => setTimeout(resolve, AcceptsByHand.AFTER_MS))
    order.paid = true
    const codes = { voucherType: 1, vouchers: this.codesOf(order), voucherPics: [] }
    const body = { orderId: order.orderId, partnerOrderId: order.partnerOrderId, ...codes }
    return this.notify(
      '/mtp/api/order/pay/notice',
      this.numbered({ partnerId: this.me.partnerId, issueType: 1, code: 200, describe: 'success', body }),
    )
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
