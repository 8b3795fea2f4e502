import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { type System, startSystem } from './system.ts'

/** SIGTERM while somebody holds a connection open. */

const FORM =
  'POST /sign-in HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 24\r\n\r\n'

let system: System
afterEach(() => system?.stop())

/** A running service with SHUTDOWN_GRACE_S=2 and a connection to it that has sent `bytes`. */
async function connected(bytes: string): Promise<Socket> {
  system = await startSystem({ SHUTDOWN_GRACE_S: '2' })
  const { hostname, port } = new URL(system.origin)
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write(bytes)
  await sleep(200)
  return socket
}

async function stopped(): Promise<{ code: number | null | undefined; seconds: number }> {
  const began = performance.now()
  const code = await system.processes[0]?.stop()
  return { code, seconds: (performance.now() - began) / 1000 }
}

describe('a shutdown', () => {
  it.each([
    ['a connection that a browser opened ahead', ''],
    ['headers that never end', 'GET / HTTP/1.1\r\nHos'],
  ])('does not wait for %s', async (_name, bytes) => {
    const socket = await connected(bytes)
    const { code, seconds } = await stopped()
    socket.destroy()
    expect(code).toBe(0)
    expect(seconds).toBeLessThan(1.5)
  })

  it('cuts a body that never ends after SHUTDOWN_GRACE_S, and still ends in order', async () => {
    const socket = await connected(`${FORM}passport=`)
    const { code, seconds } = await stopped()
    socket.destroy()
    expect(code).toBe(0)
    expect(seconds).toBeGreaterThan(1.5)
    expect(seconds).toBeLessThan(5)
  })

  it('lets a request in flight finish', async () => {
    const socket = await connected(`${FORM}passport=`)
    const answer = once(socket, 'data')
    const end = stopped()
    await sleep(500)
    socket.write('x&password=yyyy')
    expect(String((await answer)[0])).toMatch(/^HTTP\/1\.1 403 /)
    expect((await end).code).toBe(0)
    socket.destroy()
  })
})
