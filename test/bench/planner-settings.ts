import { execFileSync } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { spendAuthorizationCode } from '../../src/authorization/oauth/code-store.ts'
import { refreshFixed, rotateRefresh } from '../../src/authorization/oauth/refresh-store.ts'
import { deleteAccessToken } from '../../src/authorization/oauth/token-store.ts'
import { findAppWithFailures } from '../../src/authorization/registry/secret-store.ts'
import { findDescribedToken, findToken } from '../../src/authorization/resource/store.ts'
import { startEmbedded } from '../../src/platform/db/embedded/server.ts'
import { GENERIC_PLAN_SETTINGS, type ServerSettings } from '../../src/platform/db/planning.ts'
import { connectionConfig, startupOptions } from '../../src/platform/db/pool.ts'
import { type Db, dbOf } from '../../src/platform/db/sql.ts'
import { sha256 } from '../../src/platform/lib/crypto/digest.ts'
import { openLog } from '../../src/platform/lib/log.ts'
import { acceptConsumption } from '../../src/ticketing/mtp/consumption.ts'
import { growDatabase, stopStatistics } from '../db/million.ts'
import { command, progress, say, withEndings } from './command.ts'
import { INHERITED, ROOT } from './contestants/contestant.ts'
import { newDataFolder, removeDataFolder } from './data-folder.ts'
import { BadOption } from './options.ts'
import { ratios, spreadOf } from './statistics.ts'

/**
 * The effect of each setting in src/platform/db/planning.ts: PostgreSQL's CPU time for a batch with all settings
 * forced, and relative to that with one of them left at PostgreSQL's default. First with plans made when tables had
 * three rows, after the tables have grown; then with plans made for large, analyzed tables.
 */

const HELP = `npm run bench:planning -- [options]

  --rounds N      turns of each setting (default 5)
  --users N       rows of large tables (default 100000)
  --database URL  an empty database of another PostgreSQL on this machine; without it one is started
`

interface Options {
  readonly rounds: number
  readonly users: number
  readonly database: string | undefined
}

function readOptions(args: readonly string[]): Options | 'help' {
  const text = { type: 'string' } as const
  const { values } = parseArgs({
    args: [...args],
    options: { help: { type: 'boolean' }, rounds: text, users: text, database: text },
  })
  if (values.help) return 'help'
  const [rounds, users] = [Number(values.rounds ?? 5), Number(values.users ?? 100_000)]
  if (!(rounds > 0 && users > 0)) throw new BadOption('--rounds and --users must be numbers above 0')
  return { rounds, users, database: values.database }
}

const FEW = { users: 3, orders: 3, parties: 3 }
const SIZES = [1, 40] as const
/** Batches per turn by batch size; a turn that takes longer than TURN_MS ends early. */
const BATCHES: Readonly<Record<(typeof SIZES)[number], number>> = { 1: 40, 40: 10 }
const TURN_MS = 300

/** Settings that are not forced, to be measured too. */
const CANDIDATES: ServerSettings = { join_collapse_limit: '1' }

/** A connection with its own planner settings. */
interface Variant {
  readonly name: string
  readonly pool: pg.Pool
  readonly pid: number
  /** By size of its batches. */
  readonly dbs: Readonly<Record<(typeof SIZES)[number], Db>>
}

const LIMITS = { batches: 1, length: 10_000, waitMs: 600_000 }
const quiet = openLog({ level: 'error', pretty: false })

/** Without any timeouts, as the connection has to keep its plans. */
async function openVariant(databaseUrl: string, name: string, settings: ServerSettings): Promise<Variant> {
  const url = new URL(databaseUrl)
  // Options in the URL override others.
  url.searchParams.set('options', startupOptions({ ...settings, statement_timeout: '0' }))
  const config = connectionConfig({ connectionString: url.href, genericPlan: true })
  const pool = new pg.Pool({ ...config, query_timeout: 0, max: 1, idleTimeoutMillis: 0 })
  pool.on('error', () => {})
  const { rows } = await pool.query('select pg_backend_pid() as pid')
  const dbs = { 1: dbOf(pool, { ...LIMITS, items: 1 }), 40: dbOf(pool, { ...LIMITS, items: 40 }) }
  return { name, pool, pid: rows[0].pid, dbs }
}

const USUAL = 'as planning.ts has it'

/** Settings by the name of the variant. `known`: PostgreSQL's defaults. */
function variantsOf(known: ServerSettings): Readonly<Record<string, ServerSettings>> {
  const left = Object.keys(GENERIC_PLAN_SETTINGS).map(
    (name) => [`without ${name}`, { [name]: known[name] ?? '' }] as const,
  )
  const more = Object.entries(CANDIDATES).map(([name, value]) => [`with ${name}=${value}`, { [name]: value }] as const)
  return { [USUAL]: {}, ...Object.fromEntries(left), ...Object.fromEntries(more), 'with none': known }
}

/** CPU time of a process in nanoseconds (Linux). */
const cpuOf = (pid: number): number => Number(readFileSync(`/proc/${pid}/schedstat`, 'latin1').split(' ')[0])

/** `n`: a user. `fresh`: number of the single-use record created for this user; 0 if there is none. */
interface Given {
  readonly n: number
  readonly fresh: number
}

const NOW = new Date()
const LATER = new Date(NOW.getTime() + 86_400_000)
const routingKey = (n: number): number => (n * 1571) % 65_536
const hash = (text: string): Buffer => sha256(text)

interface Work {
  readonly one: (db: Db, given: Given) => Promise<unknown>
  /** SQL that creates the single-use records of these users. */
  readonly fresh?: string
}

const APPS = 1_000
const appKeyOf = (n: number): string => `app-${n % APPS}`

const WORKS: Readonly<Record<string, Work>> = {
  A5: { one: (db, { n }) => findToken(db, { routingKey: routingKey(n), hash: hash(`a${n}`), scope: 'USER_INFO' }) },
  introspection: { one: (db, { n }) => findDescribedToken(db, { routingKey: routingKey(n), hash: hash(`a${n}`) }) },
  'who calls': {
    one: (db, { n }) =>
      findAppWithFailures(db, { appKey: appKeyOf(n), countedBy: `${n}`, subject: () => hash(`${n}`) }, NOW),
  },
  A2: {
    fresh: `insert into authorization_code
              (routing_key, code_hash, grant_id, app_key, redirect_uri, state, code_challenge, expires_at)
            select n::bigint * 1571 % 65536, sha256(('f' || fresh)::bytea), md5(n::text)::uuid, 'app', 'https://app.example.com', 'S', null, $3
            from unnest($1::int[], $2::int[]) as given (n, fresh)`,
    one: (db, { n, fresh }) =>
      spendAuthorizationCode(
        db,
        {
          routingKey: routingKey(n),
          codeHash: hash(`f${fresh}`),
          now: NOW,
          appKey: 'app',
          appScopes: ['USER_INFO', 'PHONE_NUMBER'],
          appValidFrom: null,
          redirectUri: 'https://app.example.com',
          state: 'S',
          codeChallenge: null,
          accessToken: newToken(),
          refreshToken: newToken(),
          refreshScope: null,
        },
        false,
      ),
  },
  'A3 fixed': {
    one: (db, given) => refreshFixed(db, { ...refreshOf(given), refreshHash: hash(`r${given.n}`) }),
  },
  'A3 rotating': {
    fresh: `insert into refresh_token (routing_key, token_hash, grant_id, expires_at)
            select n::bigint * 1571 % 65536, sha256(('f' || fresh)::bytea), md5(n::text)::uuid, $3
            from unnest($1::int[], $2::int[]) as given (n, fresh)`,
    one: (db, given) =>
      rotateRefresh(db, {
        ...refreshOf(given),
        refreshHash: hash(`f${given.fresh}`),
        now: NOW,
        successor: newToken(),
      }),
  },
  revocation: {
    fresh: `insert into access_token (routing_key, token_hash, grant_id, scopes, expires_at)
            select n::bigint * 1571 % 65536, sha256(('f' || fresh)::bytea), md5(n::text)::uuid, '{}', $3
            from unnest($1::int[], $2::int[]) as given (n, fresh)`,
    one: (db, { n, fresh }) =>
      deleteAccessToken(db, { routingKey: routingKey(n), hash: hash(`f${fresh}`), appKey: appKeyOf(n) }),
  },
  notices: {
    fresh: `with orders as (
              insert into ticket_order (order_id, partner_id, partner_deal_id, partner_order_id, state, state_since, quantity,
                buy_price, unit_price, total_price, request, created_at, updated_at)
              select 1000000 + fresh, 7001, 'deal', 'P-' || n, 'paid', $3, 1, 80, 100, 100, '{}', $3, $3
              from unnest($1::int[], $2::int[]) as given (n, fresh))
            insert into voucher (order_id, voucher, state, quantity)
            select 1000000 + fresh, 'V', 'unused', 1 from unnest($2::int[]) as given (fresh)`,
    one: (db, given) => acceptConsumption(db, noticeOf(given), reportOf(given), 'live'),
  },
}

const newToken = () => ({ hash: randomBytes(32), expiresAt: LATER })

const refreshOf = ({ n }: Given) => ({
  routingKey: routingKey(n),
  appScopes: ['USER_INFO'],
  accessToken: newToken(),
  appValidFrom: null,
})

const noticeOf = ({ fresh }: Given) => ({
  noticeId: randomUUID(),
  clientId: 'client',
  path: '/mtp/api/order/consume/notice',
  bodyHash: hash(`f${fresh}`),
  partnerId: 7001n,
  receivedAt: NOW,
  body: `{"orderId":${1_000_000 + fresh}}`,
  answer: '{"code":200}',
  warnings: [],
})

const reportOf = ({ n, fresh }: Given) => ({
  orderId: BigInt(1_000_000 + fresh),
  partnerOrderId: `P-${n}`,
  quantity: 1,
  usedQuantity: 1,
  refundedQuantity: 0,
  vouchers: [{ voucher: 'V', quantity: 1, status: 1 as const }],
})

let lastFresh = 0

async function givenFor(admin: pg.Pool, { fresh }: Work, count: number, users: number): Promise<Given[]> {
  const given = Array.from({ length: count }, () => ({
    n: users > FEW.users ? FEW.users + 1 + Math.floor(Math.random() * (users - FEW.users)) : 0,
    fresh: fresh ? ++lastFresh : 0,
  }))
  if (fresh) await admin.query(fresh, [given.map(({ n }) => n), given.map((one) => one.fresh), LATER])
  return given
}

/** CPU time of PostgreSQL for a batch in nanoseconds. */
async function turn(
  admin: pg.Pool,
  variant: Variant,
  work: Work,
  size: (typeof SIZES)[number],
  users: number,
): Promise<number> {
  const given = await givenFor(admin, work, BATCHES[size] * size, users)
  const db = variant.dbs[size]
  const [cpu, began] = [cpuOf(variant.pid), performance.now()]
  let batches = 0
  for (let from = 0; from < given.length && performance.now() - began < TURN_MS; from += size) {
    await Promise.all(given.slice(from, from + size).map((each) => work.one(db, each)))
    batches++
  }
  return (cpuOf(variant.pid) - cpu) / batches
}

/** Enough for PostgreSQL to switch to a generic plan by itself. Writes find no rows, so that the tables stay small. */
const WARM_UPS = 8

async function makePlans(admin: pg.Pool, { dbs }: Variant): Promise<void> {
  for (const work of Object.values(WORKS)) {
    for (const size of SIZES) {
      const isNotice = work === WORKS.notices
      for (let times = 0; times < (isNotice ? 1 : WARM_UPS); times++) {
        const given = isNotice
          ? await givenFor(admin, work, Math.min(size, 2), 0)
          : Array.from({ length: Math.min(size, FEW.users) }, (_, at) => ({ n: -at, fresh: 0 }))
        await Promise.all(given.map((each) => work.one(dbs[size], each)))
      }
    }
  }
}

type Figures = Readonly<Record<string, Readonly<Record<string, number[]>>>>
const columns = Object.keys(WORKS).flatMap((work) => SIZES.map((size) => ({ title: `${work}, ${size}`, work, size })))

async function measure(admin: pg.Pool, variants: readonly Variant[], { rounds, users }: Options): Promise<Figures> {
  const figures = Object.fromEntries(
    variants.map((variant) => [variant.name, Object.fromEntries(columns.map(({ title }) => [title, [] as number[]]))]),
  )
  for (let round = 0; round < rounds; round++) {
    for (const { title, work, size } of columns) {
      for (let at = 0; at < variants.length; at++) {
        const variant = variants[(at + round) % variants.length] as Variant
        figures[variant.name]?.[title]?.push(await turn(admin, variant, WORKS[work] as Work, size, users))
      }
    }
    progress(`round ${round + 1} of ${rounds}`)
  }
  return figures
}

/** Milliseconds with the settings of planning.ts; for other variants the ratio to these, round by round. */
function tableOf(figures: Figures): string {
  const usual = figures[USUAL] ?? {}
  const cell = (name: string, title: string): string => {
    const own = figures[name]?.[title] ?? []
    if (name === USUAL) return `${(spreadOf(own).median / 1e6).toFixed(2)} ms`
    const { median, least, most } = spreadOf(ratios(own, usual[title] ?? []))
    return `${median.toFixed(2)} (${least.toFixed(2)}–${most.toFixed(2)}) ×`
  }
  const names = Object.keys(figures)
  const rows = columns.map(({ title }) => `| ${title} | ${names.map((name) => cell(name, title)).join(' | ')} |`)
  return [`| Statement, batch of | ${names.join(' | ')} |`, `| --- |${' --- |'.repeat(names.length)}`, ...rows].join(
    '\n',
  )
}

async function run(options: Options): Promise<void> {
  await withEndings(async (endings) => {
    const databaseUrl = options.database ?? (await ownDatabase(endings))
    const env = { ...INHERITED, DATABASE_URL: databaseUrl, SECRET_KEY: randomBytes(48).toString('base64') }
    execFileSync(process.execPath, [join(ROOT, '.build', 'migrate.js')], {
      env,
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    const admin = new pg.Pool({
      connectionString: databaseUrl,
      max: 1,
      options: '-c session_replication_role=replica -c synchronous_commit=off',
    })
    admin.on('error', () => {})
    endings.add(() => admin.end())
    const { rows } = await admin.query('select name, boot_val from pg_settings where name = any($1)', [
      Object.keys(GENERIC_PLAN_SETTINGS),
    ])
    const settings = variantsOf(Object.fromEntries(rows.map(({ name, boot_val }) => [name, boot_val])))
    const open = async () => {
      const variants: Variant[] = []
      for (const name of Object.keys(settings))
        variants.push(await openVariant(databaseUrl, name, settings[name] ?? {}))
      for (const variant of variants) await makePlans(admin, variant)
      return variants
    }
    const close = (variants: readonly Variant[]) => Promise.all(variants.map(({ pool }) => pool.end()))

    await stopStatistics(databaseUrl)
    await growDatabase(databaseUrl, NOW, FEW)
    await admin.query('analyze')
    const early = await open()
    progress('plans were made of three rows')
    await growDatabase(databaseUrl, NOW, { users: options.users, orders: options.users / 4, parties: APPS })
    progress('the tables have grown')
    const grown = await measure(admin, early, options)
    await close(early)
    await admin.query('vacuum analyze')
    const late = await open()
    const large = await measure(admin, late, options)
    await close(late)

    const version = await admin.query('show server_version')
    say(`PostgreSQL ${version.rows[0].server_version}, ${options.users} users, ${options.rounds} rounds`)
    say(`\nPlans made of three rows, tables grown since\n\n${tableOf(grown)}`)
    say(`\nPlans made of large, analyzed tables\n\n${tableOf(large)}`)
  })
}

async function ownDatabase(endings: { add(ending: () => unknown): void }): Promise<string> {
  const folder = newDataFolder()
  endings.add(() => removeDataFolder(folder))
  const server = await startEmbedded(folder, quiet)
  endings.add(() => server.stop())
  return server.databaseUrl
}

await command(HELP, readOptions, run)
