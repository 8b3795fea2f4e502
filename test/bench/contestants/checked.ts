import { createHash, randomUUID } from 'node:crypto'
import Fastify from 'fastify'
import { parse } from 'lossless-json'
import pg from 'pg'
import { z } from 'zod'
import { decryptSecret, deriveKeys, equalSecrets } from '../../../src/platform/lib/crypto/keys.ts'
import { authorizationHeader, clockDifference } from '../../../src/platform/lib/crypto/signing.ts'
import { secretContext } from '../../../src/ticketing/partners/store.ts'
import * as sql from './checked-sql.ts'
import { listenForBench } from './listen.ts'

/**
 * Consumption notices as a careful team would implement them: it checks the signature and its date, parses JSON with exact
 * 64-bit ids, validates the body with zod, and uses one transaction in which the notice is its own idempotency key, the
 * order is locked and the notice is checked against it. Same tables as Gatehouse, a pg pool of ten, prepared statements.
 */
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 })
const keys = deriveKeys(process.env.SECRET_KEY ?? '')
const app = Fastify()

const SKEW_S = 900
const count = z.coerce.number().int().min(0)
const id = z.union([z.string(), z.number(), z.bigint()]).transform(String)
const VOUCHER_STATES = ['unused', 'used', 'refunded', 'void'] as const
const notice = z.object({
  partnerId: id.optional(),
  body: z.object({
    orderId: id.pipe(z.string().regex(/^\d{1,19}$/)),
    partnerOrderId: id,
    quantity: count,
    usedQuantity: count,
    refundedQuantity: count,
    voucherList: z
      .array(z.object({ voucher: z.string().min(1), quantity: count, status: z.literal([0, 1, 2, 3]) }))
      .max(1000)
      .default([]),
  }),
})
type Report = z.output<typeof notice>['body']

class Refused extends Error {}

const exactNumber = (text: string): number | bigint =>
  Number.isSafeInteger(Number(text)) || !/^-?\d{1,20}$/.test(text) ? Number(text) : BigInt(text)

const first = async (client: pg.Pool | pg.PoolClient, statement: { name: string; text: string }, values: unknown[]) =>
  (await client.query({ ...statement, values })).rows[0]

interface Partner {
  readonly partner_id: string
}

async function authenticate(clientId: string, url: string, date: string, authorization: string): Promise<Partner> {
  const { rows } = await pool.query({ ...sql.findSecret, values: [clientId] })
  const signs = ({ partner_id, secret_id, sealed }: (typeof rows)[number]) =>
    equalSecrets(
      authorization,
      authorizationHeader(clientId, decryptSecret(keys, sealed, secretContext(partner_id, secret_id)), {
        method: 'POST',
        path: url,
        date,
      }),
    )
  const partner = rows.find(signs)
  if (partner?.status !== 'active') throw new Refused('not authenticated')
  if (!(clockDifference(new Date(date), new Date()) <= SKEW_S)) throw new Refused('not authenticated')
  return partner
}

async function inTransaction<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    const result = await work(client)
    await client.query('commit')
    return result
  } catch (error) {
    await client.query('rollback')
    throw error
  } finally {
    client.release()
  }
}

/** Updates the order as reported, or rejects a report that does not match it. */
async function consume(client: pg.PoolClient, { partner_id }: Partner, report: Report, noticeId: string) {
  const { orderId, partnerOrderId, quantity, usedQuantity, refundedQuantity, voucherList } = report
  const order = await first(client, sql.lockOrder, [orderId])
  if (order?.partner_id !== partner_id) throw new Refused('no such order')
  if (order.partner_order_id !== partnerOrderId || order.quantity !== quantity) throw new Refused('of another order')
  const used = Math.max(order.used_quantity, usedQuantity)
  const refunded = Math.max(order.refunded_quantity, refundedQuantity)
  if (used + refunded > quantity) throw new Refused('more than the order has')
  const { rows } = await client.query({ ...sql.vouchersOf, values: [orderId] })
  const known = new Map(rows.map(({ voucher, state }) => [voucher, state]))
  const reported = voucherList.map(({ voucher, status }) => ({ voucher, state: VOUCHER_STATES[status] }))
  if (reported.some(({ voucher }) => !known.has(voucher))) throw new Refused('a voucher of another order')
  const state = used + refunded < quantity ? order.state : used > 0 ? 'consumed' : 'refunded'
  const changes = [
    {
      record: 'order',
      record_id: orderId,
      change: { state: [order.state, state], used_quantity: [order.used_quantity, used] },
    },
    ...reported.map(({ voucher, state }) => ({
      record: 'voucher',
      record_id: voucher,
      change: { state: [known.get(voucher), state] },
    })),
  ]
  const [vouchers, states] = [reported.map(({ voucher }) => voucher), reported.map(({ state }) => state)]
  await client.query({
    ...sql.change,
    values: [orderId, state, used, refunded, vouchers, states, noticeId, JSON.stringify(changes)],
  })
}

app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
app.setErrorHandler((error, _request, reply) => {
  const isRefused = error instanceof Refused || error instanceof z.ZodError || error instanceof SyntaxError
  reply.code(isRefused ? 400 : 500).send({ code: 300, describe: isRefused ? error.message : 'failed' })
})
app.post('/mtp/api/order/consume/notice', async (request, reply) => {
  const { authorization = '', date = '', partnerid } = request.headers
  const clientId = /^MWS (.+):[^:]+$/.exec(authorization)?.[1] ?? ''
  const partner = await authenticate(clientId, request.url, date, authorization)
  const received = request.body as Buffer
  const text = received.toString('utf8')
  const { partnerId, body } = notice.parse(parse(text, null, exactNumber))
  for (const named of [partnerid, partnerId]) {
    if (named !== undefined && named !== partner.partner_id) throw new Refused('of another partner')
  }
  const key = [clientId, request.url, createHash('sha256').update(received).digest()]
  const noticeId = randomUUID()
  const answer = JSON.stringify({ code: 200, describe: 'success', partnerId: partner.partner_id })
  reply.type('application/json; charset=utf-8')
  return inTransaction(async (client) => {
    const isNew = await first(client, sql.claim, [...key, noticeId, partner.partner_id, text, answer])
    if (!isNew) return (await first(client, sql.firstAnswer, key)).answer
    await consume(client, partner, body, noticeId)
    return answer
  })
})

await listenForBench(app)
