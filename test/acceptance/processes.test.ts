import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent } from 'undici'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { behindPgBouncer } from '../behind-pgbouncer.ts'
import { freshDatabase } from '../database.ts'
import { shardsOf } from '../one-table.ts'
import { SHORT_LIVED, startOptions } from '../start-options.ts'
import { until } from '../until.ts'
import { startBusyVisitors } from './busy-visitors.ts'
import { type App, Client, dataOf, type TokenSet, tokenSetOf, type User } from './client.ts'
import { httpWire } from './http.ts'
import { isAlive, pidsIn, serverPids } from './process-ids.ts'
import { type RunningProcess, SECRET_KEY, type System, startSystem } from './system.ts'

/** HTTP_PROCESSES=n: several real processes on one port, crashes and shutdown included. */

const answeringPids = ({ output }: RunningProcess) => new Set(pidsIn(output(), 'request'))

/** A client that opens a new connection for each call, so that calls reach all processes. */
function clientOf({ origin }: RunningProcess): Client {
  const wire = httpWire(origin, new Agent({ connections: 64, pipelining: 0 }))
  return new Client((call) => wire({ ...call, headers: { ...call.headers, connection: 'close' } }), origin)
}

describe('HTTP_PROCESSES=3, one service from its start to its end', () => {
  let service: System
  let running: RunningProcess
  let user: User
  let app: App
  beforeAll(async () => {
    service = await startSystem({ HTTP_PROCESSES: '3', DEMO: 'off', SHUTDOWN_DELAY_S: '2', SHUTDOWN_GRACE_S: '30' })
    running = service.processes[0] as RunningProcess
    const client = clientOf(running)
    user = await client.makeUser()
    app = await client.makeApp()
  })
  afterAll(() => service?.stop())

  it('answers from three processes, and runs durable jobs in only one', async () => {
    await until(() => serverPids(running).length === 3)
    const client = clientOf(running)
    const tokens = await client.getTokens(await client.signedIn(user, app), app)
    const burst = async () => {
      const answers = await Promise.all(Array.from({ length: 40 }, () => client.userInfo(tokens.access_token)))
      for (const answer of answers) dataOf(answer)
      return answeringPids(running).size === 3
    }
    await until(burst)
    expect([...answeringPids(running)].sort()).toEqual(serverPids(running).sort())
    const leases = () => service.query('select worker_id from worker_lease')
    await until(async () => (await leases()).length > 0)
    expect(await leases()).toHaveLength(1)
    expect(new Set(serverPids(running)).size).toBe(3)
  })

  it('loses no token that was acknowledged when a process is killed, and starts another process', async () => {
    const client = clientOf(running)
    const browser = await client.signedIn(user, app)
    const acknowledged: TokenSet[] = []
    const cutOff: unknown[] = []
    let over = false
    const visitor = async () => {
      while (!over) {
        try {
          acknowledged.push(tokenSetOf(await client.exchange(app, await client.getCode(browser, app))))
        } catch (error) {
          cutOff.push(error)
        }
        await sleep(200) // leaves the CPU to the process that is starting
      }
    }
    const visitors = Array.from({ length: 8 }, visitor)
    await until(() => acknowledged.length > 20)
    const [victim = 0] = serverPids(running)
    process.kill(victim, 'SIGKILL')
    await until(() => serverPids(running).length === 4)
    const before = acknowledged.length
    await until(() => acknowledged.length > before + 20)
    over = true
    await Promise.all(visitors)
    for (const { access_token } of acknowledged) dataOf(await client.userInfo(access_token))
    expect(running.output()).toMatch(
      new RegExp(`ERROR.*: a server process has ended; starting a new one .*"ended":${victim},.*"SIGKILL"`),
    )
    // Only requests in that process were cut off, by a broken connection and never by a wrong answer.
    expect(cutOff.length).toBeLessThanOrEqual(8)
    for (const error of cutOff) expect(String(error)).toMatch(/other side closed|ECONNRESET|socket hang up/)
    const replacement = serverPids(running)[3] ?? 0
    expect(answeringPids(running)).toContain(replacement)
  })

  it('on SIGTERM lets requests in flight finish, loses none of 64 busy connections, and leaves no process', async () => {
    const form = 'Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 24'
    const open = async (): Promise<Socket> => {
      const { hostname, port } = new URL(running.origin)
      const socket = connect({ host: hostname, port: Number(port) })
      await once(socket, 'connect')
      socket.write(`POST /sign-in HTTP/1.1\r\nHost: x\r\n${form}\r\n\r\npassport=`)
      return socket
    }
    const endVisitors = await startBusyVisitors(running.origin)
    const sockets = await Promise.all([open(), open(), open()])
    await sleep(1_000)
    const answers = sockets.map((socket) => once(socket, 'data'))
    const end = running.stop()
    await sleep(2_500) // beyond SHUTDOWN_DELAY_S
    for (const socket of sockets) socket.write('x&password=yyyy')
    for (const answer of answers) expect(String((await answer)[0])).toMatch(/^HTTP\/1\.1 403 /)
    expect(await end).toBe(0)
    await endVisitors()
    for (const socket of sockets) socket.destroy()
    expect(serverPids(running).filter(isAlive)).toEqual([])
  })
})

const ROOT = new URL('../../', import.meta.url).pathname

/** Runs the service until it ends, with the node options of npm start, which this version of node must accept. */
async function run(settings: Record<string, string>): Promise<{ code: number; output: string }> {
  const child = spawn(process.execPath, [...startOptions(ROOT), '.build/main.js'], {
    env: { PATH: process.env.PATH, ...shardsOf(settings), ...behindPgBouncer(settings) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const texts: string[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => texts.push(String(text)))
  const [code] = await once(child, 'close')
  return { code, output: texts.join('') }
}

describe('a start with several processes', () => {
  let database: Awaited<ReturnType<typeof freshDatabase>>
  beforeAll(async () => {
    database = await freshDatabase()
  })
  afterAll(() => database?.drop())

  it('shares one free port with PORT=0, replaces a process that gets SIGTERM, and kills one that hangs at shutdown', async () => {
    const child = spawn(process.execPath, [...SHORT_LIVED, '.build/main.js'], {
      env: {
        PATH: process.env.PATH,
        ...shardsOf({ DATABASE_URL: database.url }),
        ...behindPgBouncer({ DATABASE_URL: database.url }),
        SECRET_KEY,
        HTTP_PROCESSES: '2',
        SHUTDOWN_GRACE_S: '0',
        PORT: '0',
        DEMO: 'off',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let output = ''
    child.stdout.on('data', (text) => {
      output += text
    })
    const pids = () => pidsIn(output, 'a server process is ready')
    onTestFinished(() => {
      child.kill('SIGKILL') // if it is still running
      for (const pid of pids().filter(isAlive)) process.kill(pid, 'SIGKILL')
    })
    await until(() => pids().length === 2)
    const origins = new Set([...output.matchAll(/listening at (\S+)/g)].map(([, origin]) => origin))
    expect(origins.size).toBe(1)
    const [origin = ''] = origins
    expect((await fetch(`${origin}/readyz`)).status).toBe(200)

    const [told = 0] = pids()
    process.kill(told, 'SIGTERM')
    await until(() => pids().length === 3)
    expect(output).toContain(`"ended":${told}`)

    process.kill(pids()[2] ?? 0, 'SIGSTOP')
    child.kill('SIGTERM')
    expect(await once(child, 'exit')).toEqual([0, null])
    expect(pids().filter(isAlive)).toEqual([])
  })

  it('names the setting and ends when the port is taken', async () => {
    const holder = createServer().listen(0, '127.0.0.1')
    await once(holder, 'listening')
    const { port } = holder.address() as AddressInfo
    const { code, output } = await run({
      DATABASE_URL: database.url,
      SECRET_KEY,
      HTTP_PROCESSES: '2',
      PORT: String(port),
      DEMO: 'off',
    })
    holder.close()
    expect({ code, output }).toEqual({
      code: 1,
      output: `Gatehouse cannot start:\n  PORT ${port} on 127.0.0.1 cannot be used: the port is in use; choose another one\n`,
    })
  })
})
