import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseLossless, stringifyLossless } from '../../src/platform/lib/json/lossless.ts'
import { createPartner } from '../../src/ticketing/partners/partner.ts'
import { newPartner } from '../../src/ticketing/partners/wire.ts'
import { aesDecrypted, aesEncrypted } from '../aes.ts'
import { openWorld, type World } from '../harness.ts'
import { signatureOf } from '../signer.ts'

/** A fake partner over real HTTP: it gives scripted answers, checks signatures and can misbehave in many ways. */

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever JSON was sent
type Json = any
type Answer = object | Misbehaviour
type Handler = (body: Json) => Answer | Promise<Answer>

/** Replaces the answer by anything that can be done with the connection. */
export class Misbehaviour {
  readonly act: (response: ServerResponse, socket: Socket) => void
  constructor(act: (response: ServerResponse, socket: Socket) => void) {
    this.act = act
  }
}
const misbehave = (act: Misbehaviour['act']) => new Misbehaviour(act)

export const hang = misbehave(() => {})
export const drip = misbehave((response) => {
  response.writeHead(200)
  const timer = setInterval(() => response.write(' '), 1_000)
  response.on('close', () => clearInterval(timer))
})
export const reset = misbehave((_response, socket) => socket.destroy())
export const status = (code: number, headers: Record<string, string> = {}, body: string | Buffer = '') =>
  misbehave((response) => response.writeHead(code, headers).end(body))
export const html = status(200, { 'Content-Type': 'text/html' }, '<h1>Welcome</h1>')
export const huge = misbehave((response) => {
  response.writeHead(200)
  for (let megabyte = 0; megabyte < 10; megabyte++) response.write('x'.repeat(1_048_576))
  response.end()
})

interface ReceivedCall {
  readonly path: string
  readonly body: Json
  readonly partnerId: unknown
  readonly headers: IncomingMessage['headers']
  readonly signedRight: boolean
  /** The body as it stood on the wire. */
  readonly text: string
}

export interface FakeSeller {
  readonly partnerId: bigint
  readonly secret: string
  readonly url: string
  readonly calls: ReceivedCall[]
  /** Paths of the calls so far, in order. */
  paths(): string[]
  /** Scripts the answers for a path: each is given once, the last one repeatedly. */
  on(path: string, ...answers: (Handler | Answer)[]): void
  close(): Promise<void>
}

const success = (body: object, more: object = {}) => ({ code: 200, describe: 'success', ...more, body })
/** The same answer, delayed, so that simultaneous calls really overlap. */
export const slowly =
  (answer: object): Handler =>
  async () => {
    await sleep(200)
    return answer
  }
export const refusal = (code: number, describe = 'no') => ({ code, describe })
export const ok = success

const DEFAULTS: Record<string, Handler> = {
  '/order/create': ({ orderId }) => success({ partnerOrderId: `P-${orderId}` }),
  '/order/pay': ({ orderId, partnerOrderId }) =>
    success({ orderId, partnerOrderId, voucherType: 1, vouchers: [`${orderId}-1`, `${orderId}-2`] }),
  '/order/refund': ({ orderId, refundId }) => success({ orderId, refundId }),
  '/order/refunded': () => success({}),
  '/order/close': () => success({}),
  '/alive': () => success({}),
}

export interface SellerOptions {
  readonly host?: string
  readonly fields?: Record<string, unknown>
  /** Decrypts encrypted calls and encrypts their answers. The platform does not get this key. */
  readonly aesKey?: string
}

const secretOf = (partnerId: number) => `secret-of-${partnerId}-"quoted"`

/** Starts the seller and registers it as a partner under its base URL. */
export async function fakeSeller(world: World, partnerId = 7001, options: SellerOptions = {}): Promise<FakeSeller> {
  const { host = '127.0.0.1', fields = {}, aesKey } = options
  const handlers = new Map<string, (Handler | Answer)[]>(Object.entries(DEFAULTS).map(([path, one]) => [path, [one]]))
  const calls: ReceivedCall[] = []
  const secret = secretOf(partnerId)
  const server = createServer(async (request, response) => {
    const call = await receive(request, `seller-${partnerId}`, secret, aesKey)
    calls.push(call)
    const answers = handlers.get(call.path) ?? [status(404)]
    const next = answers.length > 1 ? answers.shift() : answers[0]
    const answer = typeof next === 'function' ? await next(call.body) : (next as Answer)
    if (answer instanceof Misbehaviour) return answer.act(response, request.socket)
    const headers = { 'Content-Type': 'application/json; charset=utf-8' }
    const json = stringifyLossless({ partnerId: String(partnerId), ...answer })
    if (aesKey === undefined || !isEncrypted(call.headers)) return response.writeHead(200, headers).end(json)
    return response.writeHead(200, { ...headers, 'X-Encryption-Status': 'encrypted' }).end(aesEncrypted(aesKey, json))
  })
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => sockets.add(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://${host}:${(server.address() as AddressInfo).port}`
  const given = {
    partner_id: partnerId,
    client_id: `seller-${partnerId}`,
    name: 'Seller',
    stage: 'live',
    base_url: url,
    ...fields,
  }
  await createPartner(world.deps, newPartner.parse(given), secret)
  return {
    partnerId: BigInt(partnerId),
    secret,
    url,
    calls,
    paths: () => calls.map(({ path }) => path),
    on: (path, ...answers) => handlers.set(path, answers),
    close: async () => {
      for (const socket of sockets) socket.destroy()
      if (server.listening) await new Promise((resolve) => server.close(resolve))
    },
  }
}

const isEncrypted = (headers: IncomingMessage['headers']): boolean => headers['x-encryption-status'] === 'encrypted'

async function receive(
  request: IncomingMessage,
  clientId: string,
  secret: string,
  aesKey?: string,
): Promise<ReceivedCall> {
  const { headers, url: path = '' } = request
  const text = Buffer.concat(await request.toArray()).toString()
  const readable = aesKey !== undefined && isEncrypted(headers) ? aesDecrypted(aesKey, text) : text
  const parsed = parseLossless(Buffer.from(readable))
  const json = ('value' in parsed ? parsed.value : {}) as Json
  const signature = signatureOf({ path, date: headers.date ?? '', secret })
  const signedRight = headers.authorization === `MWS ${clientId}:${signature}`
  return { path, body: json.body, partnerId: json.partnerId, headers, signedRight, text }
}

/** A new world with this seller in it; `close` ends both. */
export async function worldWithSeller() {
  const world = await openWorld({ PARTNER_ADDRESS_ALLOW: '127.0.0.1' })
  const seller = await fakeSeller(world)
  const close = async (): Promise<void> => {
    await seller.close()
    await world.close()
  }
  return { world, seller, close }
}
