import { readdirSync, readFileSync } from 'node:fs'
import type { FastifyBaseLogger, FastifyInstance, LightMyRequestResponse } from 'fastify'
import { parse, stringify } from 'lossless-json'
import { pino } from 'pino'
import { buildDemoPartner } from '../../src/demo/partner/index.ts'
import { signedHeaders } from '../signer.ts'

/** The demo partner with a fixed clock, called as the platform calls it. */

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

// biome-ignore lint/suspicious/noExplicitAny: tests inspect answers field by field
export type Answer = any

interface CallOverrides {
  readonly secret?: string
  readonly clientId?: string
  readonly date?: string
  readonly headers?: Record<string, string>
}

interface Clock {
  now(): Date
  advance(seconds: number): void
}

function fixedClock(): Clock {
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
  send(path: string, text: string, overrides?: CallOverrides): Promise<LightMyRequestResponse>
  /** Sends a signed call and returns the JSON of its answer, with long integers as bigint. */
  call(path: string, body?: unknown, overrides?: CallOverrides): Promise<Answer>
  /** Calls the local control API, with GET if there is no input. */
  control(path: string, input?: object): Promise<Answer>
}

const readNumber = (text: string) =>
  Number.isSafeInteger(Number(text)) ? Number(text) : /\./.test(text) ? Number(text) : BigInt(text)
export const readJson = (text: string): Answer => parse(text, null, readNumber)

export async function openPartner(platformUrl = 'http://127.0.0.1:9'): Promise<TestPartner> {
  const clock = fixedClock()
  const lines: string[] = []
  const log = pino({ level: 'debug' }, { write: (line: string) => lines.push(line) }) as FastifyBaseLogger
  const app = await buildDemoPartner({ ...PARTNER, platformUrl, log, now: clock.now })
  const send = (path: string, text: string, overrides: CallOverrides = {}) => {
    const {
      headers,
      date = clock.now().toUTCString(),
      clientId = PARTNER.clientId,
      secret = PARTNER.clientSecret,
    } = overrides
    const signed = signedHeaders({ ...PARTNER, clientId, clientSecret: secret }, { path, date })
    return app.inject({ method: 'POST', url: path, payload: text, headers: { ...signed, ...headers } })
  }
  return {
    app,
    clock,
    logged: () => lines.join(''),
    send,
    call: async (path, body, overrides) =>
      readJson((await send(path, stringify({ partnerId: 7001, body }) ?? '', overrides)).body),
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

/** The platform's request for an order of a product, on a Wednesday and therefore without the weekend surcharge. */
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

/** Creates and pays an order and waits until its tickets are issued. */
export async function issuedOrder(partner: TestPartner, partnerDealId: string, changes: object = {}): Promise<Answer> {
  const order = orderOf(partnerDealId, changes)
  const created = await partner.call('/order/create', order)
  const pay = { orderId: order.orderId, partnerOrderId: created.body.partnerOrderId }
  await partner.call('/order/pay', pay)
  partner.clock.advance(3)
  return (await partner.call('/order/pay', pay)).body
}
