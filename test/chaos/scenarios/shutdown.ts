import { setTimeout as sleep } from 'node:timers/promises'
import { startVisitors } from '../load/visitors.ts'
import { type Figure, type Ground, ms, type Scenario } from '../scenario.ts'
import { isReady, type Service } from '../service.ts'
import { userInfoCalls } from '../works.ts'

const CONNECTIONS = 64
const CHECK_EVERY_MS = 500

/** A5 requests as raw text. */
export function rawReads(world: Ground['world']): () => string {
  const next = userInfoCalls(world)
  return () => `POST ${next().target} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n`
}

/** SIGTERM while 64 keep-alive connections are busy. Callers check /readyz, like a load balancer, or do not. */
export const shutdown: Scenario = async (ground) => {
  const figures: Figure[] = []
  const two = { HTTP_PROCESSES: '2' }
  for (const [name, load, settings] of [
    ['busy', { pauseMs: 0, looks: true }, {}],
    ['half idle', { pauseMs: 100, looks: true }, {}],
    ['busy, HTTP_PROCESSES=2', { pauseMs: 0, looks: true }, two],
    ['busy, never looking at /readyz', { pauseMs: 0, looks: false }, {}],
    ['busy, never looking at /readyz, HTTP_PROCESSES=2', { pauseMs: 0, looks: false }, two],
    ['busy, never looking at /readyz, no delay', { pauseMs: 0, looks: false }, { SHUTDOWN_DELAY_S: '0' }],
  ] as const) {
    const service = await ground.start({ SHUTDOWN_DELAY_S: '3', ...settings })
    figures.push(...(await stopUnderLoad(ground, service, name, load)))
  }
  return figures
}

interface Visits {
  readonly pauseMs: number
  /** Whether callers check /readyz and open no connections while it is 503. */
  readonly looks: boolean
}

async function stopUnderLoad(
  ground: Ground,
  service: Service,
  name: string,
  { pauseMs, looks }: Visits,
): Promise<Figure[]> {
  let ready = true
  const visitors = startVisitors({
    port: service.port,
    connections: CONNECTIONS,
    request: rawReads(ground.world),
    pauseMs,
    mayConnect: () => ready || !looks,
    onRefused: 'end',
  })
  const watching = setInterval(async () => {
    ready = await isReady(service.port)
  }, CHECK_EVERY_MS)
  await sleep(2_000 * ground.options.scale)
  const taken = await service.stop()
  clearInterval(watching)
  visitors.stop()
  ready = true
  await visitors.ended
  const { answered, reset, failed, refused, reasons } = visitors.counts
  ground.progress(
    `${name}: ${answered} answered, ${reset} reset, ${failed} not 200, ${refused} refused; ${[...reasons]}`,
  )
  return [
    { figure: `requests lost of ${CONNECTIONS} connections, ${name}`, value: `${reset + failed} (of ${answered})` },
    { figure: `time from SIGTERM to the end, ${name}`, value: `${ms(taken)}, exit ${service.ended()}` },
  ]
}
