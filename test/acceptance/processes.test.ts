import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent } from 'undici'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { behindPgBouncer } from '../behind-pgbouncer.ts'
import { freshDatabase } from '../database.ts'
import { SHORT_LIVED } from '../start-options.ts'
import { until } from '../until.ts'
import { ALICE, Client, DEMO_APP, dataOf, type TokenSet, tokenSetOf } from './client.ts'
import { httpWire } from './http.ts'
import { type RunningProcess, SECRET_KEY, type System, startProcess, startSystem } from './system.ts'

/** HTTP_PROCESSES=n: several real processes on one port, their deaths and their end. */

let system: System | undefined
const folders: string[] = []
const started: RunningProcess[] = []
afterEach(async () => {
  await system?.stop()
  system = undefined
  for (const running of started.splice(0)) if (running.child.exitCode === null) await running.stop()
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

async function systemOf(settings: Record<string, string>): Promise<System> {
  const opened = await startSystem(settings)
  await allReady(opened.processes[0] as RunningProcess)
  return opened
}
async function startedOnFolder(settings: Record<string, string>): Promise<RunningProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-processes-'))
  chmodSync(folder, 0o755)
  folders.push(folder)
  const running = await startProcess({ DATA_DIR: folder, ...settings })
  started.push(running)
  await allReady(running)
  return running
}

/** The process ids in lines that end with `message`, in the order of the log. */
const pidsIn = (output: string, message: string): number[] =>
  [...output.matchAll(new RegExp(`\\((\\d+)\\): ${message}`, 'g'))].map(([, pid]) => Number(pid))
/** Ready means that one of the processes answers; the line says that all do, and that signals are heeded. */
const allReady = ({ output }: RunningProcess) => until(() => output().includes('Gatehouse is ready'))
const serverPids = ({ output }: RunningProcess) => pidsIn(output(), 'a server process is ready')
const answeringPids = ({ output }: RunningProcess) => new Set(pidsIn(output(), 'request'))

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return process.platform !== 'linux' || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}
const postgresPid = () =>
  Number.parseInt(readFileSync(join(folders[0] ?? '', 'postgres', 'postmaster.pid'), 'utf8'), 10)

/** A client whose calls each make a connection of their own, so that they reach all processes. */
function clientOf({ origin }: RunningProcess): Client {
  const wire = httpWire(origin, new Agent({ connections: 64, pipelining: 0 }))
  return new Client((call) => wire({ ...call, headers: { ...call.headers, connection: 'close' } }), origin)
}

describe('HTTP_PROCESSES=3, one service from its start to its end', () => {
  let service: System
  let running: RunningProcess
  beforeAll(async () => {
    service = await systemOf({ HTTP_PROCESSES: '3', SHUTDOWN_GRACE_S: '5' })
    running = service.processes[0] as RunningProcess
  })
  afterAll(() => service?.stop())

  it('answers from three processes, and runs durable jobs once', async () => {
    expect(new Set(serverPids(running)).size).toBe(3)
    const client = clientOf(running)
    const tokens = await client.getTokens(await client.signedIn(ALICE), DEMO_APP)
    const burst = async () => {
      const answers = await Promise.all(Array.from({ length: 40 }, () => client.userInfo(tokens.access_token)))
      for (const answer of answers) dataOf(answer)
      return answeringPids(running).size === 3
    }
    for (let bursts = 0; bursts < 20 && !(await burst()); bursts++);
    expect([...answeringPids(running)].sort()).toEqual(serverPids(running).sort())
    expect(await service.query('select worker_id from worker_lease')).toHaveLength(1)
  })

  it('loses nothing that was acknowledged when one is killed, and starts another one', async () => {
    const client = clientOf(running)
    const browser = await client.signedIn(ALICE)
    const acknowledged: TokenSet[] = []
    const cutOff: unknown[] = []
    let over = false
    const visitor = async () => {
      while (!over) {
        try {
          acknowledged.push(tokenSetOf(await client.exchange(DEMO_APP, await client.getCode(browser, DEMO_APP))))
        } catch (error) {
          cutOff.push(error)
        }
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
    // Only what that one process had in hand was cut off, by a broken connection and never by a wrong answer.
    expect(cutOff.length).toBeLessThanOrEqual(8)
    for (const error of cutOff) expect(String(error)).toMatch(/other side closed|ECONNRESET|socket hang up/)
    const replacement = serverPids(running)[3] ?? 0
    expect(answeringPids(running)).toContain(replacement)
  })

  it('on SIGTERM lets requests in flight finish, and leaves no process', async () => {
    const form = 'Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 24'
    const open = async (): Promise<Socket> => {
      const { hostname, port } = new URL(running.origin)
      const socket = connect({ host: hostname, port: Number(port) })
      await once(socket, 'connect')
      socket.write(`POST /sign-in HTTP/1.1\r\nHost: x\r\n${form}\r\n\r\npassport=`)
      return socket
    }
    const sockets = await Promise.all([open(), open(), open()])
    await sleep(300)
    const answers = sockets.map((socket) => once(socket, 'data'))
    const end = running.stop()
    await sleep(500)
    for (const socket of sockets) socket.write('x&password=yyyy')
    for (const answer of answers) expect(String((await answer)[0])).toMatch(/^HTTP\/1\.1 403 /)
    expect(await end).toBe(0)
    for (const socket of sockets) socket.destroy()
    expect(serverPids(running).filter(isAlive)).toEqual([])
  })
})

describe('HTTP_PROCESSES=2', () => {
  it('ends at once on Ctrl-C, which reaches every process, its PostgreSQL last', async () => {
    const running = await startedOnFolder({ HTTP_PROCESSES: '2' })
    const pids = [...serverPids(running), postgresPid()]
    const client = clientOf(running)
    const tokens = await client.getTokens(await client.signedIn(ALICE), DEMO_APP)
    dataOf(await client.userInfo(tokens.access_token))
    const ended = once(running.child, 'close')
    for (const pid of serverPids(running)) process.kill(pid, 'SIGINT')
    running.child.kill('SIGINT')
    expect(await ended).toEqual([0, null])
    expect(pids.filter(isAlive)).toEqual([])
    expect(running.output()).not.toContain('starting a new one')
    expect(running.output()).not.toMatch(/^\[[\d:]+\] (ERROR|FATAL|WARN)/m)
  })

  it('leaves nothing when the first process is killed', async () => {
    const running = await startedOnFolder({ HTTP_PROCESSES: '2' })
    const pids = [...serverPids(running), postgresPid()]
    expect(pids.filter(isAlive)).toHaveLength(3)
    await running.kill()
    await until(() => pids.filter(isAlive).length === 0)
  })

  it('replaces one that was told to end, and kills one that hangs at the end', async () => {
    system = await systemOf({ HTTP_PROCESSES: '2', SHUTDOWN_GRACE_S: '0' })
    const running = system.processes[0] as RunningProcess
    const [told = 0] = serverPids(running)
    process.kill(told, 'SIGTERM')
    await until(() => serverPids(running).length === 3)
    const hanging = serverPids(running)[2] ?? 0
    process.kill(hanging, 'SIGSTOP')
    expect(await running.stop()).toBe(0)
    expect(serverPids(running).filter(isAlive)).toEqual([])
  })
})

/** A start that is not waited for, until its end. */
async function run(settings: Record<string, string>): Promise<{ code: number; output: string }> {
  const child = spawn(process.execPath, [...SHORT_LIVED, '.build/main.js'], {
    env: { PATH: process.env.PATH, ...behindPgBouncer(settings) },
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

  it('takes a free port for all of them with PORT=0', async () => {
    const child = spawn(process.execPath, [...SHORT_LIVED, '.build/main.js'], {
      env: {
        PATH: process.env.PATH,
        ...behindPgBouncer({ DATABASE_URL: database.url }),
        SECRET_KEY,
        HTTP_PROCESSES: '2',
        PORT: '0',
        DEMO: 'off',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let output = ''
    child.stdout.on('data', (text) => {
      output += text
    })
    await until(() => pidsIn(output, 'a server process is ready').length === 2)
    const origins = new Set([...output.matchAll(/listening at (\S+)/g)].map(([, origin]) => origin))
    expect(origins.size).toBe(1)
    const [origin = ''] = origins
    expect((await fetch(`${origin}/readyz`)).status).toBe(200)
    child.kill('SIGTERM')
    expect(await once(child, 'close')).toEqual([0, null])
  })

  it('names the setting when the port is taken, and leaves nothing', async () => {
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

  it('refuses more connections than the embedded PostgreSQL takes', async () => {
    expect(await run({ HTTP_PROCESSES: '20', DATABASE_POOL_SIZE: '10' })).toEqual({
      code: 1,
      output:
        'Gatehouse cannot start:\n  HTTP_PROCESSES times DATABASE_POOL_SIZE is 200: the embedded PostgreSQL takes 180; lower one of them\n',
    })
  })
})
