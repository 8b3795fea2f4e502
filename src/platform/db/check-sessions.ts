import type { Client } from 'pg'
import { z } from 'zod'
import {
  type ConnectionSettings,
  connectionConfig,
  prepareSession,
  requestedSettings,
  rowOf,
  singleClient,
} from './pool.ts'

/**
 * Prepared statements, startup settings and the migration lock belong to a PostgreSQL session. A pooler that hands out
 * sessions per transaction breaks all three, sometimes silently, so two connections are tried before the first use.
 */

const USE_SESSIONS =
  'the pooler that DATABASE_URL points to gives each transaction another session of PostgreSQL: set its pool_mode to session, or connect to PostgreSQL directly'
const CLEAR_SESSIONS =
  'the pooler that DATABASE_URL points to does not clear prepared statements between clients: make it reset sessions (PgBouncer: server_reset_query = DISCARD ALL)'
const NO_OPTIONS =
  'the pooler that DATABASE_URL points to does not pass on startup options: set DATABASE_PLANNING=server'

const ROUNDS = 3
const PREPARED = { name: 'gatehouse_check_sessions', text: 'select pg_backend_pid() as pid' }

const setting = z.object({ name: z.string(), value: z.string().nullable() })
const session = z.object({ pid: z.number() })

const codeOf = (error: unknown): unknown => (error as { code?: unknown }).code

/** Throws, saying what to change, if they do not work as required. Returns how many connections there are for ordinary users. */
export async function checkSessions(settings: ConnectionSettings): Promise<number> {
  const [first, second] = [0, 1].map(() => singleClient(connectionConfig(settings))) as [Client, Client]
  try {
    await Promise.all([first, second].map((client) => client.connect().catch(refusedOptions)))
    await requireVersion(first)
    await Promise.all([first, second].map((client) => prepareSession(client, settings)))
    await Promise.all([first, second].map((client) => requireSettings(client, settings)))
    await requireOwnSessions(first, second)
    await Promise.all([first, second].map(requireOwnPrepared))
    await requireTablesInPath(first)
    return await connectionsFor(first)
  } finally {
    await Promise.all([first, second].map((client) => client.end().catch(() => {})))
  }
}

async function connectionsFor(client: Client): Promise<number> {
  const { most } = await rowOf(
    client,
    z.object({ most: z.number() }),
    // PostgreSQL 15 has no reserved_connections.
    `select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
       - coalesce(current_setting('reserved_connections', true)::int, 0) as most`,
  )
  return most
}

/** PgBouncer and RDS Proxy refuse a connection that has the startup parameter `options`. */
function refusedOptions(error: unknown): never {
  const refused = error instanceof Error && /startup parameter.*options|command-line options/i.test(error.message)
  throw refused ? new Error(NO_OPTIONS, { cause: error }) : error
}

/** `server_version_num` of the oldest PostgreSQL that the tests have run on. */
const OLDEST = 150_000

async function requireVersion(client: Client): Promise<void> {
  const { number, name } = await rowOf(
    client,
    z.object({ number: z.number(), name: z.string() }),
    `select current_setting('server_version_num')::int as number, current_setting('server_version') as name`,
  )
  if (number < OLDEST)
    throw new Error(`the database is PostgreSQL ${name}, which is too old: Gatehouse needs PostgreSQL 15 or later`)
}

async function requireSettings(client: Client, settings: ConnectionSettings): Promise<void> {
  const requested = requestedSettings(settings)
  const { rows } = await client.query('select name, current_setting(name) as value from unnest($1::text[]) name', [
    Object.keys(requested),
  ])
  const inForce = z
    .array(setting)
    .parse(rows)
    .every(({ name, value }) => requested[name] === value)
  if (!inForce) throw new Error(settings.startupOptions === false ? USE_SESSIONS : NO_OPTIONS)
}

/** A connection keeps its session, even while another one is in the middle of a transaction. */
async function requireOwnSessions(first: Client, second: Client): Promise<void> {
  const seen = [new Set<number>(), new Set<number>()] as const
  const look = async (client: Client, place: 0 | 1) => {
    seen[place].add((await rowOf(client, session, 'select pg_backend_pid() as pid')).pid)
  }
  try {
    for (let round = 0; round < ROUNDS; round++) {
      await look(first, 0)
      await second.query('begin')
      await look(second, 1)
      await look(first, 0)
      await second.query('commit')
      await look(first, 0)
    }
  } catch (error) {
    // PgBouncer's pool_mode = statement refuses transactions.
    throw codeOf(error) === '08P01' ? new Error(USE_SESSIONS, { cause: error }) : error
  }
  const [one, other] = seen.map((pids) => [...pids]) as [number[], number[]]
  if (one.length > 1 || other.length > 1 || one[0] === other[0]) throw new Error(USE_SESSIONS)
}

/** `42P05`: the session came from another client, which had prepared the same statement. */
async function requireOwnPrepared(client: Client): Promise<void> {
  try {
    await client.query(PREPARED)
    await client.query(PREPARED)
  } catch (error) {
    throw codeOf(error) === '42P05' ? new Error(CLEAR_SESSIONS, { cause: error }) : error
  }
}

const place = z.object({ path: z.string(), withPublic: z.boolean(), migrated: z.boolean(), found: z.boolean() })

/** The operator's `search_path` is respected, since the tables may be in any schema on it; they must be found by it. */
async function requireTablesInPath(client: Client): Promise<void> {
  const { path, withPublic, migrated, found } = await rowOf(
    client,
    place,
    `select current_setting('search_path') as path, 'public' = any (current_schemas(false)) as "withPublic",
       to_regclass('public.migration') is not null as migrated, to_regclass('micro_app') is not null as found`,
  )
  const says = `search_path of the database or of its user is ${path || 'empty'}`
  const remedy = 'change it with alter database or alter role, or in DATABASE_URL (options=-c search_path=…)'
  if (!withPublic) {
    throw new Error(`${says}: it does not have the schema public, or this user may not use that schema; ${remedy}`)
  }
  if (migrated && !found && (await client.query('select from public.migration limit 1')).rowCount) {
    throw new Error(`${says}: it does not lead to the tables of Gatehouse, which are in another schema; ${remedy}`)
  }
}
