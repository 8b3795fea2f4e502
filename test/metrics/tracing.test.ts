import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { openTracing } from '../../src/operations/metrics/index.ts'
import { readConfig } from '../../src/platform/config/index.ts'
import { openLog } from '../../src/platform/lib/log.ts'

it('a receiver that refuses the last spans does not fail the shutdown', async () => {
  const receiver = createServer((_request, response) => response.writeHead(404).end()).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  const { port } = receiver.address() as AddressInfo
  const lines: string[] = []
  const log = openLog({ level: 'info', pretty: false }, { write: (line: string) => lines.push(line) })
  const config = readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`, OTEL_TRACES_SAMPLER_ARG: '1' })
  const tracing = await openTracing(config, log)
  tracing?.begin(undefined).end('request', {}, false)
  await expect(tracing?.close()).resolves.toBeUndefined()
  expect(lines.join('')).toContain('traces could not be sent')
  receiver.close()
})
