import { afterAll, beforeAll, describe, it, vi } from 'vitest'
import { MANY_CONNECTIONS, openWorld, type World } from '../harness.ts'
import { check, seenOfOne } from './check-plans.ts'
import { AT_ONCE, createSeller, hotOperations, OPERATIONS, times } from './hot-operations.ts'
import { believeEmpty, crowdDatabase, fillDatabase, growDatabase, type Size, stopStatistics } from './million.ts'
import { watchPlans } from './seen-plans.ts'

/**
 * The plans of the service's main operations: index scans only, with a number of rows and pages that does not depend on
 * the size of the tables. They are checked for the statements really sent by a single request and by twelve at once,
 * which may share statements.
 */

/** More than connections, so that some share. To make plans on every connection, thirty are needed. */
const CHECKED_AT_ONCE = 12

type Operations = Awaited<ReturnType<typeof hotOperations>>

/** Makes plans for small tables, `learned` by the planner or not, and then grows the tables unnoticed. */
async function growAfterPlans(world: World, first: Size, learned: boolean): Promise<Operations> {
  const { databaseUrl, pool, clock } = world
  await stopStatistics(databaseUrl)
  await growDatabase(databaseUrl, clock.now(), first)
  if (learned) await pool.query('analyze')
  const operations = await hotOperations(world)
  for (const [operation, { prepare }] of Object.entries(operations)) {
    // Each notice is about an order of its own.
    const needsOrder = operation.startsWith('a notice')
    const many = await times(needsOrder ? Math.min(AT_ONCE, first.orders / 3) : AT_ONCE, prepare)
    await Promise.all(many.map((each) => each()))
  }
  let lost = 0
  pool.on('remove', () => lost++)
  // Connections in use are not closed, however long this takes.
  const held = await times(pool.totalCount, () => pool.connect())
  await crowdDatabase(databaseUrl, clock.now(), { users: 5_000, orders: 10_000, parties: 1_000 })
  for (const connection of held) connection.release()
  if (lost > 0) throw new Error(`${lost} connections, and their plans, did not last until the tables had grown`)
  return operations
}

/** Lists are planned for each request, so they follow the statistics, which autovacuum updates within a minute. */
const PLANNED_EACH_TIME: readonly string[] = [
  'an operator lists the grants to an app',
  'a partner searches for an order',
]
const ANALYZED_LAST = OPERATIONS.toSorted(
  (one, other) => Number(PLANNED_EACH_TIME.includes(one)) - Number(PLANNED_EACH_TIME.includes(other)),
)

const BEFORE: Readonly<Record<string, (world: World) => Promise<Operations>>> = {
  'tables with a million rows': async (world) => {
    await fillDatabase(world.databaseUrl, world.clock.now())
    return hotOperations(world)
  },
  'tables that have grown since plans were made for thousands of rows': (world) =>
    growAfterPlans(world, { users: 2_000, orders: 4_000, parties: 50 }, true),
  'tables that have grown since plans were made for a few rows': (world) =>
    growAfterPlans(world, { users: 10, orders: 1000, parties: 3 }, true),
  'tables that have grown since plans were made for three rows': (world) =>
    growAfterPlans(world, { users: 3, orders: 3, parties: 1 }, true),
  'tables that have grown since plans were made for empty tables': (world) =>
    growAfterPlans(world, { users: 1, orders: 3, parties: 1 }, false),
  'tables that have grown since they were emptied and analyzed': async (world) => {
    await stopStatistics(world.databaseUrl)
    await growDatabase(world.databaseUrl, world.clock.now(), { users: 20_000, orders: 20_000, parties: 1_000 })
    await believeEmpty(world.databaseUrl)
    return hotOperations(world)
  },
}

describe.each(Object.entries(BEFORE))('%s', (_before, prepareTables) => {
  let world: World
  let plans: Awaited<ReturnType<typeof watchPlans>>
  let operations: Operations
  /** Operations that need this run last, so once is enough. */
  let analyzed: Promise<unknown> | undefined

  beforeAll(async () => {
    // On a busy machine thirty at once wait for each other's locks longer than the service would let them.
    vi.stubEnv('PGOPTIONS', '-c lock_timeout=9000 -c statement_timeout=9500')
    world = await openWorld({ ...MANY_CONNECTIONS, AUTHORIZE_PER_MINUTE: '1000000' })
    vi.unstubAllEnvs()
    plans = await watchPlans(world)
    await createSeller(world)
    operations = await prepareTables(world)
  })
  afterAll(async () => {
    plans?.stop()
    await world?.close()
  })

  it.each(ANALYZED_LAST)('%s', async (operation) => {
    if (PLANNED_EACH_TIME.includes(operation)) {
      analyzed ??= world.pool.query('analyze')
      await analyzed
    }
    const { prepare, ...bounds } = operations[operation]
    await (await prepare())() // the first statements of a connection also read the system catalogue
    const one = await seenOfOne(async () => plans.during(await prepare()), bounds)
    check(one, 1, bounds)
    const many = await times(CHECKED_AT_ONCE, prepare)
    check(await plans.during(() => Promise.all(many.map((each) => each()))), CHECKED_AT_ONCE, bounds)
  })
})
