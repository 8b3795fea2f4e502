import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../../lib/log.ts'
import { type Diagnosis, diagnoseEnd, diagnoseStart } from './diagnosis.ts'
import { isReady, type Launched } from './launch.ts'

/** How long restarts are tried after the server has ended: enough for an operator to free disk space, say. */
const GIVE_UP_AFTER_MS = 180_000
/** Somebody waits for the first start, so only transient failures are retried, and for a shorter time. */
const FIRST_START_MS = 60_000
const FIRST_PAUSE_MS = 200
const LONGEST_PAUSE_MS = 5_000
/** A server that has run this long counts as recovered; one that ends sooner still has the same problem. */
const STEADY_MS = 30_000

const hasEnded = ({ server }: Launched): boolean => server.exitCode !== null || server.signalCode !== null

/** Starts a PostgreSQL, and again whenever it ends, until the returned function stops it. Resolves once it is ready. */
export async function keepRunning(
  launch: () => Launched,
  dataDir: string,
  log: Log,
  giveUpAfterMs = GIVE_UP_AFTER_MS,
): Promise<() => Promise<void>> {
  const stopping = new AbortController()
  const { signal } = stopping
  const pauseFor = (milliseconds: number) => sleep(milliseconds, undefined, { signal }).catch(() => {})

  let isAway = false
  let crash: string | undefined
  /**
   * A process that crashes ends all others of its server. On a full disk the recovery crashes too, again and again,
   * while the server itself may never end.
   */
  const readLine = (line: string): void => {
    const reason = diagnoseEnd(line, dataDir)
    if (reason !== undefined) {
      if (reason !== crash) log.error({ reason }, 'a process of the embedded PostgreSQL crashed; it recovers')
      isAway = true
      crash = reason
    }
    if (!isReady(line)) return
    if (isAway) log.info('the embedded PostgreSQL is back')
    isAway = false
    crash = undefined
  }

  /** Tries until a server is ready. Throws the reason when a retry is pointless, or at `giveUpAt`. */
  const start = async (giveUpAt: number, shouldRetry: (diagnosis: Diagnosis) => boolean): Promise<Launched> => {
    let lastReason = ''
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      current = launch()
      current.lines.on('line', readLine)
      if ((await current.ready) || signal.aborted) return current
      const diagnosis = diagnoseStart(current.recentOutput(), dataDir)
      if (!shouldRetry(diagnosis) || performance.now() > giveUpAt) throw new Error(diagnosis.message)
      const reason = diagnosis.message
      if (reason !== lastReason) log.error({ reason }, 'the embedded PostgreSQL does not start; trying again')
      lastReason = reason
      await pauseFor(pause)
      if (signal.aborted) return current
    }
  }

  const restartWheneverItEnds = async (): Promise<void> => {
    let giveUpAt = 0
    while (!signal.aborted) {
      const upSince = performance.now()
      if (!hasEnded(running)) await once(running.server, 'exit')
      if (signal.aborted) return
      isAway = true
      const now = performance.now()
      const wasSteady = giveUpAt === 0 || now - upSince > STEADY_MS
      if (wasSteady) giveUpAt = now + giveUpAfterMs
      const { exitCode, signalCode } = running.server
      const reason = diagnoseEnd(running.recentOutput(), dataDir)
      log.error({ code: exitCode ?? signalCode, reason }, 'the embedded PostgreSQL ended by itself; starting it again')
      if (now > giveUpAt) throw new Error(reason ?? 'it ends again and again')
      await pauseFor(wasSteady ? FIRST_PAUSE_MS : LONGEST_PAUSE_MS)
      if (signal.aborted) return
      running = await start(giveUpAt, () => true)
    }
  }

  let current: Launched | undefined
  let running = await start(performance.now() + FIRST_START_MS, ({ isTransient }) => isTransient).catch(
    (error: Error) => {
      throw new Error(`the embedded PostgreSQL does not start: ${error.message}`)
    },
  )
  restartWheneverItEnds().catch((error: Error) => {
    log.fatal({ reason: error.message }, 'the embedded PostgreSQL could not be restarted; Gatehouse is stopping')
    process.exit(1)
  })
  return async () => {
    stopping.abort()
    if (!current || hasEnded(current)) return
    const ended = once(current.server, 'exit')
    current.server.stdin?.end()
    await ended
  }
}
