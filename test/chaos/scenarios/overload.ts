import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { refreshAsks, userInfoAsks } from '../../bench/asks.ts'
import type { Ask } from '../../bench/load/ask.ts'
import { readList, writeList } from '../../bench/load/list.ts'
import { usageOf } from '../../bench/processes.ts'
import { call, type Outcome } from '../calls.ts'
import type { Crowd, CrowdResult } from '../load/crowd.ts'
import { runCrowd } from '../load/run.ts'
import { watchMemory } from '../processes.ts'
import { type Figure, type Ground, mb, ms, percent, type Scenario } from '../scenario.ts'
import type { Service } from '../service.ts'
import { userInfoCalls } from '../works.ts'

/** Number of callers at peak throughput: with more, they only wait longer. */
const AT_PEAK = 256
const FRESH_EVERY_MS = 200
const REQUESTS = 2_000
/** No rate limit, so that only the capacity of the service limits callers. */
const SETTINGS = { REFRESHES_PER_MINUTE: '10000000' }

/** Five times as many callers as the service can serve, for a read and for a write. */
export const overload: Scenario = async (ground) => {
  const { world } = ground
  return [
    ...(await overloadWith(ground, 'A5', userInfoAsks(world, 'gatehouse'))),
    ...(await overloadWith(ground, 'A3', refreshAsks(world, 'gatehouse'))),
  ]
}

async function overloadWith(ground: Ground, name: string, asks: Iterable<Ask>): Promise<Figure[]> {
  const { options, world, progress } = ground
  const list = join(world.folder, `chaos-${name}.ndjson`)
  await writeList(list, asks)
  const requests = (await readList(list)).map(({ request }) => request).slice(0, REQUESTS)
  const service = await ground.start(SETTINGS)
  const crowd = { port: service.port, requests, heedsRetryAfter: true }
  const peak = await measured(ground, service, {
    ...crowd,
    callers: AT_PEAK,
    warmUpS: 2,
    seconds: 5 * options.scale,
  })
  progress(
    `${name} at its peak: ${Math.round(peak.goodPerSecond)} a second, p99 ${ms(peak.p99)}; now ${options.times} times as many callers`,
  )
  const flood = { ...crowd, callers: AT_PEAK * options.times, warmUpS: 1, seconds: 8 * options.scale }
  const polite = await measured(ground, service, flood)
  const atOnce = await measured(ground, service, { ...flood, heedsRetryAfter: false })
  await service.stop()
  const figures = (what: string, result: Measured): Figure[] => [
    {
      figure: `${name}, ${what}: goodput`,
      value: `${Math.round(result.goodPerSecond)}/s, ${(result.goodPerSecond / peak.goodPerSecond).toFixed(2)} of the peak`,
    },
    {
      figure: `${name}, ${what}: p99 of what was answered; the longest`,
      value: `${ms(result.p99)}, ${(result.p99 / peak.p99).toFixed(1)} × that at the peak; ${ms(result.longest)}`,
    },
    {
      figure: `${name}, ${what}: 503, and the p99 of that; failed`,
      value: `${percent(result.refused, result.good + result.refused)}, ${Number.isNaN(result.refusalP99) ? 'n/a' : ms(result.refusalP99)}; ${result.failed}`,
    },
    {
      figure: `${name}, ${what}: a reader on a connection of its own waits`,
      value: `${ms(Math.max(...result.fresh.map((one) => one.ms)))} at most; 503 or none: ${percent(result.fresh.filter(({ status }) => status !== 200).length, result.fresh.length)}`,
    },
    {
      figure: `${name}, ${what}: cores that the service, PostgreSQL and the load get; resident memory at most`,
      value: `${result.serviceCores.toFixed(2)}, ${result.databaseCores.toFixed(2)}, ${result.cores.toFixed(2)}; ${mb(result.memory)}`,
    },
  ]
  return [
    {
      figure: `${name}: peak, with ${AT_PEAK} callers`,
      value: `${Math.round(peak.goodPerSecond)}/s, p99 ${ms(peak.p99)}; cores ${peak.serviceCores.toFixed(2)}, ${peak.databaseCores.toFixed(2)}, ${peak.cores.toFixed(2)}`,
    },
    ...figures(`${flood.callers} callers who heed Retry-After`, polite),
    ...figures(`${flood.callers} callers who come back at once`, atOnce),
  ]
}

interface Measured extends CrowdResult {
  readonly serviceCores: number
  readonly databaseCores: number
  readonly memory: number | undefined
  readonly fresh: readonly Outcome[]
}

async function measured(ground: Ground, service: Service, crowd: Crowd): Promise<Measured> {
  const memory = watchMemory(service.pid)
  const usage = () => [usageOf(service.pid)?.cpuS ?? 0, usageOf(ground.databasePid)?.cpuS ?? 0] as const
  const cores = async (): Promise<readonly [number, number]> => {
    await sleep(crowd.warmUpS * 1000)
    const before = usage()
    await sleep(crowd.seconds * 1000)
    const after = usage()
    return [(after[0] - before[0]) / crowd.seconds, (after[1] - before[1]) / crowd.seconds]
  }
  const [result, fresh, [serviceCores, databaseCores]] = await Promise.all([
    runCrowd(crowd, ground),
    freshReads(ground, service, crowd.seconds),
    cores(),
  ])
  return { ...result, fresh, serviceCores, databaseCores, memory: memory.most() }
}

async function freshReads({ world }: Ground, { port }: Service, seconds: number): Promise<Outcome[]> {
  const next = userInfoCalls(world)
  const asked: Promise<Outcome>[] = []
  for (let waited = 0; waited < seconds * 1000; waited += FRESH_EVERY_MS) {
    asked.push(call(port, next(), 30_000))
    await sleep(FRESH_EVERY_MS)
  }
  return Promise.all(asked)
}
