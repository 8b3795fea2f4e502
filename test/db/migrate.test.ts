import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { runner } from 'node-pg-migrate'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { migrate, pendingMigrations, QUEUE_VERSION, statementsOf, withLock } from '../../src/platform/db/migrate.ts'
import { openPool } from '../../src/platform/db/pool.ts'
import { dbOf } from '../../src/platform/db/sql.ts'
import { openLog } from '../../src/platform/lib/log.ts'
import { freshDatabase } from '../harness.ts'
import { untilLocked } from '../locks.ts'
import { until } from '../until.ts'

let database: Awaited<ReturnType<typeof freshDatabase>>

const query = async (text: string) => {
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  return client.query(text).finally(() => client.end())
}

beforeAll(async () => {
  database = await freshDatabase()
  await query('drop schema public cascade; create schema public')
})
afterAll(() => database.drop())

describe('migrations', () => {
  it('know the latest migration of the job queue', () => {
    const files = readdirSync('node_modules/graphile-worker/sql').filter((file) => file.endsWith('.sql'))
    expect(Math.max(...files.map((file) => Number.parseInt(file, 10)))).toBe(QUEUE_VERSION)
  })

  it('run once if twenty processes start at once on an empty database', async () => {
    const applied = await Promise.all(Array.from({ length: 20 }, () => migrate(database.url)))
    const names = applied.flat()
    expect(names.length).toBeGreaterThanOrEqual(3)
    expect(new Set(names).size).toBe(names.length)
  })

  it('fail if their connection is lost, without ending the process', async () => {
    const lost = withLock(database.url, async (client) => {
      const { rows } = await client.query('select pg_backend_pid() as pid')
      await query(`select pg_terminate_backend(${rows[0].pid})`)
      await sleep(100) // the termination notice arrives while no statement is pending
      return client.query('select 1')
    })
    await expect(lost).rejects.toThrow(/queryable|terminat/)
    await expect(migrate(database.url)).resolves.toEqual([])
  })

  it('give way to whoever wants a table that a third session has locked, and wait for it', async () => {
    const other = await freshDatabase()
    onTestFinished(() => other.drop())
    const connected = async () => {
      const client = new pg.Client({ connectionString: other.url })
      await client.connect()
      onTestFinished(() => client.end())
      return client
    }
    const [reader, writer] = [await connected(), await connected()]
    await reader.query('drop schema public cascade; create schema public')
    const count = 13 // the next one adds a column to member_link
    await runner({
      dbClient: reader,
      dir: 'migrations',
      direction: 'up',
      migrationsTable: 'migration',
      count,
      log() {},
    })
    await reader.query('begin; select from member_link')
    let waits = 0
    const applied = migrate(other.url, 1, () => waits++)
    await untilLocked(writer)
    await writer.query("set lock_timeout = '3s'")
    for (let n = 0; n < 20; n++) {
      await writer.query('select from member_link limit 1')
      await writer.query('select from team_invitation limit 1')
      await sleep(100)
    }
    await until(() => waits > 0)
    await reader.query('commit')
    expect((await applied)[0]).toBe('0014_withdrawn_with_their_makers')
    expect(await migrate(other.url)).toEqual([])
  })

  it('refuse the tables of a version before 1.0.0, with a remedy', async () => {
    const other = await freshDatabase()
    onTestFinished(() => other.drop())
    const client = new pg.Client({ connectionString: other.url })
    await client.connect()
    await client.query(`update migration set name = '0001_registry' where name = '0001_platform'`)
    await client.end()
    await expect(migrate(other.url)).rejects.toThrow(
      'its tables were made by a version before 1.0.0, which cannot be upgraded: use an empty database (or another DATA_DIR)',
    )
  })

  it('change nothing when run again', async () => {
    expect(await migrate(database.url)).toEqual([])
    const pool = openPool({ connectionString: database.url, size: 1 }, openLog({ level: 'silent', pretty: false }))
    expect(await pendingMigrations(dbOf(pool)).finally(() => pool.end())).toEqual([])
  })

  it('are sent one statement at a time', () => {
    expect(
      statementsOf("-- Why;\ncreate table a (\n  b text, -- c;\n  d text default 'x'\n);\n\ndrop table e; -- f\n"),
    ).toEqual(["create table a (\n  b text, \n  d text default 'x'\n)", 'drop table e'])
    for (const file of readdirSync('migrations')) {
      const statements = statementsOf(readFileSync(`migrations/${file}`, 'utf8'))
      expect(statements, file).not.toEqual([])
      for (const statement of statements) expect(statement, file).toMatch(/^(create|alter|drop|update|insert) [^;]*$/)
    }
  })

  it('make no foreign key from tables with keys of their own to tables led by the routing key', async () => {
    const keys = await query(`
      select conname from pg_constraint
      where contype = 'f' and conrelid in ('user_credential'::regclass, 'failed_attempt'::regclass)`)
    expect(keys.rows).toEqual([])
  })

  it('begin every primary key of rows about users with the routing key', async () => {
    const keys = await query(`
      select conrelid::regclass::text as name, attname as first
      from pg_constraint join pg_attribute on attrelid = conrelid and attnum = conkey[1]
      where contype = 'p' and conrelid in (select attrelid from pg_attribute where attname = 'routing_key')
        and conrelid <> 'user_credential'::regclass`)
    expect(keys.rows.length).toBeGreaterThanOrEqual(6)
    for (const { name, first } of keys.rows) expect(first, name).toBe('routing_key')
  })
})
