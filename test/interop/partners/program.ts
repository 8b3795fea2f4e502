import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * A seller's program as somebody would write it from the contract alone: it imports nothing from src/. A quirk is a
 * subclass that overrides one method or field.
 */

export type Json = Record<string, unknown>
export interface Credentials {
  readonly partnerId: string
  readonly clientId: string
  readonly clientSecret: string
}

export interface Order {
  readonly orderId: string
  readonly partnerOrderId: string
  readonly partnerDealId: string
  readonly quantity: number
  paid: boolean
  /** Paid, but the tickets are not issued yet. */
  issuing?: boolean
  used: number
  refunded: number
}

class Refusal extends Error {
  readonly code: number
  constructor(code: number, describe: string) {
    super(describe)
    this.code = code
  }
}

const DAY_MS = 86_400_000
const dayOf = (at: number): string => new Date(at + 8 * 3_600_000).toISOString().slice(0, 10)

export class PartnerProgram {
  me: Credentials = { partnerId: '', clientId: '', clientSecret: '' }
  platformUrl = ''
  readonly orders = new Map<string, Order>()
  readonly refunds = new Map<string, Json>()
  /** The platform's answers to notices, with the path of each notice. */
  readonly noticeAnswers: Json[] = []
  readonly products = ['zoo']
  #server: Server | undefined

  // ---- to be overridden

  /** The functions of this program, as the sandbox names them. */
  functions: readonly string[] = ['product-pull', 'price-calendar', 'pay-at-once', 'refund-at-once']
  /** Other options of the test run: products, quantity. */
  runOptions: Json = {}
  /** 1: one code per ticket; 2: one code for all tickets of an order. */
  voucherType: 1 | 2 = 1
  /** Shared with the platform; empty if bodies are not encrypted. */
  aesKey = ''
  /** Reads long ids as text, because JSON.parse would round them. */
  read(text: string): Json {
    return JSON.parse(text.replace(/("orderId"\s*:\s*)(\d{16,})/g, '$1"$2"'))
  }
  write(answer: Json): string {
    return JSON.stringify(answer)
  }
  envelope(code: number, describe: string, fields: Json): Json {
    return { code, describe, partnerId: this.me.partnerId, ...fields }
  }
  refuseSignature(): { status: number; code: number } {
    return { status: 200, code: 300 }
  }
  /** Seconds that a Date may differ from now; undefined if the Date is not checked. */
  maxAge: number | undefined = 600
  pay(order: Order): Json {
    order.paid = true
    const { voucherType } = this
    return { voucherType, vouchers: this.codesOf(order), voucherPics: [], realNameType: 0 }
  }

  // ---- interfaces

  codesOf({ partnerOrderId, quantity }: Order): string[] {
    return Array.from({ length: quantity }, (_, n) => `${partnerOrderId}-${n + 1}`)
  }

  product(partnerDealId: string): Json {
    return {
      partnerDealId,
      title: `Ticket ${partnerDealId}`,
      include: 'entry',
      otherNote: '-',
      useDateMode: 1,
      visitorInfoType: 1,
      refundType: 1,
      partlyRefund: true,
      scheduleOfflineTime: '2099-01-01 00:00:00',
      servicePhones: [{ phone: '010-12345678' }],
      getInAddresses: ['Gate'],
      needTicket: false,
      getVoucherRule: { voucherLoaders: [1] },
      returnVoucher: true,
      orderCancelTime: 60,
      phoneLimitCount: 0,
      maxBuyCount: 0,
      minBuyCount: 1,
    }
  }

  orderOf(body: Json, code: number): Order {
    return this.orders.get(String(body.orderId)) ?? refuse(code, 'no such order')
  }

  readonly interfaces: Record<string, (body: Json) => Json> = {
    '/product/query': (body) => this.pullProducts(body),
    '/product/price/query': ({ partnerDealId, startTime, endTime }) => {
      const list: Json[] = []
      for (let at = Date.parse(String(startTime)); dayOf(at) <= String(endTime); at += DAY_MS) {
        list.push({
          partnerDealId,
          date: dayOf(at),
          marketPrice: '120.00',
          mtPrice: 100,
          settlementPrice: 80,
          stock: 99,
        })
      }
      return { body: list }
    },
    '/order/create': (body) => ({ body: this.create(body) }),
    '/order/pay': (body) => {
      const order = this.orderOf(body, 599)
      return { body: { orderId: body.orderId, partnerOrderId: order.partnerOrderId, ...this.pay(order) } }
    },
    '/order/query': (body) => {
      const order = this.orderOf(body, 301)
      const { partnerOrderId, paid, quantity, used, refunded } = order
      const { voucherType } = this
      const voucherList = this.voucherList(order)
      const status = {
        orderStatus: paid ? 4 : order.issuing ? 5 : 2,
        orderQuantity: quantity,
        usedQuantity: used,
        refundedQuantity: refunded,
      }
      return { body: { orderId: body.orderId, partnerOrderId, ...status, voucherType, voucherList } }
    },
    '/order/refund': (body) => ({ body: this.refund(body) }),
  }

  pullProducts({ method, currentPage, pageSize, partnerDealIds }: Json): Json {
    const all =
      method === 'multi' ? this.products.filter((id) => (partnerDealIds as string[]).includes(id)) : this.products
    const from = method === 'multi' ? 0 : (Number(currentPage) - 1) * Number(pageSize)
    const page = all.slice(from, method === 'multi' ? undefined : from + Number(pageSize))
    return { totalSize: all.length, body: page.map((id) => this.product(id)) }
  }

  create(body: Json): Json {
    const orderId = String(body.orderId)
    if (!this.products.includes(String(body.partnerDealId))) refuse(421, 'no such product')
    const known = this.orders.get(orderId)
    const order = known ?? {
      ...{ orderId, partnerOrderId: `P${this.orders.size + 1}`, quantity: Number(body.quantity) },
      partnerDealId: String(body.partnerDealId),
      ...{ paid: false, used: 0, refunded: 0 },
    }
    this.orders.set(orderId, order)
    return { partnerOrderId: order.partnerOrderId }
  }

  refund(body: Json): Json {
    const order = this.orderOf(body, 699)
    const known = this.refunds.get(String(body.refundId))
    if (known) return known
    order.refunded += Number(body.refundQuantity)
    const done = { orderId: body.orderId, refundId: body.refundId, partnerOrderId: order.partnerOrderId }
    this.refunds.set(String(body.refundId), done)
    return done
  }

  voucherList(order: Order): unknown {
    if (!order.paid) return []
    return this.codesOf(order).map((voucher, n) => ({
      ...{ voucher, voucherPics: '', voucherInvalidTime: '2099-01-01 00:00:00', quantity: 1 },
      status: n < order.used ? 1 : n >= order.quantity - order.refunded ? 2 : 0,
    }))
  }

  // ---- notices

  /** Sends the notice that a step of the sandbox waits for. */
  async onWait(path: string, about: Readonly<Record<string, string>>): Promise<unknown> {
    if (path.endsWith('/order/pay/notice')) return this.onWaitForTickets(String(about.orderId))
    if (!path.endsWith('/order/consume/notice')) throw new Error(`nobody here sends ${path}`)
    const order = this.orders.get(String(about.orderId)) ?? refuse(300, `no order ${about.orderId}`)
    return this.useTickets(order)
  }

  /** Uses all tickets at once. */
  useTickets(order: Order): Promise<unknown> {
    return this.notifyUsed(order, order.quantity)
  }

  notifyUsed(order: Order, tickets: number): Promise<Json> {
    order.used = tickets
    const { partnerOrderId, quantity, used: usedQuantity, refunded: refundedQuantity } = order
    const body = { partnerOrderId, quantity, usedQuantity, refundedQuantity, voucherList: this.voucherList(order) }
    return this.notify(
      '/mtp/api/order/consume/notice',
      this.numbered({ partnerId: Number(this.me.partnerId), body: { orderId: order.orderId, ...body } }),
    )
  }

  /** Does nothing by default: tickets are issued without a person. */
  async onWaitForTickets(_orderId: string): Promise<unknown> {
    return undefined
  }

  /** Serializes a message with its order ids as numbers. */
  numbered(message: Json): string {
    return JSON.stringify(message).replace(/"orderId":"(\d+)"/g, '"orderId":$1')
  }

  async notify(path: string, text: string): Promise<Json> {
    const url = new URL(this.platformUrl + path)
    const answer = await fetch(url, { method: 'POST', headers: this.headers(url.pathname), body: text })
    const json = (await answer.json()) as Json
    this.noticeAnswers.push({ path, ...json })
    return json
  }

  headers(path: string, method = 'POST'): Record<string, string> {
    const { partnerId, clientId, clientSecret } = this.me
    const date = new Date().toUTCString()
    const signature = createHmac('sha1', clientSecret).update(`${method} ${path}\n${date}`).digest('base64')
    const type = { 'Content-Type': 'application/json; charset=utf-8' }
    return { ...type, PartnerId: partnerId, Date: date, Authorization: `MWS ${clientId}:${signature}` }
  }

  // ---- the server

  async listen(): Promise<string> {
    this.#server = createServer(async (request, response) => {
      const text = Buffer.concat(await request.toArray()).toString()
      const { status, answer } = this.answerTo(request.url ?? '', request.headers, text)
      response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8' }).end(answer)
    })
    await new Promise<void>((resolve) => this.#server?.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  close(): void {
    this.#server?.closeAllConnections()
    this.#server?.close()
  }

  answerTo(path: string, headers: IncomingHttpHeaders, text: string): { status: number; answer: string } {
    if (!this.isSigned(path, headers)) {
      const { status, code } = this.refuseSignature()
      return { status, answer: this.write(this.envelope(code, 'bad signature', {})) }
    }
    try {
      const handler = this.interfaces[path] ?? refuse(300, `no interface ${path}`)
      const { body } = this.read(text)
      return { status: 200, answer: this.write(this.envelope(200, 'success', handler(body as Json))) }
    } catch (error) {
      const code = error instanceof Refusal ? error.code : 300
      return { status: 200, answer: this.write(this.envelope(code, (error as Error).message, {})) }
    }
  }

  isSigned(path: string, { date = '', authorization = '' }: IncomingHttpHeaders): boolean {
    const { clientId, clientSecret } = this.me
    const signature = createHmac('sha1', clientSecret).update(`POST ${path}\n${date}`).digest('base64')
    const [given, expected] = [Buffer.from(authorization), Buffer.from(`MWS ${clientId}:${signature}`)]
    const age = Math.abs(Date.now() - Date.parse(date)) / 1_000
    const fresh = this.maxAge === undefined || age <= this.maxAge
    return fresh && given.length === expected.length && timingSafeEqual(given, expected)
  }
}

export function refuse(code: number, describe: string): never {
  throw new Refusal(code, describe)
}
