import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { AT_ONCE, createSeller, hotOperations, OPERATIONS, times } from '../db/hot-operations.ts'
import { MANY_CONNECTIONS, openWorld, type World } from '../harness.ts'
import { CITUS_URL } from '../one-table.ts'
import { watchStatements } from './seen-statements.ts'

/** On Citus, each statement about a person is a single task on the node that has their rows. */

type Operations = Awaited<ReturnType<typeof hotOperations>>

let world: World
let operations: Operations
let statements: ReturnType<typeof watchStatements>

/** Each `Task Count`, `Subplans` and `INSERT/SELECT method` in a plan. */
function partsOf(plan: unknown, found: string[] = []): string[] {
  for (const [name, value] of Object.entries(plan ?? {})) {
    if (name === 'Task Count') found.push(`${value} task`)
    else if (name === 'Subplans' || name === 'INSERT/SELECT method') found.push(name)
    if (typeof value === 'object') partsOf(value, found)
  }
  return found
}

const NOT_ABOUT_PEOPLE = /notice|orders|partner|wrong secret|passport/

if (!CITUS_URL) process.stderr.write('SKIPPED: tests of Citus; CITUS_URL must name its coordinator\n')
describe.skipIf(!CITUS_URL)('on Citus', () => {
  beforeAll(async () => {
    world = await openWorld({ ...MANY_CONNECTIONS, AUTHORIZE_PER_MINUTE: '1000000' })
    statements = watchStatements()
    await createSeller(world)
    operations = await hotOperations(world)
  })
  afterAll(async () => {
    statements?.stop()
    await world?.close()
  })

  it.each(OPERATIONS.filter((name) => !NOT_ABOUT_PEOPLE.test(name)))(
    '%s takes one task a statement',
    async (operation) => {
      const { prepare } = operations[operation]
      const one = await prepare()
      const seen = await statements.during(one)
      const many = await times(AT_ONCE, prepare)
      seen.push(...(await statements.during(() => Promise.all(many.map((each) => each())))))
      let distributed = 0
      for (const { text, values, options } of seen) {
        const client = new pg.Client({ connectionString: world.databaseUrl, options })
        await client.connect()
        const { rows } = await client
          .query(`explain (format json, costs off) ${text}`, values)
          .catch((error) => expect.fail(`${error.message}: ${text}`))
          .finally(() => client.end())
        const parts = partsOf(rows[0]['QUERY PLAN'])
        expect(
          parts.filter((part) => part !== '1 task'),
          text,
        ).toEqual([])
        if (options.includes('shard_')) distributed += parts.length
      }
      expect(distributed, 'statements about people were seen').toBeGreaterThan(0)
    },
  )
})
