import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest'
import { gatehouse } from '../cli-runner.ts'
import { freshDatabase, SECRET_KEY } from '../harness.ts'
import { pgbouncerMissing, startPgBouncer } from '../pgbouncer.ts'

/** How a command reports an unusable PgBouncer. test/acceptance/pgbouncer.test.ts tests all built programs. */

const DROPS_OPTIONS = 'ignore_startup_parameters = extra_float_digits, options'
const SERVER = { DATABASE_PLANNING: 'server' }

it('a PostgreSQL before 15 is refused, naming its version', async () => {
  const database = await freshDatabase()
  onTestFinished(() => database.drop())
  const client = new Client({ connectionString: database.url })
  await client.connect()
  // Pretends to be an older server: this function is found before the system's.
  await client.query(`create schema older`)
  await client.query(`create function older.current_setting(name text) returns text language sql as
    $$ select case name when 'server_version_num' then '140012' when 'server_version' then '14.12'
         else pg_catalog.current_setting(name) end $$`)
  const { rows } = await client.query('select current_database() as name')
  await client.query(`alter database "${rows[0].name}" set search_path = older, pg_catalog, public`)
  await client.end()
  expect(await gatehouse({ DATABASE_URL: database.url, SECRET_KEY }, 'demo', 'remove')).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(
      /the database is PostgreSQL 14\.12, which is too old: Gatehouse needs PostgreSQL 15 or later/,
    ),
  })
})

describe.skipIf(pgbouncerMissing)('behind PgBouncer', () => {
  let database: Awaited<ReturnType<typeof freshDatabase>>
  beforeAll(async () => {
    database = await freshDatabase()
  })
  afterAll(() => database.drop())

  const commandBehind = async (settings: readonly string[], environment: Record<string, string>) => {
    const pooler = await startPgBouncer(inject('serverUrl'), settings)
    onTestFinished(() => pooler.stop())
    return () => gatehouse({ DATABASE_URL: pooler.through(database.url), SECRET_KEY, ...environment }, 'demo', 'remove')
  }

  it.each([
    ['statement mode', ['pool_mode = statement', DROPS_OPTIONS], SERVER, /set its pool_mode to session/],
    [
      'refused startup options',
      ['pool_mode = session'],
      {},
      /does not pass on startup options: set DATABASE_PLANNING=server/,
    ],
    [
      'silently dropped startup options',
      ['pool_mode = session', DROPS_OPTIONS],
      {},
      /does not pass on startup options: set DATABASE_PLANNING=server/,
    ],
  ])('%s is detected', async (_how, settings, environment, sentence) => {
    const command = await commandBehind(settings, environment)
    expect(await command()).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(sentence) })
  })

  it('sessions that are not reset between clients are detected', async () => {
    const command = await commandBehind(['pool_mode = session', 'server_reset_query ='], SERVER)
    await command()
    expect((await command()).stderr).toMatch(/server_reset_query = DISCARD ALL/)
  })
})
