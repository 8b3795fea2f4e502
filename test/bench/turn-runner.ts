import type { Contestant } from './contestants/contestant.ts'
import type { TurnResult } from './load/ask.ts'
import { usageOf } from './processes.ts'
import type { Stage } from './stage.ts'
import { databaseTime, lastStatements, tryTokens, verifyRows } from './verify.ts'
import { listFor, WORKS, type Work, type WorkName } from './works.ts'

/** The result of one turn of a contestant at a workload. CPU times are user and system time together. */
export interface Round {
  readonly perSecond: number
  /** Open loop only: the rate at which requests were due. */
  readonly duePerSecond?: number
  readonly p50: number
  readonly p99: number
  /** The slowest response, milliseconds. */
  readonly slowest: number
  /** Refusals (503) per second, which the other figures exclude. */
  readonly refusedPerSecond: number
  /** Undefined on systems without /proc. */
  readonly cpuMsPer1000?: number
  readonly databaseCpuMsPer1000?: number
  readonly residentMb?: number
  /** Share of one core used by the load generator: near 1 it would be the bottleneck. */
  readonly generatorShare: number
  /** The last statement on each database connection used by the contestant in this turn. */
  readonly lastStatements: readonly string[]
}

interface TurnPlan {
  readonly work: WorkName
  readonly contestant: Contestant
  readonly seconds: number
  readonly warmUpS: number
  readonly connections: number
  readonly perSecond?: number | undefined
}

const FIRST_GUESS_PER_S = 8000
const LIST_MARGIN = 1.5

/** `bare` uses nothing up, so its requests may repeat. */
const orderOf = (work: WorkName, { name }: Contestant): Work['order'] =>
  name === 'bare' ? 'random' : WORKS[work].order

export type RunTurn = (plan: TurnPlan) => Promise<Round>

/** Runs turns; remembers rates, to know how long lists must be, and lists that can be reused. */
export function turnRunner(stage: Stage): RunTurn {
  const rates = new Map<string, number>()
  const lists = new Map<string, string>()

  async function list({ work, contestant, seconds, warmUpS }: TurnPlan): Promise<string> {
    const key = `${work} ${contestant.name}`
    const known = lists.get(key)
    if (known) return known
    const rate = rates.get(key) ?? FIRST_GUESS_PER_S
    const file = await listFor(
      stage.worldOf(contestant.name),
      work,
      contestant,
      Math.ceil(rate * (seconds + warmUpS) * LIST_MARGIN),
    )
    if (orderOf(work, contestant) === 'random') lists.set(key, file)
    return file
  }

  return async (plan: TurnPlan): Promise<Round> => {
    const { work: name, contestant } = plan
    const work: Work = WORKS[name]
    const file = await list(plan)
    const { pool } = stage.worldOf(contestant.name)
    const usages = () => ({ own: usageOf(contestant.pid), database: usageOf(stage.databasePid) })
    const rows = await verifyRows(pool, work, contestant.name)
    const began = await databaseTime(pool)
    let before = usages()
    const { port } = contestant
    const turn = { ...plan, list: file, order: orderOf(name, contestant), port, overload: work.overload !== undefined }
    const { work: _work, contestant: _contestant, ...message } = turn
    const result = await stage.generator.run(message, () => {
      before = usages()
    })
    const after = usages()
    const statements = await lastStatements(pool, began)
    await rows.mustHaveGrownBy(result.answersWithWarmUp)
    await tryTokens(stage.contestants.get('gatehouse'), contestant, result.tokens)
    const due = plan.perSecond === undefined ? {} : { duePerSecond: plan.perSecond }
    const round = { ...roundOf(result, before, after, statements), ...due }
    rates.set(`${name} ${contestant.name}`, Math.max(round.perSecond, 500))
    return round
  }
}

type Usages = { own: ReturnType<typeof usageOf>; database: ReturnType<typeof usageOf> }

function roundOf(result: TurnResult, before: Usages, after: Usages, lastStatements: readonly string[]): Round {
  const { answers, seconds, p50, p99, slowest, refused, generatorCpuS } = result
  const figures = {
    perSecond: answers / seconds,
    p50,
    p99,
    slowest,
    refusedPerSecond: refused / seconds,
    generatorShare: generatorCpuS / seconds,
    lastStatements,
  }
  if (!before.own || !after.own || !before.database || !after.database) return figures
  const msPer1000 = (seconds: number) => (seconds * 1e6) / answers
  return {
    ...figures,
    cpuMsPer1000: msPer1000(after.own.cpuS - before.own.cpuS),
    databaseCpuMsPer1000: msPer1000(after.database.cpuS - before.database.cpuS),
    residentMb: after.own.residentMb,
  }
}
