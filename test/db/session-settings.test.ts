import pg from 'pg'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { migrate } from '../../src/platform/db/migrate.ts'
import { openPool } from '../../src/platform/db/pool.ts'
import { Client, dataOf } from '../acceptance/client.ts'
import { injectWire } from '../acceptance/http.ts'
import { gatehouse } from '../cli-runner.ts'
import { ADMIN_TOKEN, freshDatabase, openWorld, SECRET_KEY, type World } from '../harness.ts'

/** `alter database … set` and `alter role … set` may change settings: the code overrides them, or refuses them by name. */

const ALTERED: [setting: string, altered: string, needed: string][] = [
  ['client_encoding', 'LATIN1', 'UTF8'],
  ['DateStyle', 'SQL, DMY', 'ISO, MDY'],
  ['IntervalStyle', 'sql_standard', 'postgres'],
  ['TimeZone', 'Asia/Kathmandu', 'UTC'],
  ['bytea_output', 'escape', 'hex'],
  ['extra_float_digits', '-10', '1'],
  ['array_nulls', 'off', 'on'],
  ['standard_conforming_strings', 'off', 'on'],
  ['transform_null_equals', 'on', 'off'],
  ['default_transaction_isolation', 'serializable', 'read committed'],
  // Long enough for the statements below on a busy machine.
  ['statement_timeout', '2s', '8s'],
  ['lock_timeout', '2s', '3s'],
]
const NAMES = ALTERED.map(([name]) => name)
const WANTED = ALTERED.map(([name, , needed]) => ({ name, value: needed }))
const SHOWN =
  'select name, current_setting(name) as value from unnest($1::text[]) with ordinality n (name, place) order by place'

let world: World
let client: Client
let admin: pg.Client

const nameOf = (url: string) => new URL(url).pathname.slice(1)
const alter = async (url: string) => {
  for (const [setting, altered] of ALTERED) {
    await admin.query(
      `alter database ${nameOf(url)} set ${setting} = ${pg.escapeLiteral(altered).replaceAll(', ', "', '")}`,
    )
  }
  await admin.query(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${nameOf(url)}'`)
}

beforeAll(async () => {
  admin = new pg.Client({ connectionString: inject('serverUrl') })
  await admin.connect()
  world = await openWorld()
  client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
})
afterAll(async () => {
  await world?.close()
  await admin?.end()
})

it('sign-in, consent, tokens, profiles and the admin API work the same with any settings of the database', async () => {
  const app = await client.makeApp()
  const name = '张三 \\ "x"'
  const user = await client.makeUser({ name })
  const walk = async () => {
    const tokens = await client.getTokens(await client.signedIn(user, app), app)
    const profile = dataOf(await client.userInfo(tokens.access_token)).uinfo as Record<string, unknown>
    const listed = await client.admin('GET', `/apps/${app.app_key}`)
    const { created_at, scopes } = (await client.grants(user))[0] ?? {}
    return [profile, listed, typeof created_at, scopes, (await world.app.inject('/readyz')).json()]
  }
  const before = await walk()
  await alter(world.databaseUrl)
  await expect.poll(async () => (await world.app.inject('/readyz')).statusCode).toBe(200)
  expect(await walk()).toEqual(before)
  expect((before[0] as Record<string, unknown>).name).toBe(name)
})

it.each([
  ['as startup options', true],
  ['by a statement, behind a pooler that refuses options', false],
])('the needed settings apply to each connection: %s', async (_how, startupOptions) => {
  // Needed settings override the operator's options in the URL too.
  const connectionString = `${world.databaseUrl}?options=-c%20DateStyle%3DGerman%20-c%20lock_timeout%3D3s`
  const pool = openPool({ connectionString, size: 1, startupOptions }, world.log)
  expect((await pool.query(SHOWN, [NAMES]).finally(() => pool.end())).rows).toEqual(WANTED)
})

it('a command works like the service', async () => {
  const listed = await gatehouse({ DATABASE_URL: world.databaseUrl, SECRET_KEY }, 'demo', 'remove', '--json')
  expect(listed).toMatchObject({ code: 0, stderr: '' })
})

it('migrations make the same tables', async () => {
  const { url, drop } = await freshDatabase()
  const outlineOf = async () => {
    const at = new pg.Client({
      connectionString: url,
      options: '-c DateStyle=ISO,MDY -c client_encoding=UTF8 -c bytea_output=hex -c statement_timeout=0',
    })
    await at.connect()
    const { rows } = await at.query(`
      select conrelid::regclass::text as "table", conname as part, pg_get_constraintdef(oid) as text from pg_constraint
      union all select c.oid::regclass::text, attname, pg_get_expr(adbin, adrelid)
      from pg_attrdef d join pg_class c on c.oid = adrelid join pg_attribute a on a.attrelid = c.oid and attnum = adnum
      order by 1, 2, 3`)
    return { at, rows }
  }
  const first = await outlineOf()
  await first.at.query('drop schema public cascade; drop schema graphile_worker cascade; create schema public')
  await first.at.end()
  await alter(url)
  await admin.query(`alter database ${nameOf(url)} reset statement_timeout`)
  await admin.query(`alter database ${nameOf(url)} reset lock_timeout`)
  expect((await migrate(url)).length).toBeGreaterThan(4)
  const again = await outlineOf()
  await again.at.end()
  expect(again.rows).toEqual(first.rows)
  await drop()
})

it.each([
  ["''", /search_path .* is "": it does not have the schema public/],
  ['elsewhere', /search_path .* is elsewhere: it does not have the schema public/],
  ['"$user"', /search_path .* is "\$user": it does not have the schema public/],
])('a search_path that does not lead to the tables is refused with its value: %s', async (path, sentence) => {
  const name = nameOf(world.databaseUrl)
  await admin.query(`alter database ${name} set search_path = ${path}`)
  const command = await gatehouse({ DATABASE_URL: world.databaseUrl, SECRET_KEY }, 'demo', 'remove')
  await admin.query(`alter database ${name} reset search_path`)
  expect(command).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(sentence) })
})

it('tables in another schema are used if search_path leads to them, and otherwise reported as missing', async () => {
  const { url, drop } = await freshDatabase()
  const at = new pg.Client({ connectionString: url })
  await at.connect()
  await at.query('create schema apart')
  const { rows } = await at.query(
    `select tablename from pg_tables where schemaname = 'public' and tablename <> 'migration'`,
  )
  for (const { tablename } of rows) await at.query(`alter table "${tablename}" set schema apart`)
  await at.end()
  const run = () => gatehouse({ DATABASE_URL: url, SECRET_KEY, ADMIN_TOKEN }, 'demo', 'remove')
  expect(await run()).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('does not lead to the tables of Gatehouse'),
  })
  await admin.query(`alter database ${nameOf(url)} set search_path = apart, public`)
  expect(await run()).toMatchObject({ code: 0 })
  await drop()
})
