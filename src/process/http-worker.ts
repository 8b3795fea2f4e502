import '../platform/lib/no-debugger.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import closeWithGrace from 'close-with-grace'
import { longestShutdown, readConfig, withPorts } from '../platform/config/index.ts'
import { checkSecretKey } from '../platform/db/installation.ts'
import { endInOrder } from '../platform/lib/end-all.ts'
import { openLog } from '../platform/lib/log.ts'
import { type MetricsToServer, metricsOfAll } from './gather-metrics.ts'
import type { FromServer, Handover, ToServer } from './http-cluster.ts'
import { openDeps, serve } from './http-server.ts'

/** One of the HTTP_PROCESSES server processes. What is done once for all of them is done by the primary process. */

const settings = readConfig()
const stops: (() => Promise<void>)[] = []
const log = openLog({ level: settings.LOG_LEVEL, pretty: settings.NODE_ENV === 'development' }).child({
  pid: process.pid,
})

let ending = false
const closeTimeoutMs = longestShutdown(settings).httpProcess * 1000
const closing = closeWithGrace({ delay: closeTimeoutMs, logger: false }, async ({ err }) => {
  ending = true
  if (err) log.fatal({ err }, 'exiting because of an unexpected failure')
  await endInOrder(...stops)
})
const end = (): void => {
  if (!ending) closing.close() // a terminal's Ctrl-C reaches this process too
}

/** How long a hanging process may delay the others. */
const OTHERS_CLOSE_WITHIN_MS = 3_000
let allClosed = (): void => {}
const othersClosed = async (): Promise<void> => {
  const received = new Promise<void>((resolve) => (allClosed = resolve))
  send('listener-closed')
  await Promise.race([received, sleep(OTHERS_CLOSE_WITHIN_MS, undefined, { ref: false })])
}

let takeMetrics = (_message: MetricsToServer): void => {}
process.on('message', (message: ToServer) => {
  if (message === 'stop') end()
  else if (message === 'all-listeners-closed') allClosed()
  else if ('metricsRequest' in message || 'allMetrics' in message) takeMetrics(message)
  else start(message).catch((error: Error) => send({ failed: error.message }, end))
})
send('awaiting-handover')

async function start({ port, demoPartnerPort, ...database }: Handover): Promise<void> {
  const config = withPorts(settings, { port, demoPartnerPort })
  const { deps, close } = await openDeps(config, log, database)
  stops.unshift(close)
  await checkSecretKey(deps)
  const { gather, take } = metricsOfAll(() => deps.metrics.registry.getMetricsAsJSON())
  takeMetrics = take
  const { stop } = await serve(deps, log, gather, othersClosed)
  stops.unshift(stop)
  log.info('a server process is ready')
  send('ready')
}

function send(message: FromServer, then = () => {}): void {
  process.send?.(message, then)
}
