import { readdirSync, readFileSync } from 'node:fs'
import type { FastifyBaseLogger, FastifyInstance, LightMyRequestResponse } from 'fastify'
import { parse, stringify } from 'lossless-json'
import { pino } from 'pino'
import { buildDemoPartner } from '../../src/demo/partner/index.ts'
import { signedHeaders } from '../signer.ts'

/** The demo partner with a clock that stands still, called by a platform that is written here. */

export const PARTNER = {
  partnerId: '7001',
  clientId: 'demo-partner',
  clientSecret: 'a secret for tests',
  aesKey: 'a key for tests!',
}

/** Beyond 2^53, where JSON.parse rounds. */
export const ORDER_ID = 8_985_652_356_562_370_001n

const FOLDER = new URL('../../src/demo/partner/', import.meta.url).pathname
export const sourcesOfPartner = (): [string, string][] =>
  readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => [file, readFileSync(FOLDER + file, 'utf8')])

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into field by field, which is what the tests are for
export type Answer = any

interface Wrongly {
  readonly secret?: string
  readonly clientId?: string
  readonly date?: string
  readonly headers?: Record<string, string>
}

interface Clock {
  now(): Date
  advance(seconds: number): void
}

function stillClock(): Clock {
  let now = Date.parse('2026-05-06T10:34:20Z')
  return {
    now: () => new Date(now),
    advance: (seconds) => {
      now += seconds * 1000
    },
  }
}

export interface TestPartner {
  readonly app: FastifyInstance
  readonly clock: Clock
  /** Everything that was logged, as text. */
  logged(): string
  send(path: string, text: string, wrongly?: Wrongly): Promise<LightMyRequestResponse>
  /** A signed call with this body; the answer's JSON, long integers as bigint. */
  call(path: string, body?: unknown, wrongly?: Wrongly): Promise<Answer>
  /** The local control API; a GET without input. */
  control(path: string, input?: object): Promise<Answer>
}

const readNumber = (text: string) =>
  Number.isSafeInteger(Number(text)) ? Number(text) : /\./.test(text) ? Number(text) : BigInt(text)
export const readJson = (text: string): Answer => parse(text, null, readNumber)

export async function openPartner(platformUrl = 'http://127.0.0.1:9'): Promise<TestPartner> {
  const clock = stillClock()
  const lines: string[] = []
  const log = pino({ level: 'debug' }, { write: (line: string) => lines.push(line) }) as FastifyBaseLogger
  const app = await buildDemoPartner({ ...PARTNER, platformUrl, log, now: clock.now })
  const send = (path: string, text: string, wrongly: Wrongly = {}) => {
    const {
      headers,
      date = clock.now().toUTCString(),
      clientId = PARTNER.clientId,
      secret = PARTNER.clientSecret,
    } = wrongly
    const signed = signedHeaders({ ...PARTNER, clientId, clientSecret: secret }, { path, date })
    return app.inject({ method: 'POST', url: path, payload: text, headers: { ...signed, ...headers } })
  }
  return {
    app,
    clock,
    logged: () => lines.join(''),
    send,
    call: async (path, body, wrongly) =>
      readJson((await send(path, stringify({ partnerId: 7001, body }) ?? '', wrongly)).body),
    control: async (path, input) => {
      const url = `/control/${path}`
      const answer = input
        ? await app.inject({
            method: 'POST',
            url,
            payload: stringify(input) ?? '',
            headers: { 'content-type': 'application/json' },
          })
        : await app.inject({ method: 'GET', url })
      return { status: answer.statusCode, ...readJson(answer.body) }
    },
  }
}

/** What the platform sends for the order of a product; a Wednesday, so without the weekend's surcharge. */
export const orderOf = (partnerDealId: string, changes: object = {}) => {
  const prices = {
    'DEMO-TOWER': [42.5, 50],
    'DEMO-SOLD-OUT': [30, 39],
    'DEMO-OPEN': [39.99, 45],
    'DEMO-NIGHT': [150, 180],
    'DEMO-CASTLE': [20, 25],
  }[partnerDealId] ?? [75, 88]
  return {
    orderId: ORDER_ID,
    partnerDealId,
    mtDealId: 1,
    buyPrice: prices[0],
    unitPrice: prices[1],
    totalPrice: 2 * (prices[1] ?? 0),
    quantity: 2,
    ...(partnerDealId === 'DEMO-OPEN' ? {} : { travelDate: '2026-05-06' }),
    ...changes,
  }
}

/** Creates and pays; the order's tickets are there afterwards. */
export async function issuedOrder(partner: TestPartner, partnerDealId: string, changes: object = {}): Promise<Answer> {
  const order = orderOf(partnerDealId, changes)
  const created = await partner.call('/order/create', order)
  const pay = { orderId: order.orderId, partnerOrderId: created.body.partnerOrderId }
  await partner.call('/order/pay', pay)
  partner.clock.advance(3)
  return (await partner.call('/order/pay', pay)).body
}
