import pg from 'pg'

/** A database as large as a busy one, soon: rows are made from a series, and indexes are built afterwards. */

const MILLION = 1_000_000
const MANY = 200_000
const SOME = 20_000

/** The n-th row of each table is about the n-th user. */
const ABOUT_USERS = {
  user_profile: `select n * 1571 % 65536, 1, 'u' || n, 'Name ' || n, '0', 'https://img.example.com/a.png', '13900000000', 'active', $1
                 from generate_series(1, ${MILLION}) n`,
  browser_session: `select n * 1571 % 65536, sha256(('s' || n)::bytea), 1, 'u' || n, $1, $1::timestamptz + interval '1 h'
                    from generate_series(1, ${MILLION}) n`,
  user_grant: `select n * 1571 % 65536, md5(n::text)::uuid, 1, 'u' || n, 'app-' || n % ${SOME}, '{USER_INFO,PHONE_NUMBER}',
                 $1::timestamptz - n * interval '1 s', null
               from generate_series(1, ${MILLION}) n`,
  authorization_code: `select n * 1571 % 65536, sha256(('c' || n)::bytea), md5(n::text)::uuid, 'app-' || n % ${SOME},
                         'https://app.example.com/callback', md5(n::text), null, $1::timestamptz - n * interval '1 s', 0, $1
                       from generate_series(1, ${MILLION}) n`,
  access_token: `select n * 1571 % 65536, sha256(('a' || n)::bytea), md5(n::text)::uuid, '{USER_INFO,PHONE_NUMBER}',
                   $1::timestamptz + n * interval '1 s'
                 from generate_series(1, ${MILLION}) n`,
  refresh_token: `select n * 1571 % 65536, sha256(('r' || n)::bytea), md5(n::text)::uuid, $1::timestamptz + n * interval '1 s', null
                  from generate_series(1, ${MILLION}) n`,
} as const

const ABOUT_PARTNERS = {
  notice: `select 'client-' || n % ${SOME}, '/mtp/api/order/consume/notice', sha256(n::text::bytea), md5(n::text)::uuid, n % ${SOME},
             $1::timestamptz - n * interval '1 s', repeat('x', 100), '{"code":200}'
           from generate_series(1, ${MANY}) n`,
  // The notices of the tests are about these orders, all of partner 7001.
  ticket_order: `select n, 7001, 'deal-' || n % 100, 'P-1', false, 'paid', $1, 1, null, null, false, null, 3, 0, 0, 80, 100, 300,
                   null, '{}', $1, $1
                 from generate_series(1, ${MANY}) n`,
  voucher: `select n, 'V', 'unused', 1, null, null from generate_series(1, ${MANY}) n`,
  record_change: `overriding system value
                  select n - ${MILLION}, $1, 7001, 'order', n::text, n, 'notice', null, '{}' from generate_series(1, ${MANY}) n`,
} as const

const SMALLER = {
  micro_app: `select 'app-' || n, 'App', null, 'approved', '{example.com}', '{}', '{USER_INFO}', 30, 'fixed', true, $1, $1
              from generate_series(1, ${SOME}) n`,
  micro_app_secret: `select 'app-' || n, sha256(n::text::bytea), $1, null, null from generate_series(1, ${SOME}) n`,
  failed_attempt: `select sha256(n::text::bytea), 1, $1::timestamptz + n * interval '1 s' from generate_series(1, ${SOME}) n`,
  partner: `select 100000 + n, 'client-' || n, 'Seller', 'active', 'live', null, '{}', $1, $1 from generate_series(1, ${SOME}) n`,
  partner_secret: `select md5(n::text)::uuid, 100000 + n, '', true, 0, $1, null, null from generate_series(1, ${SOME}) n`,
} as const

const FILLS: Readonly<Record<string, string>> = { ...SMALLER, ...ABOUT_USERS, ...ABOUT_PARTNERS }

/** Every table that has rows enough for the planner to prefer its indexes. */
export const LARGE: readonly string[] = Object.keys(FILLS)

export async function fillDatabase(databaseUrl: string, now: Date): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    await client.query("set synchronous_commit = off; set maintenance_work_mem = '256MB'")
    const restore = await dropIndexes(client)
    for (const [table, rows] of Object.entries(FILLS)) {
      const { rowCount } = await client.query(`insert into ${table} ${rows}`, rows.includes('$1') ? [now] : [])
      if (!rowCount) throw new Error(`${table} was not filled`)
    }
    await restore()
    await client.query(`vacuum analyze ${LARGE.join(', ')}`)
  } finally {
    await client.end()
  }
}

/** Foreign keys of filled tables stay away: they would check a million rows, and no plan needs them. */
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
