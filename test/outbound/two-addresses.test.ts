import { connect, type Socket } from 'node:net'
import { Worker } from 'node:worker_threads'
import { afterEach, expect, it } from 'vitest'
import type { CallLimits } from '../../src/platform/config/call-limits.ts'
import { readConfig } from '../../src/platform/config/index.ts'
import { addressGuard } from '../../src/platform/outbound/address-guard.ts'
import { post } from '../../src/platform/outbound/http-call.ts'

/** Partners whose host name has several addresses. */

const closing: (() => unknown)[] = []

afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

/** Accepts no connection until told, with room for one: the kernel drops what comes, and senders repeat it. */
const SLOW_SERVER = `
  const { workerData: gate, parentPort } = require('node:worker_threads')
  const server = require('node:net').createServer((socket) => {
    socket.on('error', () => {}).once('data', () => socket.end('HTTP/1.1 204 No Content\\r\\n\\r\\n'))
  })
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    parentPort.postMessage(server.address().port)
    Atomics.wait(gate, 0, 0)
  })`

async function slowServer(): Promise<{ port: number; accept(): void }> {
  const gate = new Int32Array(new SharedArrayBuffer(4))
  const worker = new Worker(SLOW_SERVER, { eval: true, workerData: gate })
  closing.push(() => worker.terminate())
  const port = await new Promise<number>((resolve) => worker.once('message', resolve))
  const waiting: Socket[] = Array.from({ length: 4 }, () => connect(port, '127.0.0.1').on('error', () => {}))
  closing.push(() => waiting.map((socket) => socket.destroy()))
  await new Promise((resolve) => waiting[1]?.once('connect', resolve))
  const accept = () => {
    Atomics.store(gate, 0, 1)
    Atomics.notify(gate, 0)
  }
  return { port, accept }
}

const LIMITS: CallLimits = { connectMs: 20_000, headersMs: 20_000, totalMs: 60_000, bytes: 65_536 }

it('a far address is waited for, although the other one refuses', async () => {
  const guard = addressGuard(readConfig({ DEMO: 'off', PARTNER_ADDRESS_ALLOW: '127.0.0.0/8,::1' }), async () => [
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ])
  const { port, accept } = await slowServer()
  await import('../../src/platform/outbound/connection.ts') // takes a while, and is loaded with the first call
  const call = post({ url: `http://partner.example:${port}/`, headers: {}, body: '{}' }, guard, LIMITS)
  setTimeout(accept, 600)
  const { status, timings } = await call
  expect(status).toBe(204)
  expect(timings.connected, 'the connection was made at once').toBeGreaterThan(300)
})
