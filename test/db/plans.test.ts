import { afterAll, beforeAll, describe, it } from 'vitest'
import { MANY_CONNECTIONS, openWorld, type World } from '../harness.ts'
import { check } from './check-plans.ts'
import { AT_ONCE, createSeller, hotOperations, OPERATIONS, times } from './hot-operations.ts'
import { crowdDatabase, fillDatabase, growDatabase, type Size, stopStatistics } from './million.ts'
import { watchPlans } from './seen-plans.ts'

/**
 * The plans of the service's main operations: index scans only, with a number of rows and pages that does not depend on
 * the size of the tables. They are checked for the statements really sent by a single request and by thirty at once,
 * which may share statements.
 */

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

/** For one to five rows the planner considers a sequential scan cheaper than an index scan. */
const ALMOST_EMPTY = 'tables that have grown since plans were made for three rows'
/**
 * Look-ups are fenced off with `offset 0`. That is impossible for the target of an update, and too expensive for the token
 * of A4 and A5. These operations stay within bounds once the tables are analyzed, which autovacuum does within a minute
 * after 50 new rows.
 */
const ANALYZED_FIRST: readonly string[] = [
  'A5 reads a profile',
  'A4 reads a phone number',
  'A2 exchanges a code',
  'A2 refuses a used code',
  'A3 refreshes, policy rotating',
  'A3 repeats the answer of a rotation',
  'userinfo reads claims',
  'a client introspects a token',
  'the standard token endpoint exchanges a code',
  'a client revokes an access token',
]
/** Lists are planned for each request, so they follow the statistics, which autovacuum updates within a minute. */
const PLANNED_EACH_TIME: readonly string[] = [
  'an operator lists the grants to an app',
  'a partner searches for an order',
]
const analyzedFirst = (before: string, operation: string): boolean =>
  PLANNED_EACH_TIME.includes(operation) || (before === ALMOST_EMPTY && ANALYZED_FIRST.includes(operation))
const rank = (operation: string): number =>
  Number(ANALYZED_FIRST.includes(operation)) + 2 * Number(PLANNED_EACH_TIME.includes(operation))
const ANALYZED_LAST = OPERATIONS.toSorted((one, other) => rank(one) - rank(other))

const BEFORE: Readonly<Record<string, (world: World) => Promise<Operations>>> = {
  'tables with a million rows': async (world) => {
    await fillDatabase(world.databaseUrl, world.clock.now())
    return hotOperations(world)
  },
  'tables that have grown since plans were made for thousands of rows': (world) =>
    growAfterPlans(world, { users: 2_000, orders: 4_000, parties: 50 }, true),
  'tables that have grown since plans were made for a few rows': (world) =>
    growAfterPlans(world, { users: 10, orders: 1000, parties: 3 }, true),
  [ALMOST_EMPTY]: (world) => growAfterPlans(world, { users: 3, orders: 3, parties: 1 }, true),
  'tables that have grown since plans were made for empty tables': (world) =>
    growAfterPlans(world, { users: 1, orders: 3, parties: 1 }, false),
}

describe.each(Object.entries(BEFORE))('%s', (before, prepareTables) => {
  let world: World
  let plans: Awaited<ReturnType<typeof watchPlans>>
  let operations: Operations
  /** Operations that need this run last, so once is enough. */
  let analyzed: Promise<unknown> | undefined

  beforeAll(async () => {
    world = await openWorld({ ...MANY_CONNECTIONS, AUTHORIZE_PER_MINUTE: '1000000' })
    plans = await watchPlans(world)
    await createSeller(world)
    operations = await prepareTables(world)
  })
  afterAll(async () => {
    plans?.stop()
    await world?.close()
  })

  it.each(ANALYZED_LAST)('%s', async (operation) => {
    if (analyzedFirst(before, operation)) {
      analyzed ??= world.pool.query('analyze')
      await analyzed
    }
    const { prepare, ...bounds } = operations[operation]
    await (await prepare())() // the first statements of a connection also read the system catalogue
    const one = await prepare()
    check(await plans.during(one), 1, bounds)
    const many = await times(AT_ONCE, prepare)
    check(await plans.during(() => Promise.all(many.map((each) => each()))), AT_ONCE, bounds)
  })
})
