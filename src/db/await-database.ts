import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Log } from '../lib/log.ts'

/** A try that says nothing for so long is over: PostgreSQL answers a connection at once, or refuses it. */
const TRY_MS = 3_000
const PAUSE_MS = 500
const SAY_EVERY_MS = 5_000

interface Patience {
  /** Seconds in all; 0 tries once. */
  readonly seconds: number
  readonly log: Log
  /** Ends the wait: the process was told to stop. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Waits for a database that is not up yet or does not answer, and says so every few seconds. What no waiting mends, such
 * as a wrong password, is thrown at once. Texts name host and database, never the password.
 */
export async function awaitDatabase(databaseUrl: string, { seconds, log, signal }: Patience): Promise<void> {
  const began = performance.now()
  let saidAt = began - SAY_EVERY_MS
  for (;;) {
    const trouble = await tryOnce(databaseUrl)
    if (!trouble) return
    const name = nameOf(databaseUrl)
    if (!trouble.passes) throw new Error(`the database ${name} cannot be used: ${trouble.sentence}`)
    const waited = performance.now() - began
    if (signal?.aborted || waited + PAUSE_MS > seconds * 1000) {
      const since = seconds > 0 ? ` for ${Math.round(waited / 1000)} s` : ''
      throw new Error(
        `the database ${name} has not been there${since}: ${trouble.sentence}; start it, or correct DATABASE_URL`,
      )
    }
    if (performance.now() - saidAt >= SAY_EVERY_MS) {
      saidAt = performance.now()
      const left = Math.round(seconds - waited / 1000)
      log.warn(`waiting for the database ${name}: ${trouble.sentence}; for ${left} s more (DATABASE_WAIT_S)`)
    }
    await sleep(PAUSE_MS, undefined, { signal }).catch(() => {})
  }
}

interface Trouble {
  readonly sentence: string
  /** Whether it may pass by itself. */
  readonly passes: boolean
}

async function tryOnce(connectionString: string): Promise<Trouble | undefined> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: TRY_MS, query_timeout: TRY_MS })
  client.on('error', () => {}) // the try reports it
  try {
    await client.connect()
    await client.query('select 1')
    return undefined
  } catch (error) {
    return troubleOf(error as Error & { code?: string })
  } finally {
    // One that never answered does not answer a goodbye either.
    await Promise.race([client.end().catch(() => {}), sleep(100)])
    client.connection?.stream?.destroy()
  }
}

const PASSING: Readonly<Record<string, string>> = {
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
  '53300': 'it has no connection to spare',
}
const LASTING: Readonly<Record<string, string>> = {
  '28P01': 'the password in DATABASE_URL is wrong',
  '28000': 'the user in DATABASE_URL may not connect; see pg_hba.conf of the server',
  '3D000': 'it does not exist on that server; create it, or correct DATABASE_URL',
  '42501': 'the user in DATABASE_URL may not connect to it; grant it CONNECT',
}

function troubleOf(error: Error & { code?: string }): Trouble {
  if (error instanceof AggregateError) return troubleOf(error.errors[0] ?? new Error(error.message))
  const passing = PASSING[error.code ?? '']
  if (passing) return { sentence: passing, passes: true }
  if (/timeout|timed out/i.test(error.message))
    return { sentence: 'it accepts the connection but does not respond', passes: true }
  if (/Connection terminated/i.test(error.message)) return { sentence: 'it closes the connection', passes: true }
  return { sentence: LASTING[error.code ?? ''] ?? error.message, passes: false }
}

function nameOf(databaseUrl: string): string {
  const { hostname, port, pathname } = new URL(databaseUrl)
  return `${pathname.slice(1) || '(default)'} on ${hostname || 'this machine'}${port ? `:${port}` : ''}`
}
