import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { request } from 'undici'
import { afterEach, describe, expect, it } from 'vitest'
import { until } from '../until.ts'
import { startBusyVisitors } from './busy-visitors.ts'
import { serverPids } from './process-ids.ts'
import { ADMIN_TOKEN, type System, startSystem } from './system.ts'

/** SIGTERM while clients hold connections open. */

const FORM =
  'POST /sign-in HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 24\r\n\r\n'

const READ =
  'POST /oauth/v2/api/resource/get_userinfo?access_token=none HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n'

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

/** A connection whose request has begun. */
async function asking(bytes: string): Promise<Socket> {
  const socket = await connected(bytes)
  const isBegun = async () => {
    const answer = await fetch(`${system.origin}/metrics`, { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } })
    const [, count] = /^gatehouse_http_requests_in_progress (\d+)$/m.exec(await answer.text()) ?? []
    return Number(count) > 1 // this one too
  }
  await until(isBegun)
  return socket
}

async function stopped(): Promise<{ code: number | null | undefined; seconds: number }> {
  const began = performance.now()
  const code = await system.processes[0]?.stop()
  return { code, seconds: (performance.now() - began) / 1000 }
}

const untilDraining = () =>
  until(async () => (await fetch(`${system.origin}/readyz`, { headers: { connection: 'close' } })).status === 503)

describe('a shutdown', () => {
  it('ends once the request in flight is answered, without waiting for the grace or idle connections, and loses no request of 64 busy ones', async () => {
    system = await startSystem({ DEMO: 'off', SHUTDOWN_DELAY_S: '2', SHUTDOWN_GRACE_S: '30' })
    const endVisitors = await startBusyVisitors(system.origin)
    const [openedAhead, headersWithoutEnd] = [await connected(''), await connected('GET / HTTP/1.1\r\nHos')]
    const inFlight = await asking(`${FORM}passport=`)
    const answer = once(inFlight, 'data')
    const end = stopped()
    await sleep(2_800) // beyond SHUTDOWN_DELAY_S
    inFlight.write('x&password=yyyy')
    const text = String((await answer)[0])
    expect(text).toMatch(/^HTTP\/1\.1 403 /)
    expect(text).toMatch(/\r\nconnection: close\r\n/i)
    const { code, seconds } = await end
    await endVisitors()
    for (const socket of [openedAhead, headersWithoutEnd, inFlight]) socket.destroy()
    expect(code).toBe(0)
    expect(seconds).toBeLessThan(20)
  })

  it.each([
    ['1', '1'],
    ['2', '1'],
    ['1', '0'],
  ])(
    'loses no request of 64 connections that send without a pause and ignore readiness: HTTP_PROCESSES=%s, SHUTDOWN_DELAY_S=%s',
    async (HTTP_PROCESSES, SHUTDOWN_DELAY_S) => {
      system = await startSystem({ DEMO: 'off', JOBS: 'off', LOG_REQUESTS: 'off', HTTP_PROCESSES, SHUTDOWN_DELAY_S })
      const endVisitors = await startBusyVisitors(system.origin, { pauseMs: 0, looks: false })
      const { code } = await stopped()
      await endVisitors()
      expect(code).toBe(0)
    },
  )

  it('without a delay, still answers requests on connections that it has stopped reading after many refusals', async () => {
    const settings = { MAX_REQUESTS: '1', SHUTDOWN_DELAY_S: '0', SHUTDOWN_GRACE_S: '5' }
    system = await startSystem({ DEMO: 'off', JOBS: 'off', LOG_REQUESTS: 'off', ...settings })
    const { hostname, port } = new URL(system.origin)
    const waiting = await Promise.all(
      Array.from({ length: 3_000 }, async () => {
        const socket = connect({ host: hostname, port: Number(port) })
        let text = ''
        socket.setEncoding('utf8').on('data', (part: string) => (text += part))
        socket.on('error', () => {})
        const closed = new Promise((resolve) => socket.once('close', resolve))
        await once(socket, 'connect')
        return { socket, closed, answers: (status = '') => text.split(`HTTP/1.1 ${status}`).length - 1 }
      }),
    )
    // It keeps the only place until its body has been arriving for three seconds.
    const inFlight = await connected(`${FORM}passport=`)
    for (const { socket } of waiting) socket.once('data', () => socket.write(READ)).write(READ)
    await until(() => waiting.every(({ answers }) => answers() > 0))
    expect(waiting.filter(({ answers }) => answers('503 ') > 0).length).toBeGreaterThan(100)
    const end = stopped()
    await Promise.all(waiting.map(({ closed }) => closed))
    inFlight.destroy()
    expect((await end).code).toBe(0)
    expect(waiting.filter(({ answers }) => answers() < 2)).toHaveLength(0)
  })

  it.each([0, 1])('loses no request while process %i of two lags behind the other', async (place) => {
    system = await startSystem({
      DEMO: 'off',
      JOBS: 'off',
      LOG_REQUESTS: 'off',
      HTTP_PROCESSES: '2',
      SHUTDOWN_DELAY_S: '1',
    })
    const [running] = system.processes
    if (!running) throw new Error('nothing runs')
    await until(() => serverPids(running).length === 2)
    const slow = serverPids(running)[place] as number
    const endVisitors = await startBusyVisitors(system.origin, { pauseMs: 0, looks: false })
    const end = stopped()
    await sleep(700)
    process.kill(slow, 'SIGSTOP')
    await sleep(700)
    process.kill(slow, 'SIGCONT')
    expect((await end).code).toBe(0)
    await endVisitors()
  })

  it('cuts off a body that never ends after SHUTDOWN_GRACE_S, and still exits with 0', async () => {
    system = await startSystem({ DEMO: 'off', SHUTDOWN_GRACE_S: '2' })
    const socket = await asking(`${FORM}passport=`)
    const { code, seconds } = await stopped()
    socket.destroy()
    expect(code).toBe(0)
    expect(seconds).toBeGreaterThan(1.5)
    expect(seconds).toBeLessThan(15)
  })

  it('serves for SHUTDOWN_DELAY_S while not ready, closing each connection after its answer; a second signal ends it at once', async () => {
    system = await startSystem({ DEMO: 'off', SHUTDOWN_DELAY_S: '100', HTTP_PROCESSES: '2' })
    const [running] = system.processes
    await until(() => running && serverPids(running).length === 2)
    const path = '/oauth/v2/api/resource/get_userinfo?access_token=none'
    const end = stopped()
    await untilDraining()
    for (let n = 0; n < 3; n++) {
      const answer = await request(system.origin + path, { method: 'POST' })
      expect(await answer.body.json()).toMatchObject({ rescode: 20009 })
      expect(answer.headers.connection).toBe('close')
    }
    running?.child.kill('SIGTERM')
    const { code, seconds } = await end
    expect(code).toBe(1)
    expect(seconds).toBeLessThan(60)
    await expect(fetch(`${system.origin}/healthz`)).rejects.toThrow()
  })
})
