import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { request } from 'undici'
import { afterEach, describe, expect, it } from 'vitest'
import { startVisitors } from '../chaos/load/visitors.ts'
import { type System, startSystem } from './system.ts'

/** SIGTERM while somebody holds a connection open. */

const FORM =
  'POST /sign-in HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 24\r\n\r\n'

let system: System
afterEach(() => system?.stop())

/** A connection to the running service that has sent `bytes`. */
async function connected(bytes: string): Promise<Socket> {
  const { hostname, port } = new URL(system.origin)
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write(bytes)
  await sleep(200)
  return socket
}

const READ =
  'POST /oauth/v2/api/resource/get_userinfo?access_token=none HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n'

async function stopped(): Promise<{ code: number | null | undefined; seconds: number }> {
  const began = performance.now()
  const code = await system.processes[0]?.stop()
  return { code, seconds: (performance.now() - began) / 1000 }
}

async function untilDraining(): Promise<void> {
  for (let waited = 0; waited < 100; waited++) {
    const answer = await fetch(`${system.origin}/readyz`, { headers: { connection: 'close' } })
    if (answer.status === 503) return
    await sleep(20)
  }
  throw new Error('still ready two seconds after SIGTERM')
}

describe('a shutdown', () => {
  it('lets a request in flight finish and ends with its answer, not with the grace, whoever else is connected', async () => {
    system = await startSystem({ SHUTDOWN_GRACE_S: '30' })
    const [openedAhead, headersWithoutEnd] = [await connected(''), await connected('GET / HTTP/1.1\r\nHos')]
    const inFlight = await connected(`${FORM}passport=`)
    const answer = once(inFlight, 'data')
    const end = stopped()
    await sleep(800)
    inFlight.write('x&password=yyyy')
    const text = String((await answer)[0])
    expect(text).toMatch(/^HTTP\/1\.1 403 /)
    expect(text).toMatch(/\r\nconnection: close\r\n/i)
    const { code, seconds } = await end
    for (const socket of [openedAhead, headersWithoutEnd, inFlight]) socket.destroy()
    expect(code).toBe(0)
    expect(seconds).toBeLessThan(20)
  })

  it('cuts a body that never ends after SHUTDOWN_GRACE_S, and still ends in order', async () => {
    system = await startSystem({ SHUTDOWN_GRACE_S: '2' })
    const socket = await connected(`${FORM}passport=`)
    const { code, seconds } = await stopped()
    socket.destroy()
    expect(code).toBe(0)
    expect(seconds).toBeGreaterThan(1.5)
    expect(seconds).toBeLessThan(15)
  })

  it('goes on serving for SHUTDOWN_DELAY_S, not ready, with answers that end their connection; a second signal ends it at once', async () => {
    system = await startSystem({ SHUTDOWN_DELAY_S: '100', HTTP_PROCESSES: '2' })
    const path = '/oauth/v2/api/resource/get_userinfo?access_token=none'
    const end = stopped()
    await untilDraining()
    for (let n = 0; n < 3; n++) {
      const answer = await request(system.origin + path, { method: 'POST' })
      expect(await answer.body.json()).toMatchObject({ rescode: 20009 })
      expect(answer.headers.connection).toBe('close')
    }
    system.processes[0]?.child.kill('SIGTERM')
    const { code, seconds } = await end
    expect(code).toBe(1)
    expect(seconds).toBeLessThan(60)
    await expect(fetch(`${system.origin}/healthz`)).rejects.toThrow()
  })

  it.each([
    ['one process', {}],
    ['HTTP_PROCESSES=2', { HTTP_PROCESSES: '2' }],
  ])('loses no request of 64 busy keep-alive connections: %s', async (_name, settings) => {
    system = await startSystem({ SHUTDOWN_DELAY_S: '2', ...settings })
    let ready = true
    const visitors = startVisitors({
      port: Number(new URL(system.origin).port),
      connections: 64,
      request: () => READ,
      pauseMs: 50,
      mayConnect: () => ready,
      onRefused: 'end',
    })
    const looking = setInterval(async () => {
      ready = (await fetch(`${system.origin}/readyz`).catch(() => undefined))?.status === 200
    }, 200)
    await sleep(1_000)
    const { code } = await stopped()
    clearInterval(looking)
    visitors.stop()
    ready = true
    await visitors.ended
    const { answered, reset, failed, reasons } = visitors.counts
    expect(code).toBe(0)
    expect(answered).toBeGreaterThan(100)
    expect({ reset, failed, reasons: [...reasons] }).toEqual({ reset: 0, failed: 0, reasons: [] })
  })
})
