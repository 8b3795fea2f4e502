import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { parseLossless } from '../../src/platform/lib/json/lossless.ts'
import { hostileAnswer } from './answers.ts'
import { randomAt } from './random.ts'

export interface HostilePartner {
  readonly url: string
  /** Answers given so far. */
  answers(): number
  /** The last answers that a path was given, newest last, to tell what went before a failure. */
  lately(): readonly string[]
  close(): Promise<void>
}

const REMEMBERED = 8

/** Every partner of the run behind one port; answer number n of a seed is always made of the same random choices. */
export async function openHostilePartner(seed: number): Promise<HostilePartner> {
  let given = 0
  const lately: string[] = []
  const sockets = new Set<Socket>()
  const server = createServer(async (request, response) => {
    const bytes = Buffer.concat(await request.toArray().catch(() => []))
    const parsed = parseLossless(bytes)
    const asked = ('value' in parsed ? (parsed.value as { body?: object }).body : undefined) ?? {}
    const place = given++
    const path = (request.url ?? '').replace(/^\/\d+/, '')
    const answer = hostileAnswer(randomAt(seed, place), path, asked as Readonly<Record<string, unknown>>)
    lately.push(
      `answer ${place} at ${path}: ${answer.status} ${answer.act ?? ''} ${answer.body.toString('latin1').slice(0, 400)}`,
    )
    if (lately.length > REMEMBERED) lately.shift()
    respond(request, response, answer)
  })
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {})
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answers: () => given,
    lately: () => lately,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function respond(
  { socket }: IncomingMessage,
  response: ServerResponse,
  { status, headers, body, act }: ReturnType<typeof hostileAnswer>,
): void {
  switch (act) {
    case 'close':
      socket.destroy()
      return
    case 'no-http':
      socket.end('SSH-2.0-OpenSSH_9.2\r\n')
      return
    case 'cut':
      socket.end(
        `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length + 100}\r\n\r\n${body}`,
      )
      return
    case 'early':
      socket.end('HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n')
      return
    default:
      if (status === 100) socket.end('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n')
      else response.writeHead(status, headers).end(body)
  }
}
