import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { type App, Client, dataOf, type TokenSet, tokenSetOf, type User } from '../acceptance/client.ts'
import { injectWire } from '../acceptance/http.ts'
import { onServer } from '../citus.ts'
import type { World } from '../harness.ts'
import { CITUS_URL } from '../one-table.ts'
import { until } from '../until.ts'
import { openShards, personOfEach } from './four-shards.ts'

/** Citus nodes that are unavailable, and schemas that move between nodes. `citus-tasks.test.ts` reports if these are skipped. */

interface Held {
  readonly user: User
  readonly tokens: TokenSet
}

describe.skipIf(!CITUS_URL)('on Citus', () => {
  let world: World
  let client: Client
  let app: App
  let admin: pg.Client
  /** One person of each shard. */
  let people: Held[]
  beforeAll(async () => {
    world = await openShards()
    client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
    app = await client.makeApp()
    people = []
    for (const user of await personOfEach(client))
      people.push({ user, tokens: await client.getTokens(await client.signedIn(user, app), app) })
    admin = new pg.Client({ connectionString: world.databaseUrl })
    await admin.connect()
  })
  afterAll(async () => {
    await admin?.end()
    await world?.close()
  })

  const nodeOf = async (place: number): Promise<{ name: string; port: number }> => {
    const { rows } = await admin.query(
      'select distinct nodename as name, nodeport as port from citus_shards where table_name = $1::regclass',
      [`shard_${place}_of_4.user_profile`],
    )
    return rows[0]
  }
  const statuses = async (): Promise<number[]> =>
    (await Promise.all(people.map(({ tokens }) => client.userInfo(tokens.access_token)))).map(({ status }) => status)

  it('a transaction about a person is committed in two phases only if it also writes to `public`', async () => {
    const notices: string[] = []
    admin.on('notice', ({ message }) => notices.push(message ?? ''))
    await admin.query('set citus.log_remote_commands = on')
    const commit = async (more: string) => {
      notices.length = 0
      await admin.query('begin')
      await admin.query(`update shard_2_of_4.user_profile set name = name`)
      await admin.query(more)
      await admin.query('commit')
      return notices.filter((text) => /PREPARE TRANSACTION/.test(text)).length
    }
    expect(await commit('select')).toBe(0)
    expect(await commit(`insert into audit_event (at, event) values (now(), 'test')`)).toBe(1)
    expect(await commit(`update user_credential set passport = passport`)).toBe(1)
    expect(await commit(`select from graphile_worker.add_job('send-contact-code')`)).toBe(1)
    expect(await commit(`delete from used_challenge`)).toBe(1)
  })

  it('every other table is known to Citus or has the trigger that forces two phases', async () => {
    const { rows } = await admin.query(
      `select oid::regclass::text as name from pg_class
       where relkind in ('r', 'p') and relpersistence = 'p'
         and relnamespace::regnamespace::text !~ '^(pg_|information_schema$|citus|shard_|everybody$)'
         and not exists (select from pg_dist_partition where logicalrelid = pg_class.oid)
         and not exists (select from pg_trigger where tgrelid = pg_class.oid and tgname = 'two_phases')`,
    )
    expect(rows).toEqual([])
  })

  it('an unavailable worker node means 503 with Retry-After for its people only, and /readyz names its shards', async () => {
    const nodes = await Promise.all(people.map((_, place) => nodeOf(place)))
    const away = nodes[1]?.port
    const worker = inject('workerUrls').find((url) => Number(new URL(url).port) === away) ?? ''
    const name = new URL(world.databaseUrl).pathname.slice(1)
    const end = `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`
    const schemas = nodes.flatMap(({ port }, place) => (port === away ? `shard_${place}_of_4` : []))
    await onServer(worker, `alter database ${name} allow_connections false`, end)
    try {
      // Requests wait first, for as long as queues may take in tests.
      const answers = await Promise.all(people.map(({ tokens }) => client.userInfo(tokens.access_token)))
      expect(answers.map(({ status }) => status)).toEqual(nodes.map(({ port }) => (port === away ? 503 : 200)))
      expect(answers[1]?.headers['retry-after']).toBeDefined()
      expect((await world.app.inject('/readyz')).json()).toEqual({ status: 'ok', shards_away: schemas })
    } finally {
      await onServer(worker, `alter database ${name} allow_connections true`)
    }
    await until(async () => (await statuses()).every((status) => status === 200))
    expect((await world.app.inject('/readyz')).json()).toEqual({ status: 'ok' })
  })

  it('a schema can be moved to another worker node while its people are served', async () => {
    const from = await nodeOf(0)
    const to = inject('workerUrls').find((url) => Number(new URL(url).port) !== from.port) ?? ''
    const { hostname, port } = new URL(to)
    const { user, tokens } = people[0] as Held
    const browser = await client.signedIn(user, app)
    const answers: string[] = []
    let moved = false
    const load = async (one: () => Promise<{ status: number }>) => {
      while (!moved) answers.push(String((await one()).status))
    }
    const many = (number: number, one: () => Promise<{ status: number }>) =>
      Array.from({ length: number }, () => load(one))
    const loads = [
      ...many(30, () => client.userInfo(tokens.access_token)),
      ...many(4, () => client.refresh(app, tokens.refresh_token)),
      ...many(4, async () => client.exchange(app, await client.getCode(browser, app))),
    ]
    await admin.query('select citus_schema_move($1::regnamespace, $2::text, $3::int)', [
      'shard_0_of_4',
      hostname,
      Number(port),
    ])
    moved = true
    await Promise.all(loads)
    expect((await nodeOf(0)).port).toBe(Number(port))
    expect(answers.length).toBeGreaterThan(100)
    expect(answers.filter((status) => status !== '200')).toEqual([])
    dataOf(await client.userInfo(tokens.access_token))
    tokenSetOf(await client.exchange(app, await client.getCode(browser, app)))
  })
})
