import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../src/platform/lib/web/listen.ts'
import { INHERITED } from '../bench/contestants/contestant.ts'
import { startOptions } from '../start-options.ts'
import { type Call, call, type Outcome } from './calls.ts'

/** The built service as a process, run like `npm start` does. */
export interface Service {
  readonly port: number
  /** Port of the separate listener for /healthz; versions without one answer at `port`. */
  readonly healthPort: number
  readonly pid: number
  readonly child: ChildProcess
  /** Whether `stop` was called. */
  stopping: boolean
  /** Its signal or exit code; undefined while it is running. */
  ended(): string | undefined
  /** Its whole output. */
  output(): string
  /** Sends SIGTERM; resolves with the milliseconds until it ended. */
  stop(): Promise<number>
}

export interface StartOptions {
  readonly checkout: string
  /** Folder for its log file. */
  readonly folder: string
  readonly settings: Readonly<Record<string, string>>
}

/** Longer than any regular shutdown; then it is killed, so that no run leaves a process behind. */
const KILL_AFTER_MS = 40_000
let started = 0

export async function startService({ checkout, folder, settings }: StartOptions): Promise<Service> {
  const port = settings.PORT ? Number(settings.PORT) : await freePort()
  const healthPort = await freePort([port])
  const file = join(folder, `service-${++started}.log`)
  const log = openSync(file, 'a')
  const child = spawn(process.execPath, [...startOptions(checkout), '.build/main.js'], {
    cwd: checkout,
    env: {
      ...INHERITED,
      PORT: String(port),
      DEMO: 'on',
      DEMO_PORT: '0',
      DEMO_PARTNER_PORT: '0',
      HEALTH_PORT: String(healthPort),
      ...settings,
    },
    stdio: ['ignore', log, log],
  })
  const ended = once(child, 'exit')
  const service: Service = {
    port,
    healthPort,
    stopping: false,
    pid: child.pid as number,
    child,
    ended: () =>
      child.exitCode === null && child.signalCode === null ? undefined : String(child.signalCode ?? child.exitCode),
    output: () => readFileSync(file, 'utf8'),
    stop: async () => {
      const began = performance.now()
      service.stopping = true
      if (service.ended() !== undefined) return 0
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS)
      await ended
      clearTimeout(timer)
      return performance.now() - began
    },
  }
  await untilReady(service)
  void watchHealth(service, await healthPortOf(service))
  return service
}

const HEALTH: Call = { method: 'GET', target: '/healthz', headers: { Connection: 'close' } }
const HEALTH_EVERY_MS = 200
const HEALTH_PATIENCE_MS = 30_000
const health: Outcome[] = []

/** Results of /healthz since the last call of this function, from all services that were not being stopped. */
export const takeHealth = (): Outcome[] => health.splice(0)

/** Versions without HEALTH_PORT answer at PORT. */
const healthPortOf = async ({ port, healthPort }: Service): Promise<number> =>
  (await call(healthPort, HEALTH, HEALTH_PATIENCE_MS)).status === 200 ? healthPort : port

async function watchHealth(service: Service, port: number): Promise<void> {
  while (service.ended() === undefined && !service.stopping) {
    void call(port, HEALTH, HEALTH_PATIENCE_MS).then((outcome) => {
      if (outcome.status !== 0 || !service.stopping) health.push(outcome)
    })
    await sleep(HEALTH_EVERY_MS)
  }
}

export const isReady = (port: number): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(2_000) })
    .then((answer) => answer.status === 200)
    .catch(() => false)

async function untilReady(service: Service): Promise<void> {
  for (let waited = 0; waited < 1_500; waited++) {
    if (service.ended() !== undefined) throw new Error(`the service does not start:\n${service.output().slice(-2_000)}`)
    if (await isReady(service.port)) return
    await sleep(20)
  }
  service.child.kill('SIGKILL')
  throw new Error(`the service is not ready after 30 s:\n${service.output().slice(-2_000)}`)
}
