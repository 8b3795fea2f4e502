import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { inject } from 'vitest'
import { behindPgBouncer } from '../behind-pgbouncer.ts'
import { freshDatabase } from '../database.ts'
import { freePort } from '../free-port.ts'
import { everybodyUrl, shardsOf } from '../one-table.ts'
import { ADMIN_TOKEN, SECRET_KEY } from '../secrets.ts'
import { SHORT_LIVED } from '../start-options.ts'
import { until } from '../until.ts'

/** The built service as a process, or several on one database, as an operator would run them. */

export { ADMIN_TOKEN, SECRET_KEY }

const ROOT = new URL('../../', import.meta.url).pathname

export interface RunningProcess {
  readonly origin: string
  /** Where the demo micro-app listens. */
  readonly demoOrigin: string
  readonly child: ChildProcess
  /** Everything written to stdout and stderr so far. */
  output(): string
  /** Sends SIGTERM and waits for the end; resolves with the exit code. */
  stop(): Promise<number | null>
  /** Sends SIGKILL and waits for the end. */
  kill(): Promise<void>
}

/** Generous limits, because tests call from one address and may run on a busy machine. */
const GENEROUS = {
  AUTHORIZE_PER_MINUTE: '1000000',
  CLIENT_FAILURES: '100000',
  SIGN_IN_FAILURES_PER_ADDRESS: '100000',
  QUEUE_WAIT_MS: '20000',
  MAX_REQUESTS: '10000',
  SIGN_IN_QUEUE: '10000',
  PAGES_PER_MINUTE: '1000000',
}

/**
 * Shifts the clock of a process by TEST_CLOCK_OFFSET_S, and later by the seconds it gets as a message. A test that uses
 * only HTTP can see a token expire by calling a process whose clock is ahead, on the same database.
 */
const SHIFTED_CLOCK = `data:text/javascript,${encodeURIComponent(`
  const RealDate = Date
  let offset = Number(process.env.TEST_CLOCK_OFFSET_S ?? 0) * 1000
  process.on('message', (seconds) => {
    offset = seconds * 1000
    process.send(seconds)
  })
  process.channel?.unref()
  globalThis.Date = class extends RealDate {
    constructor(...given) { given.length > 0 ? super(...given) : super(RealDate.now() + offset) }
    static now() { return RealDate.now() + offset }
  }
`)}`

/** Starts `.build/main.js` as npm start does and waits until it is ready; `root` is the top level of its sources. */
export async function startProcess(environment: Record<string, string>, root = ROOT): Promise<RunningProcess> {
  const [port, demoPort, partnerPort] = [await freePort(), await freePort(), await freePort()]
  const origin = `http://127.0.0.1:${port}`
  const shifted = 'TEST_CLOCK_OFFSET_S' in environment
  const child = spawn(process.execPath, [...SHORT_LIVED, '.build/main.js'], {
    cwd: root,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      TMPDIR: process.env.TMPDIR,
      NODE_ENV: 'development',
      DEMO: 'on', // otherwise it is off when DATABASE_URL is set
      PARTNER_ADDRESS_ALLOW: '127.0.0.1', // sellers in tests, and demo partners of other processes
      LOG_LEVEL: 'debug',
      LOG_REQUESTS: 'all',
      PORT: String(port),
      DEMO_PORT: String(demoPort),
      DEMO_PARTNER_PORT: String(partnerPort),
      PUBLIC_URL: origin,
      ADMIN_TOKEN,
      ...GENEROUS,
      ...(shifted ? { NODE_OPTIONS: `--import=${SHIFTED_CLOCK}` } : {}),
      ...shardsOf(environment),
      ...behindPgBouncer(environment),
    },
    stdio: ['ignore', 'pipe', 'pipe', ...(shifted ? ['ipc' as const] : [])],
  })
  const written: string[] = []
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => written.push(text))
  }
  const output = () => written.join('')
  const ended = once(child, 'close').then(() => child.exitCode)
  const demo = (environment.DEMO ?? 'on') === 'on'
  const running: RunningProcess = {
    origin,
    demoOrigin: `http://127.0.0.1:${demoPort}`,
    child,
    output,
    stop: async () => {
      child.kill('SIGTERM')
      return ended
    },
    kill: async () => {
      child.kill('SIGKILL')
      await ended
    },
  }
  await untilReady(running, demo)
  return running
}

/** No start takes less. Polling earlier or more often would only cost it CPU. */
const QUICKEST_START_MS = 300
const ASK_EVERY_MS = 50

/** Waits for the service, and for the demo, which listens later. */
async function untilReady({ origin, child, output }: RunningProcess, demo: boolean): Promise<void> {
  await sleep(QUICKEST_START_MS)
  const ready = async () => {
    if (child.exitCode !== null) throw new Error(`the service ended with ${child.exitCode}:\n${output()}`)
    if (demo && !output().includes('Gatehouse is ready')) return false
    return (await fetch(`${origin}/readyz`).catch(() => undefined))?.status === 200
  }
  await until(ready, output, ASK_EVERY_MS).catch((error: unknown) => {
    child.kill('SIGKILL')
    throw error
  })
}

/** Settings of a production process that is reached over http like the others. */
export const PRODUCTION = { NODE_ENV: 'production', DEMO: '', PUBLIC_URL_HTTP: 'on' }

/** Lets production start on a database with the demo, whose users and micro-apps many tests use. */
export async function unmarkDemo({ query }: System): Promise<void> {
  for (const table of ['micro_app', 'user_profile', 'partner']) await query(`update ${table} set demo = false`)
}

export interface System {
  readonly processes: readonly RunningProcess[]
  /** The first process. */
  readonly origin: string
  readonly databaseUrl: string
  /** For what HTTP does not show: the audit log, and the number of rows that a race left behind. */
  query(text: string, values?: unknown[]): Promise<Record<string, unknown>[]>
  /** One more process on the same database. */
  add(environment?: Record<string, string>, root?: string): Promise<RunningProcess>
  stop(): Promise<void>
}

/** Starts one process per environment, all on one fresh database. */
export const startSystem = (...environments: Record<string, string>[]): Promise<System> =>
  startSystemOf(undefined, environments)

/** The same, with the build below `root`. */
export async function startSystemOf(
  root: string | undefined,
  environments: readonly Record<string, string>[],
): Promise<System> {
  const database = await freshDatabase()
  const connection = { DATABASE_URL: database.url, SECRET_KEY }
  const start = (environment: Record<string, string>, root?: string) =>
    startProcess({ ...connection, ...environment }, root)
  const processes: RunningProcess[] = []
  for (const environment of environments.length > 0 ? environments : [{}])
    processes.push(await start(environment, root))
  const pool = new pg.Pool({ connectionString: everybodyUrl(database.url), max: 1 })
  pool.on('error', () => {})
  return {
    processes,
    origin: processes[0]?.origin ?? '',
    databaseUrl: database.url,
    query: async (text, values) => (await pool.query(text, values)).rows,
    add: async (environment = {}, root) => {
      const added = await start(environment, root)
      processes.push(added)
      return added
    },
    stop: async () => {
      await Promise.all(processes.map((running) => (running.child.exitCode === null ? running.stop() : undefined)))
      await pool.end()
      await database.drop()
    },
  }
}

/** Registers a shared process to be ended with the test run (test/global-setup.ts). */
function endWithRun({ child }: RunningProcess): void {
  writeFileSync(join(inject('processesFolder'), String(child.pid)), '')
}

/** Logs what it does by default, not every request, which would be a tenth of the work. */
export const FEW_LINES = { LOG_REQUESTS: 'failures', LOG_LEVEL: 'info' }
/** Settings of an additional process; the first one does what is done only once. */
const BARE = { ...FEW_LINES, DEMO: 'off', JOBS: 'off', MIGRATE: 'off' }

let shared: Promise<System> | undefined

/**
 * Two processes on one database, the second with native statuses, shared by all tests of a worker that neither end them
 * nor count rows that other tests may leave. A process that a test adds is not listed here; the test has to end it.
 */
export async function sharedSystem(): Promise<System> {
  shared ??= startSystem(FEW_LINES, { ENVELOPE_HTTP_STATUS: 'native', ...BARE }).then((system) => {
    const processes = [...system.processes]
    for (const running of processes) endWithRun(running)
    return { ...system, processes, stop: async () => {} }
  })
  return shared
}

const later = new Map<string, Promise<RunningProcess>>()

/** A process of the shared system with its clock this many seconds ahead, until the next call. */
export async function laterProcess(seconds: number, statuses: '200' | 'native' = '200'): Promise<RunningProcess> {
  const { add } = await sharedSystem()
  const start = async () => {
    const running = await add({ TEST_CLOCK_OFFSET_S: '0', ENVELOPE_HTTP_STATUS: statuses, ...BARE })
    endWithRun(running)
    return running
  }
  if (!later.has(statuses)) later.set(statuses, start())
  const running = (await later.get(statuses)) as RunningProcess
  const told = once(running.child, 'message')
  running.child.send(seconds)
  await told
  return running
}
