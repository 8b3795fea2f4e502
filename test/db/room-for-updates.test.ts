import { expect, it } from 'vitest'
import { openWorld } from '../harness.ts'
import { growDatabase } from './million.ts'

/** The update that every row of these tables gets during its life. */
const UPDATES = {
  authorization_code: 'used_at = now()',
  voucher: "state = 'used'",
} as const

it('the expected update of a row is a HOT update, which writes no index', async () => {
  const world = await openWorld()
  const client = await world.pool.connect()
  try {
    await growDatabase(world.databaseUrl, world.clock.now(), { users: 1000, orders: 1000, parties: 10 })
    await client.query('begin') // the counts are those of the transaction
    for (const [table, change] of Object.entries(UPDATES)) {
      const { rowCount } = await client.query(`update ${table} set ${change}`)
      const counted = await client.query(`select pg_stat_get_xact_tuples_hot_updated($1::regclass)::int as hot`, [
        table,
      ])
      expect(counted.rows, table).toEqual([{ hot: rowCount }])
    }
  } finally {
    await client.query('rollback')
    client.release()
    await world.close()
  }
})
