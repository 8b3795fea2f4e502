import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { openMetrics } from '../../src/platform/lib/metrics.ts'
import { serve } from '../../src/process/http-server.ts'
import { freePort } from '../free-port.ts'
import { openWorld } from '../harness.ts'

const GRACE_S = 2

/** All listeners, on ports of their own. */
async function serving() {
  const [port, adminPort, healthPort] = [await freePort(), await freePort(), await freePort()]
  const world = await openWorld({
    PORT: String(port),
    ADMIN_PORT: String(adminPort),
    HEALTH_PORT: String(healthPort),
    SHUTDOWN_DELAY_S: '0',
    SHUTDOWN_GRACE_S: String(GRACE_S),
  })
  onTestFinished(() => world.close())
  const { stop } = await serve({ ...world.deps, metrics: openMetrics() }, world.log)
  return { port, adminPort, healthPort, stop }
}

async function connected(port: number): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port }).on('error', () => {})
  await once(socket, 'connect')
  return socket
}

/** A form whose body never comes. */
async function unfinishedForm(port: number, path: string): Promise<Socket> {
  const socket = await connected(port)
  const lines = [`POST ${path} HTTP/1.1`, `Host: localhost:${port}`, 'Content-Length: 10']
  socket.write(`${[...lines, 'Content-Type: application/x-www-form-urlencoded'].join('\r\n')}\r\n\r\na=`)
  return socket
}

async function secondsTo(stop: () => Promise<void>): Promise<number> {
  const began = performance.now()
  await stop()
  return (performance.now() - began) / 1000
}

it('requests in progress on several listeners get SHUTDOWN_GRACE_S together, not one after the other', async () => {
  const { port, adminPort, stop } = await serving()
  const sockets = [await unfinishedForm(port, '/sign-in'), await unfinishedForm(adminPort, '/console/sign-in')]
  const closed = Promise.all(sockets.map((socket) => once(socket, 'close')))
  const seconds = await secondsTo(stop)
  await closed
  expect(seconds).toBeGreaterThan(GRACE_S - 0.1)
  expect(seconds).toBeLessThan(GRACE_S * 2 - 0.1)
})

it('connections without a request hold up no listener', async () => {
  const { port, adminPort, healthPort, stop } = await serving()
  for (const each of [port, adminPort, healthPort]) await connected(each)
  expect(await secondsTo(stop)).toBeLessThan(GRACE_S - 0.5)
})
