import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import type { CallLimits } from '../../src/platform/config/call-limits.ts'
import { readConfig } from '../../src/platform/config/index.ts'
import type { Clock } from '../../src/platform/lib/clock.ts'
import { addressGuard } from '../../src/platform/outbound/address-guard.ts'
import { HttpCallError, post } from '../../src/platform/outbound/http-call.ts'
import { postWebhook } from '../../src/platform/outbound/webhook.ts'
import { acceptAnyCertificate } from '../any-certificate.ts'
import { SELF_SIGNED } from '../sandbox/certificates.ts'

/** What receivers may send around and inside their answers to make a call expensive. */

const guard = addressGuard(readConfig({ DEMO: 'off', PARTNER_ADDRESS_ALLOW: '127.0.0.0/8' }))
const MIB = 1_048_576
const LIMITS: CallLimits = { connectMs: 60_000, headersMs: 10_000, totalMs: 10_000, bytes: MIB }
/** The most that may arrive: twice the body, the rest of the message, and what the kernel and streams hold. */
const MOST_SENT = 12 * MIB
const opened: (() => void)[] = []

afterEach(() => {
  for (const close of opened.splice(0)) close()
})

async function listening(server: Server): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => sockets.add(socket.on('error', () => {})))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  opened.push(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return (server.address() as AddressInfo).port
}

const call = (url: string, limits: Partial<CallLimits> = {}) =>
  post({ url, headers: {}, body: '{}' }, guard, { ...LIMITS, ...limits })

const failing = async (answer: Promise<unknown>): Promise<HttpCallError> => {
  const outcome = await answer.catch((error: unknown) => error)
  if (!(outcome instanceof HttpCallError)) throw new Error(`not a failed call: ${String(outcome)}`)
  return outcome
}

/** Sends a beginning, then the same text for ever. Counts the bytes. */
function flood(beginning: string, text: string) {
  const piece = Buffer.from(text.repeat(Math.ceil(65_536 / text.length)))
  const sent = { bytes: 0 }
  const talk = (socket: Socket) => {
    socket.on('error', () => {}).write(beginning)
    const more = () => {
      while (!socket.destroyed) {
        sent.bytes += piece.length
        if (!socket.write(piece)) return
      }
    }
    socket.on('drain', more).once('data', more)
  }
  return { sent, talk }
}

const OK = 'HTTP/1.1 200 OK\r\n'
const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`

const INTERIM: [string, string, string] = ['interim responses', '', 'HTTP/1.1 103 \r\n\r\n']
const FLOODS: [string, string, string][] = [
  INTERIM,
  ['an endless reason', 'HTTP/1.1 200 ', 'x'],
  ['an endless chunk extension', `${CHUNKED}1;a=`, 'b'],
  ['a chunk extension for each byte', CHUNKED, `1;${'b'.repeat(1_000)}\r\nx\r\n`],
  ['blanks before the value of a header', `${OK}X:`, ' '],
  ['one-byte chunks', CHUNKED, '1\r\nx\r\n'],
  ['a body without end', `${OK}\r\n`, 'x'],
  ['headers without end', OK, 'X: y\r\n'],
  ['trailers without end', `${CHUNKED}0\r\n`, 'X: y\r\n'],
]

describe('an answer that never ends is cut off by its size, long before the call takes too long', () => {
  it.each(FLOODS)('%s', async (_what, beginning, text) => {
    const { sent, talk } = flood(beginning, text)
    const failure = await failing(call(`http://127.0.0.1:${await listening(createServer(talk))}/`))
    expect(failure).toMatchObject({ failure: 'too-large', maybeReceived: true })
    expect(sent.bytes).toBeLessThan(MOST_SENT)
  })

  it.each(FLOODS)('over TLS: %s', async (_what, beginning, text) => {
    opened.push(acceptAnyCertificate())
    const { sent, talk } = flood(beginning, text)
    const failure = await failing(call(`https://127.0.0.1:${await listening(createTlsServer(SELF_SIGNED, talk))}/`))
    expect(failure).toMatchObject({ failure: 'too-large', maybeReceived: true })
    expect(sent.bytes).toBeLessThan(MOST_SENT)
  })
})

/** A server that answers each request with these bytes at once, then closes. */
const answering = async (bytes: string | Buffer) =>
  `http://127.0.0.1:${await listening(createServer((socket) => socket.once('data', () => socket.end(bytes))))}/`

const chunks = (size: number, count: number) => `${size.toString(16)}\r\n${'x'.repeat(size)}\r\n`.repeat(count)

describe('an honest answer arrives, however it is cut', () => {
  it.each([
    ['in chunks of eight bytes', 8, MIB / 8],
    ['in chunks of one byte', 1, 20_000],
    ['in one chunk', MIB, 1],
  ])('%s', async (_how, size, count) => {
    const { body } = await call(await answering(`${CHUNKED}${chunks(size, count)}0\r\n\r\n`))
    expect(body.equals(Buffer.alloc(size * count, 'x'))).toBe(true)
  })

  // 64 KiB is where the stream of the body asks for a pause.
  it.each([1, 65_535, 65_536, 65_537, 131_072, 262_144])('%i bytes, then the end at once', async (size) => {
    const body = Buffer.alloc(size, 'x')
    for (const head of [`${OK}\r\n`, `${OK}Connection: close\r\nContent-Length: ${size}\r\n\r\n`]) {
      const answer = await call(await answering(Buffer.concat([Buffer.from(head), body])))
      expect(answer.body.equals(body)).toBe(true)
    }
  })
})

describe('a webhook that has answered 2xx has the message, whatever follows', () => {
  const send = (url: string) => {
    const deps = { clock: { now: () => new Date('2026-05-06T10:34:20Z') } as Clock, calls: { guard } }
    return postWebhook(deps, { url, id: 'evt_1', body: '{}', secrets: [] })
  }

  it.each([
    ['a web page of a megabyte', `${OK}Content-Length: ${MIB}\r\n\r\n${'x'.repeat(MIB)}`],
    ['the same in one-byte chunks', `${CHUNKED}${chunks(1, MIB)}`],
    ['a body that is cut off', `${OK}Content-Length: 9\r\n\r\nx`],
    ['a chunk that is none', `${CHUNKED}nonsense\r\n`],
  ])('%s', async (_what, answer) => {
    expect(await send(await answering(answer))).toBe(200)
  })

  it.each(FLOODS.filter(([, beginning]) => beginning.endsWith('\r\n\r\n')))('%s', async (_what, beginning, text) => {
    const { sent, talk } = flood(beginning, text)
    expect(await send(`http://127.0.0.1:${await listening(createServer(talk))}/`)).toBe(200)
    expect(sent.bytes).toBeLessThan(MOST_SENT)
  })

  it('a body that never ends', async () => {
    const talk = (socket: Socket) => {
      socket.write(`${OK}Content-Length: 1000\r\n\r\n`)
      const timer = setInterval(() => socket.write('x'), 100)
      socket.on('close', () => clearInterval(timer))
    }
    const began = performance.now()
    expect(await send(`http://127.0.0.1:${await listening(createServer(talk))}/`)).toBe(200)
    expect(performance.now() - began).toBeLessThan(10_000)
  })

  it('but not if the headers never come, or the status is another', async () => {
    const { talk } = flood(INTERIM[1], INTERIM[2])
    const url = `http://127.0.0.1:${await listening(createServer(talk))}/`
    await expect(send(url)).rejects.toThrow('the response of the webhook is too large')
    const failing = send(await answering('HTTP/1.1 500 No\r\nContent-Length: 9\r\n\r\nx'))
    await expect(failing).rejects.toThrow('the webhook responded with HTTP status 500')
  })
})

describe('whatever is sent, the call ends with an answer or says why not', () => {
  const PARTS = [
    ...[
      OK,
      CHUNKED,
      'HTTP/1.1 100 Continue\r\n\r\n',
      'HTTP/1.1 103 \r\n\r\n',
      'HTTP/1.1 101 Upgrade\r\nUpgrade: x\r\n\r\n',
    ],
    ...['HTTP/1.1 204 No Content\r\n\r\n', 'HTTP/1.0 200\r\n\r\n', 'HTTP/1.1 099 x\r\n\r\n', 'HTTP/1.1 999 x\r\n'],
    ...[
      'Content-Length: 70000\r\n',
      'Content-Length: 3\r\n',
      'Content-Length: -1\r\n',
      'Transfer-Encoding: chunked\r\n',
    ],
    ...['Connection: keep-alive\r\n', 'Connection: close\r\n', 'Keep-Alive: timeout=0\r\n', 'X: \u0000\r\n', 'X\r\n'],
    ...[
      '\r\n',
      '\r',
      '\n',
      '\r\n\r\n',
      '3\r\nabc\r\n',
      '0\r\n\r\n',
      '0\r\nX: y\r\n\r\n',
      'ffffffffffffffffff\r\n',
      '5;a=b\r\n',
    ],
    ...['x'.repeat(65_535), 'x'.repeat(65_536), 'x'.repeat(200_000), chunks(1, 3_000), '\u0000', 'abc'],
  ]
  const talks = fc.record({
    parts: fc.array(fc.constantFrom(...PARTS), { minLength: 1, maxLength: 8 }),
    beginning: fc.constantFrom('', OK, `${OK}\r\n`, CHUNKED),
    inOnePiece: fc.boolean(),
    ending: fc.constantFrom('end', 'destroy', 'resetAndDestroy'),
  })

  it('in pieces or in one, with a polite end or a reset', async () => {
    let talk: (socket: Socket) => void = () => {}
    const url = `http://127.0.0.1:${await listening(createServer((socket) => talk(socket)))}/`
    await fc.assert(
      fc.asyncProperty(talks, fc.boolean(), async ({ beginning, parts, inOnePiece, ending }, statusOnly) => {
        talk = (socket) =>
          socket.once('data', async () => {
            const texts = inOnePiece ? [[beginning, ...parts].join('')] : [beginning, ...parts]
            for (const text of texts) {
              socket.write(Buffer.from(text, 'latin1'))
              await new Promise(setImmediate)
            }
            socket[ending as 'end']()
          })
        const limits = { ...LIMITS, bytes: 262_144 }
        const outcome = await post({ url, headers: {}, body: '{}', statusOnly }, guard, limits).catch((error) => error)
        if (outcome instanceof HttpCallError) expect(outcome).toMatchObject({ maybeReceived: true })
        else expect(outcome.body.length).toBeLessThanOrEqual(limits.bytes)
      }),
      { numRuns: 300 },
    )
  })
})
