import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { rawRequestError } from '../../../src/platform/lib/web/bad-request.ts'
import { RequestLimit } from '../../../src/platform/lib/web/request-limit.ts'

it.each([
  ['answered', 1, 'HTTP/1.1 200'],
  ['refused, as there is no room', 0, 'HTTP/1.1 503'],
])(
  'a connection is closed after bytes that are no request, once the request before them was %s',
  async (_, most, head) => {
    const limit = new RequestLimit(most, () => undefined)
    limit.refuse = (_request, response) => response.writeHead(503).end()
    const server = createServer({ keepAliveTimeout: 60_000 })
    limit.guard(server, 100, (_request, response) => setImmediate(() => response.end()))
    server.on(
      'clientError',
      rawRequestError(
        () => undefined,
        (socket) => limit.answersFirst(socket),
      ),
    )
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
    onTestFinished(() => {
      client.destroy()
      server.close()
    })
    const chunks: string[] = []
    client.setEncoding('utf8').on('data', (chunk: string) => chunks.push(chunk))
    client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\nno request\r\n\r\n')
    await once(client, 'close', { signal: AbortSignal.timeout(5_000) })
    expect(chunks.join('').match(/HTTP\/1.1 \d+/g)).toEqual([head])
  },
)
