import { type ClientBase, type ClientConfig, Pool, types } from 'pg'
import { type Config, environment } from '../config/index.ts'
import type { Log } from '../lib/log.ts'
import { GENERIC_PLAN_SETTINGS, type ServerSettings } from './planning.ts'
import { makeSettings, NEEDED_SETTINGS, startupOptions } from './session-settings.ts'
import { searchPathOf } from './shards.ts'

/** How connections to PostgreSQL are made. */
export interface ConnectionSettings {
  readonly connectionString: string
  /** Force generic plans (planning.ts) instead of planning as the server is set. */
  readonly genericPlan?: boolean
  /** False where a pooler refuses startup options: each new connection is then given its settings by a statement. */
  readonly startupOptions?: boolean
  /** Of the shard whose tables its statements find. */
  readonly schema?: string
}

/** How long a client waits for an answer. */
const QUERY_TIMEOUT_MS = 10_000
/** PostgreSQL gives up before the client does, so that a statement reported as failed is not carried out later. */
const LIMITS: ServerSettings = { statement_timeout: '8s', lock_timeout: '3s' }

export const connectionSettings = (config: Config, databaseUrl: string): ConnectionSettings => ({
  connectionString: databaseUrl,
  genericPlan: config.DATABASE_PLANNING === 'forced',
  startupOptions: config.DATABASE_PLANNING === 'forced',
})

export interface PoolSettings extends ConnectionSettings {
  readonly size: number
}

/** A `date` is a day on the calendar and stays text: pg would make it midnight of whatever zone the process runs in. */
const DATE = 1082
const getTypeParser: typeof types.getTypeParser = (oid, format) =>
  oid === DATE ? (text: unknown) => text : types.getTypeParser(oid, format)

/** The startup options that the operator gave in the URL or as PGOPTIONS. */
const givenOptions = (connectionString: string): string =>
  new URL(connectionString).searchParams.get('options') ?? environment().PGOPTIONS ?? ''

/** What the operator's options do not change. */
const neededSettings = ({ schema }: ConnectionSettings): ServerSettings =>
  schema === undefined ? NEEDED_SETTINGS : { ...NEEDED_SETTINGS, search_path: searchPathOf(schema) }

const ourSettings = ({ genericPlan = false }: ConnectionSettings): ServerSettings => ({
  ...(genericPlan ? GENERIC_PLAN_SETTINGS : {}),
  ...LIMITS,
})

/** The settings requested for each connection: of those that are not needed only what the operator has not set. */
export function requestedSettings(settings: ConnectionSettings): ServerSettings {
  const given = givenOptions(settings.connectionString)
  const isGiven = (name: string) => new RegExp(`\\b${name.replaceAll('_', '[-_]')}\\s*=`).test(given)
  const wished = Object.entries(ourSettings(settings)).filter(([name]) => !isGiven(name))
  return { ...Object.fromEntries(wished), ...neededSettings(settings) }
}

/** Our wishes, the operator's options, and what is needed: of two values of a setting PostgreSQL takes the last. */
export function connectionConfig(settings: ConnectionSettings): ClientConfig {
  const { connectionString, startupOptions: asOptions = true } = settings
  const address = asOptions
    ? {
        // Options in the URL would take the place of the others. The rest of it is left as it is written: pg repairs
        // passwords with a stray percent sign, and writes other characters differently when it does.
        connectionString: connectionString.replace(/(?<=[?&])options=[^&]*&?/, ''),
        options: [
          startupOptions(ourSettings(settings)),
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

/** Makes the settings on a connection that could not be given them at startup. */
export async function prepareSession(client: ClientBase, settings: ConnectionSettings): Promise<void> {
  if (settings.startupOptions ?? true) return
  await makeSettings(client, requestedSettings(settings))
}

/** As PostgreSQL says of a write there. What a standby shows may be long past: nothing is read from it either. */
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
    // Statements of a transaction that do not wait for one another go out together.
    pipeline: true,
    // The pool waits for it, whatever its type says.
    onConnect: (client) => Promise.all([prepareSession(client, connection), refuseStandby(client)]),
  })
  // An idle connection that breaks is replaced on the next use; without a listener it would end the process.
  pool.on('error', (error) => {
    // At shutdown the server may close a connection before the pool does.
    if (!pool.ending) log.warn({ reason: error.message }, 'an idle database connection was lost')
  })
  // So would one that breaks between two statements of a transaction; there the next statement reports it.
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}
