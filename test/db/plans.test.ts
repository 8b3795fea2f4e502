import { afterAll, beforeAll, describe, it } from 'vitest'
import { openWorld, type World } from '../harness.ts'
import { check } from './check-plans.ts'
import { AT_ONCE, createSeller, HOT, hotOperations, LISTS, times } from './hot-operations.ts'
import { fillDatabase, growDatabase, type Size, stopStatistics } from './million.ts'
import { watchPlans } from './seen-plans.ts'

/**
 * How PostgreSQL does what the service is for: nothing but indexes, and a number of rows and pages that does not depend
 * on the size of the tables. Whatever is really sent is looked at, by one request alone and by thirty at once, which may
 * share statements.
 */

const SMALL = 'tables so small that the planner would rather read them whole'

const GROWN: Size = { users: 131_072, orders: 50_000, parties: 5_000 }

/** Statistics are of `first`; plans are made, and then there are more rows than these say. */
async function growAfterPlans(world: World, first: Size, learn: () => Promise<unknown>): Promise<void> {
  await stopStatistics(world.databaseUrl)
  await growDatabase(world.databaseUrl, world.clock.now(), first)
  await learn()
  for (const { prepare } of Object.values(await hotOperations(world))) {
    const many = await times(AT_ONCE, prepare)
    await Promise.all(many.map((each) => each()))
  }
  await growDatabase(world.databaseUrl, world.clock.now(), GROWN)
}

const BEFORE = {
  'tables with a million rows': (world: World) => fillDatabase(world.databaseUrl, world.clock.now()),
  [SMALL]: (world: World) =>
    growAfterPlans(world, { users: 2_000, orders: 4_000, parties: 50 }, () => world.pool.query('analyze')),
  'tables that have grown since the plans were made': (world: World) =>
    growAfterPlans(world, { users: 10, orders: 1000, parties: 10 }, async () => undefined),
}

describe.each(Object.entries(BEFORE))('%s', (name, prepareTables) => {
  let world: World
  let plans: Awaited<ReturnType<typeof watchPlans>>
  let operations: Awaited<ReturnType<typeof hotOperations>>

  beforeAll(async () => {
    world = await openWorld({ AUTHORIZE_PER_MINUTE: '1000000' })
    plans = await watchPlans(world)
    await createSeller(world)
    await prepareTables(world)
    operations = await hotOperations(world)
  }, 300_000)
  afterAll(async () => {
    plans?.stop()
    await world?.close()
  })

  it.each(name === SMALL ? HOT : [...HOT, ...LISTS])('%s', async (hot) => {
    const { prepare, ...bounds } = operations[hot]
    await (await prepare())() // a connection's first statements also read the catalogue
    const one = await prepare()
    check(await plans.during(one), 1, bounds)
    const many = await times(AT_ONCE, prepare)
    check(await plans.during(() => Promise.all(many.map((each) => each()))), AT_ONCE, bounds)
  })
})
