import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { expect, it, onTestFinished } from 'vitest'
import { openMetrics } from '../../src/platform/lib/metrics.ts'
import { serve } from '../../src/process/http-server.ts'
import { freePort } from '../free-port.ts'
import { openWorld } from '../harness.ts'

/** Connections that a balancer may open at once, for example after another process has stopped. */
const BURST = 1_500
/** The kernel's own limit for each listener. */
const MAX_BACKLOG = Number(readFileSync('/proc/sys/net/core/somaxconn', 'utf8'))

/** Opens connections at once, counts those that are open, and keeps them until it is ended. */
const CLIENT = `
  const { connect } = require('node:net')
  const { workerData, parentPort } = require('node:worker_threads')
  const open = new Int32Array(workerData.open)
  parentPort.once('message', () => {
    for (let n = 0; n < workerData.burst; n++)
      connect(workerData.port, '127.0.0.1').on('error', () => {}).on('connect', () => {
        if (Atomics.add(open, 0, 1) + 1 === workerData.burst) Atomics.notify(open, 0)
      })
  })
  parentPort.postMessage('ready')`

/** How many of the connections are open before this process has accepted any. */
async function openedAtOnce(port: number, burst: number): Promise<number> {
  const open = new SharedArrayBuffer(4)
  const client = new Worker(CLIENT, { eval: true, workerData: { port, burst, open } })
  onTestFinished(async () => {
    await client.terminate()
  })
  await once(client, 'message')
  client.postMessage('begin')
  const count = new Int32Array(open)
  const end = performance.now() + 20_000
  while (count[0] !== burst && performance.now() < end) Atomics.wait(count, 0, count[0] ?? 0, 100)
  return count[0] ?? 0
}

it('a burst of connections finds room on every listener, without the second that a repeated attempt takes', async () => {
  const [port, adminPort] = [await freePort(), await freePort()]
  const world = await openWorld({ PORT: String(port), ADMIN_PORT: String(adminPort), SHUTDOWN_DELAY_S: '0' })
  onTestFinished(() => world.close())
  const { stop } = await serve({ ...world.deps, metrics: openMetrics() }, world.log)
  onTestFinished(() => stop())
  const burst = Math.min(BURST, MAX_BACKLOG)
  for (const each of [port, adminPort]) expect(await openedAtOnce(each, burst)).toBe(burst)
})
