import type { FastifyInstance, FastifyReply } from 'fastify'
import { readTexts } from '../../../platform/lib/root.ts'
import { sendLevelPrices } from '../catalogue.ts'
import type { DemoMistake, Switches } from '../mistakes/mistakes.ts'
import { type Change, productChanged, refundDecided, ticketsUsed } from '../notices.ts'
import type { Notice } from '../outbox.ts'
import { type Product, pricesOnTheWire } from '../product.ts'
import { decide } from '../refund.ts'
import {
  deposit,
  findOrder,
  type Order,
  orderOf,
  productOf,
  quantitiesOf,
  type Refund,
  type Shop,
  ticketsThatAre,
  voucherCodes,
} from '../shop.ts'
import {
  cents,
  date,
  type Fields,
  fieldsOf,
  has,
  positive,
  Refusal,
  readJson,
  refuse,
  text,
  texts,
  whole,
  writeJson,
} from '../wire.ts'

const PRICES = { marketPrice: 'market', mtPrice: 'mt', settlementPrice: 'settlement' } as const

/** A manager edits a product. The platform wants a separate notice for each kind of change. */
function changeProduct(shop: Shop, input: Fields): Notice[] {
  const id = text(input, 'partnerDealId')
  let product = productOf(shop, input, 400)
  const changes = new Set<Change>()
  if (has(input, 'title')) {
    product = { ...product, entry: { ...product.entry, title: text(input, 'title') } }
    changes.add('information')
  }
  if (typeof input.onSale === 'boolean') {
    product = { ...product, onSale: input.onSale }
    changes.add(input.onSale ? 'on sale' : 'off sale')
  }
  const priced = withPrices(product, input)
  if (priced !== product) {
    product = priced
    // An open-date product has no calendar, so its prices and stock are part of its information.
    changes.add(product.calendar === 'open date' ? 'information' : 'prices')
  }
  shop.products.set(id, product)
  return [...changes].map((change) => productChanged(shop, id, change))
}

function withPrices(product: Product, input: Fields): Product {
  const named = Object.entries(PRICES).filter(([field]) => has(input, field))
  if (named.length === 0 && !has(input, 'stock')) return product
  const prices = Object.fromEntries(named.map(([field, name]) => [name, cents(input, field)]))
  const stock = has(input, 'stock') ? whole(input, 'stock') : product.stock
  return { ...product, prices: { ...product.prices, ...prices }, stock }
}

/** Adds a product, announced by the notice "put on sale" with an id that is new to the platform. */
function addProduct(shop: Shop, input: Fields): Notice[] {
  const [partnerDealId, title] = [text(input, 'partnerDealId'), text(input, 'title')]
  const [pattern] = shop.products.values()
  if (!pattern || shop.products.has(partnerDealId)) refuse(400, `product ${partnerDealId} already exists`)
  const entry = { ...pattern.entry, partnerDealId, title }
  shop.products.set(partnerDealId, { ...pattern, partnerDealId, entry, onSale: true })
  return [productChanged(shop, partnerDealId, 'on sale')]
}

const describeNotice = ({ firstAttempt: _, ...notice }: Notice) => notice

const describeOrder = (order: Order) => ({
  orderId: order.orderId,
  partnerOrderId: order.partnerOrderId,
  partnerDealId: order.product.partnerDealId,
  travelDate: order.offer.date,
  state: order.state,
  quantity: order.quantity,
  unusedQuantity: ticketsThatAre(order, 'unused').length,
  ...quantitiesOf(order),
  vouchers: voucherCodes(order),
})

const describeRefund = ({ refundId, order, tickets, state, reason }: Refund) => ({
  refundId,
  orderId: order.orderId,
  quantity: tickets.length,
  state,
  reason,
})

export const describeProduct = ({ partnerDealId, entry, prices, ...behaviour }: Product) => ({
  partnerDealId,
  title: entry.title,
  ...behaviour,
  ...pricesOnTheWire(prices),
})

/** The state of the shop, for people to read. */
export function describeShop(shop: Shop) {
  const orders = [...shop.orders.keys()].flatMap((orderId) => findOrder(shop, orderId) ?? [])
  return {
    products: [...shop.products.values()].map((product) => ({
      ...describeProduct(product),
      platformStatus: shop.platformStatus.get(product.partnerDealId),
    })),
    orders: orders.map(describeOrder),
    refunds: [...shop.refunds.values()].map(describeRefund),
    notices: shop.outbox.notices.map(describeNotice),
    deposit: deposit(shop),
  }
}

/** Visitors enter with some of the order's tickets. */
function consume(shop: Shop, input: Fields): Notice[] {
  const order = orderOf(shop, input, 400)
  const quantity = positive(input, 'quantity')
  if (order.state !== 'issued') refuse(400, 'no tickets have been issued')
  const unused = ticketsThatAre(order, 'unused')
  if (unused.length < quantity) refuse(400, `only ${unused.length} tickets are unused`)
  for (const ticket of unused.slice(0, quantity)) ticket.state = 'used'
  return [ticketsUsed(shop, order)]
}

/** A clerk decides on a refund under review. */
function decideRefund(shop: Shop, input: Fields): Notice[] {
  const refundId = text(input, 'refundId')
  const refund = shop.refunds.get(refundId) ?? refuse(400, `no refund ${refundId}`)
  if (refund.state !== 'reviewing') refuse(400, `the refund is already ${refund.state}`)
  if (typeof input.approve !== 'boolean') refuse(400, 'approve must be true or false')
  decide(refund, input.approve, has(input, 'reason') ? text(input, 'reason') : '', shop.now())
  return [refundDecided(shop, refund)]
}

/** All mistakes, with what each does. */
export const MISTAKES = readTexts<DemoMistake>('demo-mistakes.en')

const isMistake = (name: string): name is DemoMistake => Object.hasOwn(MISTAKES, name)

const describeMistakes = (switches: Switches): object => ({ mistakes: [...switches], known: MISTAKES })

/** Switches on the listed mistakes, and all others off. */
export function switchMistakes(switches: Switches, names: readonly string[]): void {
  const wanted = names.map((name) => (isMistake(name) ? name : refuse(400, `no mistake ${name}`)))
  switches.clear()
  for (const mistake of wanted) switches.add(mistake)
}

/** Actions that the platform must be notified of; each throws a Refusal if it is impossible. */
export const ACTIONS = {
  consume,
  'decide-refund': decideRefund,
  'change-product': changeProduct,
  'add-product': addProduct,
} as const

export type Action = keyof typeof ACTIONS

/** Performs the action, and waits for the first attempt to send each notice. */
export async function act(shop: Shop, action: Action, input: Fields): Promise<Notice[]> {
  const notices = ACTIONS[action](shop, input)
  await Promise.all(notices.map((notice) => notice.firstAttempt))
  return notices
}

/**
 * The control API: POST with a JSON body; 200 with JSON, or 400 with `{"error"}`. Actions respond after the first attempt
 * to send their notices, with the platform's answers.
 *
 *   GET  /control/state                                  products, orders, refunds, notices, deposit
 *   POST /control/consume        {orderId, quantity}     uses that many more tickets
 *   POST /control/decide-refund  {refundId, approve, reason?}
 *   POST /control/change-product {partnerDealId, title?, onSale?, stock?, marketPrice?, mtPrice?, settlementPrice?}
 *   POST /control/add-product    {partnerDealId, title}  a new product like DEMO-BOAT
 *   POST /control/level-prices   {partnerDealId, startTime, endTime}
 *   POST /control/deposit        {cents}                 sets what has been paid in
 *   GET  /control/mistakes                               all mistakes, and those switched on
 *   POST /control/mistakes       {mistakes: […]}         switches on these and no others
 */
export function registerApi(app: FastifyInstance, shop: Shop, switches: Switches): void {
  const send = (reply: FastifyReply, answer: object) =>
    reply.type('application/json; charset=utf-8').send(writeJson(answer))

  const action = (path: string, answer: (input: Fields) => object | Promise<object>): void => {
    app.post(path, async (request, reply) => send(reply, await answer(inputOf(request.body))))
  }

  app.get('/state', (_request, reply) => send(reply, describeShop(shop)))
  for (const name of Object.keys(ACTIONS) as Action[]) {
    action(`/${name}`, async (input) => ({ notices: (await act(shop, name, input)).map(describeNotice) }))
  }
  action('/level-prices', async (input) => {
    const product = productOf(shop, input, 201)
    const notices = sendLevelPrices(shop, product, [date(input, 'startTime'), date(input, 'endTime')])
    await Promise.all(notices.map((notice) => notice.firstAttempt))
    return { notices: notices.map(describeNotice) }
  })
  action('/deposit', (input) => {
    shop.paidIn = whole(input, 'cents')
    return { cents: shop.paidIn }
  })
  app.get('/mistakes', (_request, reply) => send(reply, describeMistakes(switches)))
  action('/mistakes', (input) => {
    switchMistakes(switches, texts(input, 'mistakes'))
    return describeMistakes(switches)
  })

  app.setErrorHandler((error, _request, reply) => {
    if (!(error instanceof Refusal || error instanceof SyntaxError)) throw error
    return send(reply.code(400), { error: error.message })
  })
}

const inputOf = (bytes: unknown): Fields => fieldsOf(readJson(String(bytes)), 'the request')
