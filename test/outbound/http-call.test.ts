import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createServer as createTlsServer } from 'node:tls'
import { afterEach, describe, expect, it } from 'vitest'
import { CALL_TIMES, type CallLimits, PARTNER_LIMITS } from '../../src/platform/config/call-limits.ts'
import { readConfig } from '../../src/platform/config/index.ts'
import { addressGuard } from '../../src/platform/outbound/address-guard.ts'
import { HttpCallError, post } from '../../src/platform/outbound/http-call.ts'
import { acceptAnyCertificate } from '../any-certificate.ts'
import { SELF_SIGNED } from '../sandbox/certificates.ts'

const guardWith = (allow: string) => addressGuard(readConfig({ DEMO: 'off', PARTNER_ADDRESS_ALLOW: allow }))
const guard = guardWith('127.0.0.0/8')
/** Generous limits for busy machines. */
const GENEROUS: CallLimits = { connectMs: 60_000, headersMs: 60_000, totalMs: 120_000, bytes: 65_536 }
/** Short limits for calls that never end. */
const QUICK = { headersMs: 1_000, totalMs: 2_000 }
const opened: (() => void)[] = []

afterEach(() => {
  for (const close of opened.splice(0)) close()
})

async function listening(server: Server): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => sockets.add(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  opened.push(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return (server.address() as AddressInfo).port
}

const partner = async (handle: RequestListener) => `http://127.0.0.1:${await listening(createServer(handle))}/order/pay`
const rawPartner = async (talk: (socket: Socket) => void) =>
  `http://127.0.0.1:${await listening(createTcpServer((socket) => talk(socket.on('error', () => {}))))}/order/pay`

const call = (url: string, limits: Partial<CallLimits> = {}) =>
  post({ url, headers: { 'Content-Type': 'application/json' }, body: '{"a":1}' }, guard, { ...GENEROUS, ...limits })

async function failing(promise: Promise<unknown>): Promise<HttpCallError> {
  const outcome = await promise.catch((error: unknown) => error)
  if (!(outcome instanceof HttpCallError)) throw new Error(`not a failed call: ${String(outcome)}`)
  return outcome
}

const ANSWER = 'HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n{"code":200}'

const bodyOf = async (request: IncomingMessage) => Buffer.concat(await request.toArray()).toString()

it('returns the expiry of the server’s certificate, or null without TLS', async () => {
  const url = await partner((_request, response) => response.end('{}'))
  expect((await call(url)).certificateEnds).toBeNull()
  const server = createHttpsServer(SELF_SIGNED, (_request, response) => response.end('{}'))
  opened.push(acceptAnyCertificate())
  const answer = await call(`https://127.0.0.1:${await listening(server)}/`)
  expect(answer.certificateEnds).toEqual(new Date('2126-10-28T05:50:02Z'))
})

describe('a call', () => {
  it('sends the given request and returns the whole answer with timings', async () => {
    let seen: unknown
    const url = await partner(async (request, response) => {
      const { method, url: target, headers } = request
      seen = { method, target, date: headers.date, authorization: headers.authorization, body: await bodyOf(request) }
      response.writeHead(201, { 'X-Partner': 'yes' }).end('{"code":200}')
    })
    const headers = { Date: 'Tue, 05 May 2015 06:11:34 GMT', Authorization: 'MWS a:b' }
    const answer = await post({ url: `${url}?x=1#y`, headers, body: '{"名":1}' }, guard)
    expect(seen).toEqual({
      method: 'POST',
      target: '/order/pay?x=1',
      date: headers.Date,
      authorization: headers.Authorization,
      body: '{"名":1}',
    })
    expect(answer).toMatchObject({ status: 201, headers: { 'x-partner': 'yes' } })
    expect(answer.body.toString()).toBe('{"code":200}')
    const { connected, headers: head, total } = answer.timings
    expect([connected, head, total]).toEqual([connected, head, total].map(Number).sort((a, b) => a - b))
  })

  it('follows no redirect, especially not to a private address', async () => {
    let hits = 0
    const inside = await partner((_request, response) => {
      hits++
      response.end()
    })
    const url = await partner((_request, response) => response.writeHead(307, { Location: inside }).end())
    expect((await call(url)).status).toBe(307)
    expect(hits).toBe(0)
  })

  it.each([404, 500, 503])('leaves status %d to the caller', async (status) => {
    const url = await partner((_request, response) => response.writeHead(status).end('<h1>no</h1>'))
    expect((await call(url)).status).toBe(status)
  })

  it.each<[string, string[]]>([
    ['before the answer', ['HTTP/1.1 100 Continue\r\n\r\n', ANSWER]],
    ['in one piece with the answer', [`HTTP/1.1 100 Continue\r\n\r\n${ANSWER}`]],
    ['with headers, twice', [`HTTP/1.0 100 Go\r\nServer: x\r\n\r\nHTTP/1.1 100\r\nA: b\r\nC: d\r\n\r\n${ANSWER}`]],
    ['byte for byte', [...`HTTP/1.1 100 Continue\r\nServer: x\r\n\r\n${ANSWER}`]],
    ['and further interim answers', [`HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n${ANSWER}`]],
  ])('skips an unrequested 100 Continue: %s', async (_how, pieces) => {
    const url = await rawPartner((socket) =>
      socket.once('data', async () => {
        for (const piece of pieces) {
          socket.write(piece)
          await sleep(1)
        }
        socket.end()
      }),
    )
    expect(await call(url)).toMatchObject({ status: 200, body: Buffer.from('{"code":200}') })
  })

  it('fails if there is only 100 Continue, or too many of them', async () => {
    const one = await rawPartner((socket) => socket.end('HTTP/1.1 100 Continue\r\n\r\n'))
    expect(await failing(call(one))).toMatchObject({ failure: 'broken', maybeReceived: true })
    const many = await rawPartner((socket) => socket.end('HTTP/1.1 100 Continue\r\n\r\n'.repeat(5_000) + ANSWER))
    expect(await failing(call(many))).toMatchObject({ failure: 'broken', maybeReceived: true })
  })

  it('fails at once for a 100 Continue with bare line feeds', async () => {
    const url = await rawPartner((socket) => socket.write(`HTTP/1.1 100 Continue\n\n${ANSWER}`))
    expect(await failing(call(url))).toMatchObject({ failure: 'broken' })
  })

  it('accepts an answer of exactly the maximum size', async () => {
    const url = await partner((_request, response) => response.end(Buffer.alloc(GENEROUS.bytes)))
    expect((await call(url)).body.length).toBe(GENEROUS.bytes)
  })
})

describe('the limits of partner calls', () => {
  it('are those of the contract', () => {
    expect(PARTNER_LIMITS).toEqual({ connectMs: 3_000, headersMs: 10_000, totalMs: 15_000, bytes: 1_048_576 })
    expect(CALL_TIMES).toEqual({ overS: 20, worstMs: 18_000, leaseS: 30 })
  })

  it('leave no repeated call and no expired lease while the longest call may still be running', () => {
    const { overS, worstMs, leaseS } = CALL_TIMES
    expect(overS * 1000).toBeGreaterThanOrEqual(PARTNER_LIMITS.totalMs + 5_000)
    expect(worstMs).toBeGreaterThan(PARTNER_LIMITS.totalMs)
    expect(leaseS * 1000, 'a lease leaves time to begin a call').toBeGreaterThanOrEqual(worstMs + 10_000)
  })
})

const drip = (response: ServerResponse) => {
  response.writeHead(200).flushHeaders()
  const timer = setInterval(() => response.write('x'), 50)
  response.on('close', () => clearInterval(timer))
}

const dripHead = (socket: Socket) => {
  const timer = setInterval(() => socket.write('H'), 50)
  socket.write('HTTP/1.1 200 OK\r\n')
  socket.on('close', () => clearInterval(timer))
}

const CUT_OFF = 'HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n99\r\n{"code":200'
const TWO_LENGTHS = ANSWER.replace('\r\n\r\n', '\r\nContent-Length: 12\r\n\r\n')
const OTHER_LENGTH = 'the Content-Length of the response is not the length of its body'

describe('a call fails with', () => {
  it.each<[string, RequestListener]>([
    ['hangs', () => {}],
    ['drips one byte after the other', (_request, response) => drip(response)],
  ])('timeout: the partner %s', async (_what, handle) => {
    const failure = await failing(call(await partner(handle), QUICK))
    expect(failure).toMatchObject({ failure: 'timeout', maybeReceived: true })
    expect(failure.timings.connected).not.toBeNull()
    expect(failure.timings.total).toBeLessThan(30_000)
  })

  it.each([
    ['answers at once', (response: ServerResponse) => void response.end('{"code":200}')],
    ['has not answered yet', () => {}],
  ])('hung up on purpose: the request arrives and the answer is ignored: the partner %s', async (_what, answer) => {
    const bodies: string[] = []
    const url = await partner(async (request, response) => {
      bodies.push(await bodyOf(request))
      answer(response)
    })
    const failure = await failing(post({ url, headers: {}, body: '{"a":1}', hangUp: true }, guard))
    expect(failure).toMatchObject({ failure: 'broken', maybeReceived: true, code: 'hung up on purpose' })
    expect(bodies).toEqual(['{"a":1}'])
    expect(failure.timings.total).toBeLessThan(PARTNER_LIMITS.headersMs)
  })

  it('timeout: no headers long before the whole call is over', async () => {
    // undici's timers tick about twice a second.
    const failure = await failing(call(await partner(() => {}), { headersMs: QUICK.headersMs }))
    expect(failure.message).toBe('timeout (UND_ERR_HEADERS_TIMEOUT)')
    expect(failure.reason).toEqual(`the response took too long: nothing came within ${QUICK.headersMs / 1_000} s`)
  })

  it('timeout: the partner drips its headers', async () => {
    expect((await failing(call(await rawPartner(dripHead), QUICK))).failure).toBe('timeout')
  })

  it.each<[string, RequestListener]>([
    ['with its length', (_request, response) => response.end(Buffer.alloc(10 * 1_048_576))],
    ['in chunks', (_request, response) => void [response.write('x'), response.end(Buffer.alloc(10 * 1_048_576))]],
    ['one byte too long', (_request, response) => response.end(Buffer.alloc(GENEROUS.bytes + 1))],
    ['in headers', (_request, response) => response.writeHead(200, { 'X-Long': 'x'.repeat(40_000) }).end()],
  ])('too-large: an answer %s', async (_what, handle) => {
    expect(await failing(call(await partner(handle)))).toMatchObject({ failure: 'too-large', maybeReceived: true })
  })

  it.each<[string, (socket: Socket) => void, string | undefined]>([
    ['hangs up', (socket) => socket.once('data', () => socket.destroy()), undefined],
    ['hangs up in the middle', (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx'), undefined],
    [
      'speaks no HTTP',
      (socket) => socket.end('SSH-2.0-OpenSSH_9.9\r\n'),
      'what came back is not a valid HTTP response',
    ],
    ['cuts off a chunk', (socket) => socket.once('data', () => socket.end(CUT_OFF)), undefined],
    ['says its length twice', (socket) => socket.once('data', () => socket.end(TWO_LENGTHS)), OTHER_LENGTH],
  ])('broken: the partner %s', async (_what, talk, reason) => {
    const failure = await failing(call(await rawPartner(talk)))
    expect(failure).toMatchObject({ failure: 'broken', maybeReceived: true })
    expect(failure.reason).toEqual(reason)
  })

  it('connect: nobody listens', async () => {
    const server = createTcpServer()
    const port = await listening(server)
    await new Promise((resolve) => server.close(resolve))
    expect(await failing(call(`http://127.0.0.1:${port}/`))).toMatchObject({
      failure: 'connect',
      message: 'connect (ECONNREFUSED)',
      maybeReceived: false,
    })
  })

  it('dns: no such name', async () => {
    expect(await failing(call('http://nowhere.invalid/'))).toMatchObject({
      failure: 'dns',
      maybeReceived: false,
    })
  })

  it('address: the name resolves to a private address', async () => {
    const url = (await partner((_request, response) => response.end())).replace('127.0.0.1', 'localhost')
    const strict = guardWith('')
    const failure = await failing(post({ url, headers: {}, body: '' }, strict, GENEROUS))
    expect(failure).toMatchObject({ failure: 'address', maybeReceived: false })
    expect((await post({ url, headers: {}, body: '' }, guardWith('localhost'), GENEROUS)).status).toBe(200)
  })

  it('tls: the partner speaks plain HTTP', async () => {
    const url = (await partner((_request, response) => response.end())).replace('http:', 'https:')
    expect(await failing(call(url))).toMatchObject({ failure: 'tls', maybeReceived: false })
  })

  it('tls: the partner has no certificate', async () => {
    const server = createTlsServer({}).on('tlsClientError', () => {})
    expect((await failing(call(`https://127.0.0.1:${await listening(server)}/`))).failure).toBe('tls')
  })

  it('tls: the partner accepts and says nothing', async () => {
    const url = (await rawPartner(() => {})).replace('http:', 'https:')
    expect((await failing(call(url, { connectMs: 400 }))).failure).toBe('tls')
  })
})
