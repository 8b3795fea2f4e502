import { setTimeout as sleep } from 'node:timers/promises'
import { type Call, callsAt, type Outcome, waitsText } from '../calls.ts'
import type { Flood, FloodResult } from '../load/flood.ts'
import { runFlood } from '../load/run.ts'
import { watchMemory } from '../processes.ts'
import { type Figure, type Ground, mb, type Scenario } from '../scenario.ts'
import { userInfoCalls } from '../works.ts'

/** A request that needs no credentials. */
const READ =
  'POST /oauth/v2/api/resource/get_userinfo?access_token=none HTTP/1.1\r\nHost: gatehouse\r\nContent-Length: 0\r\n\r\n'
const HEALTH: Call = { method: 'GET', target: '/healthz' }
const PER_SECOND = 10
const PATIENCE_MS = 30_000

type Plan = Omit<Flood, 'port' | 'seconds'>

/** A hundred connections pipeline a thousand requests each: once, then again whenever they are closed. */
export const pipelining: Scenario = async (ground) => {
  const plan: Plan = { connections: 100, text: READ.repeat(1_000), again: false }
  return [
    ...(await flooded(ground, '100 connections × 1,000 requests, once', plan)),
    ...(await flooded(ground, 'the same, opened again when closed', { ...plan, reopenMs: 10 })),
  ]
}

/** Six thousand connections: first silent ones, then ones that send a request after each response. */
export const connections: Scenario = async (ground) => {
  const plan: Plan = { connections: 6_000, text: '', again: false, reopenMs: 1_000 }
  return [
    ...(await flooded(ground, '6,000 silent connections', plan)),
    ...(await flooded(ground, '6,000 connections, one request at a time', { ...plan, text: READ, again: true })),
  ]
}

/** How long new connections wait for /healthz and A5 meanwhile. */
async function flooded(ground: Ground, name: string, plan: Plan): Promise<Figure[]> {
  const { options, world, progress } = ground
  const seconds = 12 * options.scale
  const service = await ground.start()
  const memory = watchMemory(service.pid)
  const running = runFlood({ ...plan, port: service.port, seconds: seconds + 1 }, ground)
  await sleep(300)
  const [health, atPort, reads] = await Promise.all([
    fresh(service.healthPort, () => HEALTH, seconds),
    fresh(service.port, () => HEALTH, seconds),
    fresh(service.port, userInfoCalls(world), seconds),
  ])
  const result = await running
  await service.stop()
  progress(`${name}: ${JSON.stringify(result)}`)
  return [
    { figure: `${name}: /healthz at HEALTH_PORT waits`, value: waitsOf(health) },
    { figure: `${name}: /healthz at PORT waits`, value: waitsOf(atPort) },
    { figure: `${name}: a new A5 waits`, value: waitsOf(reads) },
    { figure: `${name}: what became of them`, value: endOf(result) },
    { figure: `${name}: resident memory before and at most`, value: `${mb(memory.before)}, ${mb(memory.most())}` },
  ]
}

const fresh = (port: number, next: () => Call, seconds: number): Promise<Outcome[]> =>
  callsAt(
    PER_SECOND,
    seconds,
    port,
    () => {
      const call = next()
      return { ...call, headers: { ...call.headers, Connection: 'close' } }
    },
    PATIENCE_MS,
  )

function waitsOf(outcomes: readonly Outcome[]): string {
  const other = outcomes.filter(({ status }) => status !== 200 && status !== 503 && status !== 0).length
  return other === 0 ? waitsText(outcomes) : `${waitsText(outcomes)}; another answer: ${other}`
}

function endOf({ opened, closed, open, statuses }: FloodResult): string {
  const answers = Object.entries(statuses).map(([status, times]) => `${status}: ${times}`)
  return `${opened} opened, ${closed} closed, ${open} open at the end; answers ${answers.join(', ') || 'none'}`
}
