import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../lib/log.ts'
import type { Diagnosis } from './embedded/diagnosis.ts'
import { singleClient } from './pool.ts'

/** Time limit of one attempt: a healthy PostgreSQL accepts or refuses a connection at once. */
const TRY_MS = 3_000
const PAUSE_MS = 500
const LOG_EVERY_MS = 5_000

interface WaitOptions {
  /** In total; 0 tries once. */
  readonly seconds: number
  readonly log: Log
  /** Ends the wait when the process is told to stop. */
  readonly signal?: AbortSignal | undefined
}

/** Waits for a database that is not up yet. Throws at once what waiting cannot fix, such as a wrong password. */
export async function awaitDatabase(databaseUrl: string, { seconds, log, signal }: WaitOptions): Promise<void> {
  const began = performance.now()
  let loggedAt = began - LOG_EVERY_MS
  for (;;) {
    const diagnosis = await tryOnce(databaseUrl)
    if (!diagnosis) return
    const name = nameOf(databaseUrl)
    if (!diagnosis.isTransient) throw new Error(`the database ${name} cannot be used: ${diagnosis.message}`)
    const waited = performance.now() - began
    if (signal?.aborted || waited + PAUSE_MS > seconds * 1000) {
      const since = seconds > 0 ? ` for ${Math.round(waited / 1000)} s` : ''
      throw new Error(
        `the database ${name} was not reachable${since}: ${diagnosis.message}; start it, or correct DATABASE_URL`,
      )
    }
    if (performance.now() - loggedAt >= LOG_EVERY_MS) {
      loggedAt = performance.now()
      const left = Math.round(seconds - waited / 1000)
      log.warn(`waiting for the database ${name}: ${diagnosis.message}; for ${left} s more (DATABASE_WAIT_S)`)
    }
    await sleep(PAUSE_MS, undefined, { signal }).catch(() => {})
  }
}

async function tryOnce(connectionString: string): Promise<Diagnosis | undefined> {
  const client = singleClient({ connectionString, connectionTimeoutMillis: TRY_MS, query_timeout: TRY_MS })
  try {
    await client.connect()
    const { rows } = await client.query('select pg_is_in_recovery() as standby')
    return rows[0].standby ? { message: 'it is a standby, which takes no writes', isTransient: true } : undefined
  } catch (error) {
    return diagnosisOf(error as Error & { code?: string })
  } finally {
    // A server that never answered will not answer a clean close either.
    await Promise.race([client.end().catch(() => {}), sleep(100)])
    client.connection?.stream?.destroy()
  }
}

const TRANSIENT: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there (yet)',
  ECONNRESET: 'it closes the connection',
  EPIPE: 'it closes the connection',
  ETIMEDOUT: 'its host does not answer',
  EHOSTUNREACH: 'its host cannot be reached',
  ENETUNREACH: 'its network cannot be reached',
  ENOTFOUND: 'its host name is not known (yet)',
  EAI_AGAIN: 'its host name cannot be looked up (yet)',
  '57P03': 'it is starting up, or shutting down',
  '57P01': 'it is shutting down',
  '53300': 'it has no free connection',
}
const PERMANENT: Readonly<Record<string, string>> = {
  '28P01': 'the password in DATABASE_URL is wrong',
  '28000': 'the user in DATABASE_URL may not connect; see pg_hba.conf of the server',
  '3D000': 'it does not exist on that server; create it, or correct DATABASE_URL',
  '42501': 'the user in DATABASE_URL may not connect to it; grant it CONNECT',
}
const NO_TLS = 'it does not speak TLS, which sslmode in DATABASE_URL asks for; set up TLS there, or leave sslmode out'

function diagnosisOf(error: Error & { code?: string }): Diagnosis {
  if (error instanceof AggregateError) return diagnosisOf(error.errors[0] ?? new Error(error.message))
  const transient = TRANSIENT[error.code ?? '']
  if (transient) return { message: transient, isTransient: true }
  if (/timeout|timed out/i.test(error.message))
    return { message: 'it accepts the connection but does not respond', isTransient: true }
  if (/Connection terminated/i.test(error.message)) return { message: 'it closes the connection', isTransient: true }
  if (/does not support SSL/i.test(error.message)) return { message: NO_TLS, isTransient: false }
  return { message: PERMANENT[error.code ?? ''] ?? error.message, isTransient: false }
}

function nameOf(databaseUrl: string): string {
  const { hostname, port, pathname } = new URL(databaseUrl)
  return `${pathname.slice(1) || '(default)'} on ${hostname || 'this machine'}${port ? `:${port}` : ''}`
}
