import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { ChosenPorts, Config } from '../platform/config/index.ts'
import type { Log } from '../platform/lib/log.ts'
import { ROOT } from '../platform/lib/root.ts'
import type { MetricsFromServer, MetricsOfProcesses, MetricsToServer } from './gather-metrics.ts'
import type { Database, Serving } from './http-server.ts'

/** What a server process gets by message; not through its environment, which others may read. */
export interface Handover extends Database, ChosenPorts {}
export type ToServer = Handover | 'stop' | 'all-listeners-closed' | MetricsToServer

/**
 * `awaiting-handover` at its start, `ready` once it answers requests, `failed` with what is wrong; when it stops,
 * `listener-closed` once it accepts no connections.
 */
export type FromServer =
  | 'awaiting-handover'
  | 'ready'
  | 'listener-closed'
  | { readonly failed: string }
  | MetricsFromServer

const PROGRAM = fileURLToPath(new URL('.build/http-worker.js', ROOT))
/** Longer than a server process takes to end by itself when something hangs (src/process/http-worker.ts). */
const KILL_AFTER_GRACE_S = 7
const AGAIN_AFTER_MS = 1_000
const SETTLE_MS = 100

/** HTTP_PROCESSES processes on one port (node:cluster): replaced when they end, ended with this one, even if killed. */
export async function serveInProcesses(
  config: Config,
  database: Database,
  log: Log,
  metrics: MetricsOfProcesses,
): Promise<Serving> {
  // Each process accepts for itself. Handed out in turn by this one (Node's default), a connection that is on its way to
  // a process which is killed would hang for as long as its client waits.
  cluster.schedulingPolicy = cluster.SCHED_NONE
  cluster.setupPrimary({ exec: PROGRAM })
  const handover: Handover = { ...database, port: config.PORT, demoPartnerPort: config.DEMO_PARTNER_PORT }
  let stopping = false

  const launch = async (): Promise<void> => {
    const child = cluster.fork()
    metrics.add(child)
    await answering(child, handover)
    child.once('exit', (code, signal) => replace({ ended: child.process.pid, code, signal }))
  }
  const replace = async (ended: object): Promise<void> => {
    await sleep(SETTLE_MS) // Ctrl-C reaches all processes at once, and this one may hear of their end first
    if (stopping) return
    log.error(ended, 'a server process has ended; starting a new one')
    while (!stopping) {
      const failure = await launch().catch((error: Error) => error)
      if (!failure) return
      if (!stopping) log.error({ reason: failure.message }, 'a server process could not be started; trying again')
      await sleep(AGAIN_AFTER_MS)
    }
  }
  const stop = async () => {
    stopping = true
    const killAfterMs = (config.SHUTDOWN_DELAY_S + config.SHUTDOWN_GRACE_S + KILL_AFTER_GRACE_S) * 1000
    const children = Object.values(cluster.workers ?? {}).filter((child) => child !== undefined)
    void Promise.all(children.map(listenerClosed)).then(() => children.forEach(tellAllClosed))
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

/** Resolves once the process answers requests; rejects with the reason when it cannot. */
function answering(child: Worker, handover: Handover): Promise<void> {
  return new Promise((resolve, reject) => {
    child.on('error', () => {}) // of sending to a process that has just ended; its exit reports it too
    child.on('message', (message: FromServer) => {
      if (message === 'awaiting-handover') child.send(handover)
      else if (message === 'ready') resolve()
      else if (typeof message === 'object' && 'failed' in message) reject(new Error(message.failed))
    })
    child.once('exit', (code, signal) => reject(new Error(`a server process has ended with ${signal ?? code}`)))
  })
}

/** One that has ended has closed it too. */
function listenerClosed(child: Worker): Promise<void> {
  return new Promise((resolve) => {
    if (child.isDead()) resolve()
    child.once('exit', () => resolve())
    child.on('message', (message: FromServer) => message === 'listener-closed' && resolve())
  })
}

function tellAllClosed(child: Worker): void {
  if (child.isConnected()) child.send('all-listeners-closed' satisfies ToServer, () => {})
}

async function end(child: Worker, killAfterMs: number): Promise<void> {
  if (child.isDead()) return
  const ended = once(child, 'exit')
  child.send('stop' satisfies ToServer)
  const timer = setTimeout(() => child.process.kill('SIGKILL'), killAfterMs)
  await ended
  clearTimeout(timer)
}
