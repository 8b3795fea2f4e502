import pg from 'pg'

/** Quickly makes a database as large as a busy one: rows come from a series, and indexes are built afterwards. */

/** The number of rows per table. */
export interface Size {
  readonly users: number
  readonly orders: number
  readonly parties: number
}

/** A million rows: seven tables are about users, five about orders, five about parties. */
const MILLION: Size = { users: 116_000, orders: 27_000, parties: 11_000 }

/** Distributes users evenly over the routing keys. */
const EVEN = 'n * 1571 % 65536'
/** The n-th row of each table is about the n-th user. */
const aboutUsers = ({ users, parties }: Size, routingKey: string) => ({
  user_profile: `select ${routingKey}, 1, 'u' || n, 'Name ' || n, '0', 'https://img.example.com/a.png', '13900000000', 'active', $1
                 from generate_series(1, ${users}) n`,
  browser_session: `select ${routingKey}, sha256(('s' || n)::bytea), 1, 'u' || n, $1, $1::timestamptz + interval '1 h'
                    from generate_series(1, ${users}) n`,
  data_access: `select ${routingKey}, 1, 'u' || n, date_trunc('hour', $1::timestamptz) - n % 9000 * interval '1 h', 'app-' || n % ${parties},
                  'phone', 3, $1
                from generate_series(1, ${users}) n`,
  user_grant: `select ${routingKey}, md5(n::text)::uuid, 1, 'u' || n, 'app-' || n % ${parties}, '{USER_INFO,PHONE_NUMBER}',
                 $1::timestamptz - n * interval '1 s', null
               from generate_series(1, ${users}) n`,
  authorization_code: `select ${routingKey}, sha256(('c' || n)::bytea), md5(n::text)::uuid, 'app-' || n % ${parties},
                         'https://app.example.com/callback', md5(n::text), null, $1::timestamptz - n * interval '1 s', 0, $1
                       from generate_series(1, ${users}) n`,
  access_token: `select ${routingKey}, sha256(('a' || n)::bytea), md5(n::text)::uuid, '{USER_INFO,PHONE_NUMBER}',
                   $1::timestamptz + n * interval '1 s'
                 from generate_series(1, ${users}) n`,
  refresh_token: `select ${routingKey}, sha256(('r' || n)::bytea), md5(n::text)::uuid, $1::timestamptz + n * interval '1 s', null
                  from generate_series(1, ${users}) n`,
})

const aboutPartners = ({ orders, parties }: Size) => ({
  notice: `select 'client-' || n % ${parties}, '/mtp/api/order/consume/notice', sha256(n::text::bytea), md5(n::text)::uuid, n % ${parties},
             $1::timestamptz - n * interval '1 s', repeat('x', 100), '{"code":200}'
           from generate_series(1, ${orders}) n`,
  // The notices of the tests are about these orders, all of partner 7001.
  ticket_order: `select n, 7001, 'deal-' || n % 100, 'P-1', false, 'paid', $1, 1, null, null, false, null, 3, 0, 0, 80, 100, 300,
                   null, '{}', $1, $1
                 from generate_series(1, ${orders}) n`,
  voucher: `select n, 'V', 'unused', 1, null, null from generate_series(1, ${orders}) n`,
  // None of the calls failed.
  partner_call: `(call_id, partner_id, interface, order_id, started_at, duration_ms, url, request_headers, request_body,
                   http_status, response_headers, response_body, code, cause)
                 select md5(n::text)::uuid, 7001, 'order create', n, $1::timestamptz - n * interval '1 s', 10, 'https://seller.example.com',
                   '{}', '{}', 200, '{}', '{}', 200, 'operator'
                 from generate_series(1, ${orders}) n`,
  record_change: `overriding system value
                  select n - 1000000, $1, 7001, 'order', n::text, n, 'notice', null, '{}' from generate_series(1, ${orders}) n`,
})

const parties = ({ parties }: Size) => ({
  micro_app: `select 'app-' || n, 'App', null, 'approved', '{example.com}', '{}', '{USER_INFO}', 30, 'fixed', true, $1, $1
              from generate_series(1, ${parties}) n`,
  micro_app_secret: `select 'app-' || n, sha256(n::text::bytea), $1, null, null, sha256('') from generate_series(1, ${parties}) n`,
  failed_attempt: `select sha256(n::text::bytea), 1, $1::timestamptz + n * interval '1 s' from generate_series(1, ${parties}) n`,
  partner: `select 100000 + n, 'client-' || n, 'Seller', 'active', 'live', null, '{}', $1, $1 from generate_series(1, ${parties}) n`,
  partner_secret: `select md5(n::text)::uuid, 100000 + n, '', true, 0, $1, null, null from generate_series(1, ${parties}) n`,
})

/** The rows to insert, by table. */
const fills = (size: Size, routingKey = EVEN): Readonly<Record<string, string>> => ({
  ...parties(size),
  ...aboutUsers(size, routingKey),
  ...aboutPartners(size),
})

/** The tables with enough rows for the planner to prefer their indexes. */
export const LARGE: readonly string[] = Object.keys(fills(MILLION))

/** Inserts a million rows and analyzes the tables. */
export const fillDatabase = (databaseUrl: string, now: Date): Promise<void> =>
  connected(databaseUrl, async (client) => {
    await client.query("set maintenance_work_mem = '256MB'")
    const restore = await dropIndexes(client)
    await insertRows(client, fills(MILLION), now)
    await restore()
    await client.query(`vacuum analyze ${LARGE.join(', ')}`)
  })

/** Adds rows while a service is running. */
export const growDatabase = (databaseUrl: string, now: Date, size: Size): Promise<void> =>
  connected(databaseUrl, async (client) => {
    await client.query('set session_replication_role = replica') // no foreign keys
    await insertRows(client, fills(size), now)
  })

/** The same, but every new user shares a routing key with a user made by the tests. */
export const crowdDatabase = (databaseUrl: string, now: Date, size: Size): Promise<void> =>
  connected(databaseUrl, async (client) => {
    await client.query('set session_replication_role = replica')
    const { rows } = await client.query(
      'select array_agg(distinct routing_key) as keys from user_profile where cid <> 1',
    )
    const [{ keys }] = rows as [{ keys: number[] }]
    await insertRows(client, fills(size, `(array[${keys}])[1 + n % ${keys.length}]`), now)
  })

/** What PostgreSQL believes of tables that have grown since they were emptied and analyzed. */
export const believeEmpty = (databaseUrl: string, tables = LARGE): Promise<void> =>
  connected(databaseUrl, async (client) => {
    await client.query(`analyze ${tables.join(', ')}`)
    await client.query(
      `update pg_class set reltuples = 0 where oid = any ($1::regclass[])
         or oid in (select indexrelid from pg_index where indrelid = any ($1::regclass[]))`,
      [tables],
    )
  })

/** Freezes the statistics. Existing plans are made anew. */
export const stopStatistics = (databaseUrl: string): Promise<void> =>
  connected(databaseUrl, async (client) => {
    for (const table of LARGE) await client.query(`alter table ${table} set (autovacuum_enabled = off)`)
  })

async function connected(databaseUrl: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query('set synchronous_commit = off')
  await work(client).finally(() => client.end())
}

async function insertRows(client: pg.Client, fills: Readonly<Record<string, string>>, now: Date): Promise<void> {
  for (const [table, rows] of Object.entries(fills)) {
    const { rowCount } = await client.query(
      `insert into ${table} ${rows} on conflict do nothing`,
      rows.includes('$1') ? [now] : [],
    )
    if (!rowCount) throw new Error(`${table} was not filled`)
  }
}

/** Foreign keys are not restored: they would check a million rows, and no plan needs them. */
async function dropIndexes(client: pg.Client): Promise<() => Promise<void>> {
  const names = LARGE.map((table) => `'${table}'::regclass`).join(', ')
  const constraints = await client.query<{ owner: string; name: string; kind: string; definition: string }>(
    `select conrelid::regclass::text as owner, conname as name, contype as kind, pg_get_constraintdef(oid) as definition
     from pg_constraint
     where (conrelid in (${names}) or confrelid in (${names})) and contype in ('p', 'u', 'f')
     order by contype = 'f' desc`,
  )
  for (const { owner, name } of constraints.rows) await client.query(`alter table ${owner} drop constraint ${name}`)
  const indexes = await client.query<{ name: string; definition: string }>(
    `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition
     from pg_index where indrelid in (${names})`,
  )
  for (const { name } of indexes.rows) await client.query(`drop index ${name}`)
  for (const table of LARGE) await client.query(`alter table ${table} set unlogged`)
  return async () => {
    for (const { definition } of indexes.rows) await client.query(definition)
    for (const { owner, name, kind, definition } of constraints.rows) {
      if (kind !== 'f') await client.query(`alter table ${owner} add constraint ${name} ${definition}`)
    }
  }
}
