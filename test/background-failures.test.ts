import { afterAll, beforeAll, expect, it } from 'vitest'
import { writeUsage } from '../src/authorization/usage/index.ts'
import { Client } from './acceptance/client.ts'
import { injectWire } from './acceptance/http.ts'
import { openWorld, type World } from './harness.ts'
import { until } from './until.ts'

/** Background writes that no caller waits for: if one fails, the log must say why. */

let world: World
let client: Client
beforeAll(async () => {
  world = await openWorld()
  client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
})
afterAll(() => world.close())

const TABLES = {
  refused_request: 'refused requests could not be recorded',
  app_usage: 'what apps did could not be counted',
  data_access: 'what apps read could not be written',
  rate_count: 'counts of limits could not be shared',
}

it('a failing background write is logged with the reason, once a minute', async () => {
  const app = await client.makeApp()
  const { access_token } = await client.getTokens(await client.signedIn(await client.makeUser(), app), app)
  for (const table of Object.keys(TABLES)) await renameEverywhere(table, `${table}_away`)
  for (let n = 0; n < 2; n++) {
    await client.userInfo(access_token)
    await client.userInfo('unknown')
    for (let m = 0; m < 10; m++) world.deps.rateLimiter.count({ kind: 'test', most: 10, windowS: 60 }, 'somebody')
    await world.app.accessLedger.flush()
    await writeUsage(world.deps, world.app.sampledLog)
  }
  const linesOf = (message: string) =>
    world
      .logged()
      .split('\n')
      .filter((line) => line.includes(`"msg":"${message}"`))
  for (const [table, message] of Object.entries(TABLES)) {
    await until(async () => linesOf(message).length > 0)
    expect(linesOf(message)).toEqual([expect.stringContaining(`\\"${table}\\" does not exist`)])
  }
  for (const table of Object.keys(TABLES)) await renameEverywhere(`${table}_away`, table)
})

/** Renames the table in every shard. */
async function renameEverywhere(table: string, to: string): Promise<void> {
  const { rows } = await world.pool.query(
    `select schemaname from pg_tables where tablename = $1 and schemaname ~ '^(public$|shard_)'`,
    [table],
  )
  expect(rows).not.toEqual([])
  for (const { schemaname } of rows) await world.pool.query(`alter table ${schemaname}.${table} rename to ${to}`)
}
