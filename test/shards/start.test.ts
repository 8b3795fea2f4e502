import { expect, it } from 'vitest'
import { readConfig } from '../../src/platform/config/index.ts'
import { migrate } from '../../src/platform/db/migrate.ts'
import { checkShards } from '../../src/platform/db/shard-count.ts'
import { gatehouse } from '../cli-runner.ts'
import { SECRET_KEY } from '../harness.ts'
import { emptyDatabase } from './empty-database.ts'

/** SHARDS must be the same in every process and in the database. */

const settings = { DATABASE_URL: 'postgres://localhost/db', SECRET_KEY, NODE_ENV: 'test' }

it.each(['3', '0', '128', 'four'])('SHARDS=%s is rejected', (SHARDS) => {
  expect(() => readConfig({ ...settings, SHARDS })).toThrow(/^SHARDS /)
})

it('more than one shard requires DATABASE_URL', () => {
  expect(readConfig({ ...settings, SHARDS: '4' }).SHARDS).toBe(4)
  expect(() => readConfig({ NODE_ENV: 'test', SHARDS: '4' })).toThrow('SHARDS needs DATABASE_URL')
})

it('a database keeps the number of shards that it was created with', async () => {
  for (const [made, other] of [
    [4, 8],
    [4, 1],
    [1, 4],
  ] as const) {
    const { url } = await emptyDatabase()
    await expect(checkShards(url, made)).rejects.toThrow('the database has no tables yet: run npm run migrate')
    await migrate(url, made)
    await checkShards(url, made)
    expect(await migrate(url, made)).toEqual([])
    const says = `SHARDS is ${other}, and the people of this database are in ${made}: set SHARDS=${made}, or move them with gatehouse shards move-in`
    await expect(migrate(url, other)).rejects.toThrow(says)
    await expect(checkShards(url, other)).rejects.toThrow(says)
    const refused = await gatehouse({ ...settings, DATABASE_URL: url, SHARDS: String(other) }, 'demo', 'remove')
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(says) })
  }
})

it('when processes with different numbers start at once, only those with one of them succeed', async () => {
  const { url, query } = await emptyDatabase()
  const tried = await Promise.allSettled([4, 8, 1, 4, 8, 1].map((shards) => migrate(url, shards)))
  expect(tried.filter(({ status }) => status === 'fulfilled')).toHaveLength(2)
  const { rows } = await query(
    `select count(distinct schemaname)::int as places from pg_tables where tablename = 'user_profile'`,
  )
  expect([1, 4, 8]).toContain(rows[0].places)
})

it('interrupted migrations of a shard are continued without touching other shards', async () => {
  const { url, query } = await emptyDatabase()
  await migrate(url, 4)
  await query('drop schema shard_2_of_4 cascade; create schema shard_2_of_4')
  const applied = await migrate(url, 4)
  expect(applied).toContain('0002_authorization')
  expect(new Set(applied).size).toBe(applied.length)
  const { rows } = await query(
    `select schemaname as schema, count(*)::int as tables from pg_tables where schemaname ~ '^shard_' group by 1 order by 1`,
  )
  expect(rows.map(({ schema }) => schema)).toEqual([0, 1, 2, 3].map((place) => `shard_${place}_of_4`))
  expect(new Set(rows.map(({ tables }) => tables)).size).toBe(1)
})
