import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { parseLossless } from '../../src/platform/lib/json/lossless.ts'
import { hostileAnswer } from './answers.ts'
import { randomAt } from './random.ts'

export interface HostilePartner {
  readonly url: string
  /** Answers given so far. */
  answers(): number
  /** The most recent answers, newest last, to show what preceded a failure. */
  recentAnswers(): readonly string[]
  close(): Promise<void>
}

const REMEMBERED = 8

/** Serves all partners of the run on one port; answer n of a seed always makes the same random choices. */
export async function openHostilePartner(seed: number): Promise<HostilePartner> {
  let given = 0
  const recentAnswers: string[] = []
  const sockets = new Set<Socket>()
  const server = createServer(async (request, response) => {
    const bytes = Buffer.concat(await request.toArray().catch(() => []))
    const parsed = parseLossless(bytes)
    const requestBody = ('value' in parsed ? (parsed.value as { body?: object }).body : undefined) ?? {}
    const place = given++
    const path = (request.url ?? '').replace(/^\/\d+/, '')
    const answer = hostileAnswer(randomAt(seed, place), path, requestBody as Readonly<Record<string, unknown>>)
    recentAnswers.push(
      `answer ${place} at ${path}: ${answer.status} ${answer.act ?? ''} ${answer.body.toString('latin1').slice(0, 400)}`,
    )
    if (recentAnswers.length > REMEMBERED) recentAnswers.shift()
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
    recentAnswers: () => recentAnswers,
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
