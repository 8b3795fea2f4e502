import { Client, type ClientBase, type ClientConfig, Pool, types } from 'pg'
import type { z } from 'zod'
import { type Config, environment } from '../config/index.ts'
import type { Log } from '../lib/log.ts'
import { GENERIC_PLAN_SETTINGS, type ServerSettings } from './planning.ts'
import { searchPathOf } from './shards.ts'

export interface ConnectionSettings {
  readonly connectionString: string
  /** Force generic plans (planning.ts) instead of the server's own planning settings. */
  readonly genericPlan?: boolean
  /** False for poolers that refuse startup options: a statement then applies the settings on each new connection. */
  readonly startupOptions?: boolean
  /** The schema of the shard that the connections are for. */
  readonly schema?: string
}

const QUERY_TIMEOUT_MS = 10_000
/** PostgreSQL gives up before the client does, so that a statement reported as failed is not carried out later. */
const LIMITS: ServerSettings = { statement_timeout: '8s', lock_timeout: '3s' }

/**
 * The meaning of statements and their answers depends on these, so each connection gets the values that this code was
 * written for, whatever `alter database` or `alter role` has set. Not here: `search_path`, which says where the tables
 * are (check-sessions.ts), and what is the operator's choice, such as `synchronous_commit` and limits.
 */
const NEEDED_SETTINGS: ServerSettings = {
  client_encoding: 'UTF8',
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  TimeZone: 'UTC',
  bytea_output: 'hex',
  extra_float_digits: '1',
  array_nulls: 'on',
  standard_conforming_strings: 'on',
  transform_null_equals: 'off',
  default_transaction_isolation: 'read committed',
}

/** As the startup parameter `options`, in which a backslash escapes a space. */
export const startupOptions = (settings: ServerSettings): string =>
  Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value.replace(/[\\\s]/g, '\\$&')}`)
    .join(' ')

const makeSettings = (client: ClientBase, settings: ServerSettings) =>
  client.query('select set_config(name, value, false) from unnest($1::text[], $2::text[]) as setting (name, value)', [
    Object.keys(settings),
    Object.values(settings),
  ])

export const makeNeededSettings = (client: ClientBase) => makeSettings(client, NEEDED_SETTINGS)

export const connectionSettings = (config: Config, databaseUrl: string): ConnectionSettings => ({
  connectionString: databaseUrl,
  genericPlan: config.DATABASE_PLANNING === 'forced',
  startupOptions: config.DATABASE_PLANNING === 'forced',
})

export interface PoolSettings extends ConnectionSettings {
  readonly size: number
}

/** A `date` is a calendar day and stays text: pg would make it midnight in the time zone of the process. */
const DATE = 1082
const getTypeParser: typeof types.getTypeParser = (oid, format) =>
  oid === DATE ? (text: unknown) => text : types.getTypeParser(oid, format)

/** The operator's startup options, from the URL or PGOPTIONS. */
const givenOptions = (connectionString: string): string =>
  new URL(connectionString).searchParams.get('options') ?? environment().PGOPTIONS ?? ''

/** Settings that the operator's options cannot override. */
const neededSettings = ({ schema }: ConnectionSettings): ServerSettings =>
  schema === undefined ? NEEDED_SETTINGS : { ...NEEDED_SETTINGS, search_path: searchPathOf(schema) }

/** Settings that the operator's options override. */
const defaultSettings = ({ genericPlan = false }: ConnectionSettings): ServerSettings => ({
  ...(genericPlan ? GENERIC_PLAN_SETTINGS : {}),
  ...LIMITS,
})

/** The settings requested for each connection: those we need, and defaults that the operator has not set. */
export function requestedSettings(settings: ConnectionSettings): ServerSettings {
  const given = givenOptions(settings.connectionString)
  const isGiven = (name: string) => new RegExp(`\\b${name.replaceAll('_', '[-_]')}\\s*=`).test(given)
  const defaults = Object.entries(defaultSettings(settings)).filter(([name]) => !isGiven(name))
  return { ...Object.fromEntries(defaults), ...neededSettings(settings) }
}

/** Our defaults, the operator's options, then what we need: PostgreSQL takes the last value of a setting. */
export function connectionConfig(settings: ConnectionSettings): ClientConfig {
  const { connectionString, startupOptions: asOptions = true } = settings
  const address = asOptions
    ? {
        // Options in the URL would replace ours. The rest of the URL is left as written: pg tolerates a stray percent
        // sign in a password, which re-encoding would change.
        connectionString: connectionString.replace(/(?<=[?&])options=[^&]*&?/, ''),
        options: [
          startupOptions(defaultSettings(settings)),
          givenOptions(connectionString),
          startupOptions(neededSettings(settings)),
        ].join(' '),
      }
    : { connectionString }
  return {
    ...address,
    connectionTimeoutMillis: 2_000,
    query_timeout: QUERY_TIMEOUT_MS,
    application_name: 'gatehouse',
    types: { getTypeParser },
  }
}

/** Applies the settings to a connection that could not receive them at startup. */
export async function prepareSession(client: ClientBase, settings: ConnectionSettings): Promise<void> {
  if (settings.startupOptions ?? true) return
  await makeSettings(client, requestedSettings(settings))
}

/** A connection outside the pools, not opened yet. Its loss is reported by its statements alone. */
export function singleClient(config: ClientConfig): Client {
  const client = new Client(config)
  client.on('error', () => {}) // without a listener it would end the process
  return client
}

/** A connection outside the pools, with the server's own settings, for as long as `work` takes. */
export async function withClient<Done>(
  connectionString: string,
  work: (client: Client) => Promise<Done>,
): Promise<Done> {
  const client = singleClient({ connectionString })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** The one row that a statement answers. */
export const rowOf = async <Row>(client: ClientBase, row: z.ZodType<Row>, text: string, values?: unknown[]) =>
  row.parse((await client.query(text, values)).rows[0])

/** With PostgreSQL's code for a write on a standby. Its data may be stale, so nothing is read from it either. */
const STANDBY = Object.assign(new Error('the database is a standby, which takes no writes'), { code: '25006' })

async function refuseStandby(client: ClientBase): Promise<void> {
  const { rows } = await client.query('select pg_is_in_recovery() as standby')
  if (rows[0].standby) throw STANDBY
}

/** A pool that gives up on a missing database within two seconds, so a caller gets its 503 instead of waiting. */
export function openPool({ size, ...connection }: PoolSettings, log: Log): Pool {
  const pool = new Pool({
    ...connectionConfig(connection),
    max: size,
    idleTimeoutMillis: 30_000,
    // Statements of a transaction that do not await one another are sent together.
    pipeline: true,
    // The pool awaits this, although its type does not say so.
    onConnect: (client) => Promise.all([prepareSession(client, connection), refuseStandby(client)]),
  })
  // A broken idle connection is replaced on the next use; without a listener its error would end the process.
  pool.on('error', (error) => {
    // At shutdown the server may close a connection before the pool does.
    if (!pool.ending) log.warn({ reason: error.message }, 'an idle database connection was lost')
  })
  // So would a connection that breaks between two statements of a transaction; the next statement reports that.
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}
