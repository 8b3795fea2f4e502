import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type ChosenPorts, type Config, longestShutdown } from '../platform/config/index.ts'
import type { Log } from '../platform/lib/log.ts'
import { ROOT } from '../platform/lib/root.ts'
import { type MetricsFromServer, type MetricsOfProcesses, type MetricsToServer, sendTo } from './gather-metrics.ts'
import type { Database, Serving } from './http-server.ts'

/** What a server process receives by message, since others may read its environment. */
export interface Handover extends Database, ChosenPorts {}
export type ToServer = Handover | 'stop' | 'all-listeners-closed' | MetricsToServer

/** `ready` once it answers requests, `failed` with the reason; `listener-closed` once it accepts no more connections. */
export type FromServer =
  | 'awaiting-handover'
  | 'ready'
  | 'listener-closed'
  | { readonly failed: string }
  | MetricsFromServer

const PROGRAM = fileURLToPath(new URL('.build/http-worker.js', ROOT))
const RESTART_DELAY_MS = 1_000
const SETTLE_MS = 100

/** Runs HTTP_PROCESSES processes on one port (node:cluster), replaces those that end, and takes them along, even if killed. */
export async function serveInProcesses(
  config: Config,
  database: Database,
  log: Log,
  metrics: MetricsOfProcesses,
): Promise<Serving> {
  // Each process accepts its own connections. Under Node's default, round robin by the primary, a connection on its way
  // to a process that is killed would hang for as long as its client waits.
  cluster.schedulingPolicy = cluster.SCHED_NONE
  cluster.setupPrimary({ exec: PROGRAM })
  const handover: Handover = { ...database, port: config.PORT, demoPartnerPort: config.DEMO_PARTNER_PORT }
  let stopping = false

  const launch = async (): Promise<void> => {
    const child = cluster.fork()
    metrics.add(child)
    await becomesReady(child, handover)
    child.once('exit', (code, signal) => replace({ ended: child.process.pid, code, signal }))
  }
  const replace = async (ended: object): Promise<void> => {
    await sleep(SETTLE_MS) // Ctrl-C reaches all processes at once, and this one may see their exit first
    if (stopping) return
    log.error(ended, 'a server process has ended; starting a new one')
    while (!stopping) {
      const failure = await launch().catch((error: Error) => error)
      if (!failure) return
      if (!stopping) log.error({ reason: failure.message }, 'a server process could not be started; trying again')
      await sleep(RESTART_DELAY_MS)
    }
  }
  const stop = async () => {
    stopping = true
    const killAfterMs = longestShutdown(config).hangingHttpProcess * 1000
    const children = Object.values(cluster.workers ?? {}).filter((child) => child !== undefined)
    void Promise.all(children.map(listenerClosed)).then(() => {
      for (const child of children) sendTo(child, 'all-listeners-closed' satisfies ToServer)
    })
    await Promise.all(children.map((child) => end(child, killAfterMs)))
  }

  try {
    await Promise.all(Array.from({ length: config.HTTP_PROCESSES }, launch))
  } catch (error) {
    await stop()
    throw error
  }
  return { stop }
}

/** Resolves once the process answers requests; rejects with the reason if it cannot. */
function becomesReady(child: Worker, handover: Handover): Promise<void> {
  return new Promise((resolve, reject) => {
    child.on('error', () => {}) // sending to a process that has just ended; its exit is handled below
    child.on('message', (message: FromServer) => {
      if (message === 'awaiting-handover') child.send(handover)
      else if (message === 'ready') resolve()
      else if (typeof message === 'object' && 'failed' in message) reject(new Error(message.failed))
    })
    child.once('exit', (code, signal) => reject(new Error(`a server process has ended with ${signal ?? code}`)))
  })
}

/** Resolves once the process has closed its listener, or has ended. */
function listenerClosed(child: Worker): Promise<void> {
  return new Promise((resolve) => {
    if (child.isDead()) resolve()
    child.once('exit', () => resolve())
    child.on('message', (message: FromServer) => message === 'listener-closed' && resolve())
  })
}

async function end(child: Worker, killAfterMs: number): Promise<void> {
  if (child.isDead()) return
  const ended = once(child, 'exit')
  child.send('stop' satisfies ToServer)
  const timer = setTimeout(() => child.process.kill('SIGKILL'), killAfterMs)
  await ended
  clearTimeout(timer)
}
