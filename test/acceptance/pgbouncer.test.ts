import { spawnSync } from 'node:child_process'
import { afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import { freshDatabase } from '../database.ts'
import { type PgBouncer, pgbouncerMissing, startPgBouncer } from '../pgbouncer.ts'
import { SECRET_KEY } from '../secrets.ts'
import { SHORT_LIVED } from '../start-options.ts'
import { ALICE, Client, DEMO_APP, dataOf } from './client.ts'
import { httpWire } from './http.ts'
import { startProcess } from './system.ts'

/**
 * The built service behind Debian's PgBouncer. test/db/check-sessions.test.ts has the other settings that are refused;
 * `npm run test:pgbouncer` runs all of test/acceptance behind it.
 */

const ROOT = new URL('../../', import.meta.url).pathname
const DROPS_OPTIONS = 'ignore_startup_parameters = extra_float_digits, options'

describe.skipIf(pgbouncerMissing)('behind PgBouncer', () => {
  let database: { url: string; drop(): Promise<void> }
  let pooler: PgBouncer
  const begin = async (...settings: string[]) => {
    pooler = await startPgBouncer(inject('serverUrl'), settings)
    return pooler.through(database.url)
  }
  beforeAll(async () => {
    database = await freshDatabase()
    return () => database.drop()
  })
  afterEach(() => pooler.stop())

  /** Runs one of our programs until it ends by itself. */
  const run = (program: readonly string[], environment: Record<string, string>) => {
    const { status, stderr, signal } = spawnSync(process.execPath, [...SHORT_LIVED, ...program], {
      cwd: ROOT,
      env: { PATH: process.env.PATH, SECRET_KEY, PORT: '0', DEMO: 'off', LOG_LEVEL: 'error', ...environment },
      encoding: 'utf8',
    })
    return { status, signal, stderr }
  }
  const PROGRAMS = [['.build/main.js'], ['.build/worker.js'], ['.build/cli.js', 'migrate']]

  it.each(PROGRAMS.map((program) => [program.join(' '), program] as const))(
    'in transaction mode %s ends with one sentence that says what to do',
    async (_name, program) => {
      const url = await begin('pool_mode = transaction', DROPS_OPTIONS)
      const { status, stderr } = run(program, { DATABASE_URL: url, DATABASE_PLANNING: 'server' })
      expect(stderr).toMatch(/pooler .* set its pool_mode to session, or connect to PostgreSQL directly/)
      expect(stderr).not.toMatch(/\n\s+at /)
      expect(status).toBe(1)
    },
  )

  it('in session mode the service starts and works', async () => {
    const running = await startProcess({
      DATABASE_URL: await begin('pool_mode = session'),
      DATABASE_PLANNING: 'server',
      SECRET_KEY,
    })
    try {
      const client = new Client(httpWire(running.origin), running.origin)
      const { access_token } = await client.getTokens(await client.signedIn(ALICE), DEMO_APP)
      expect(dataOf(await client.userInfo(access_token))).toHaveProperty('uinfo')
    } finally {
      await running.stop()
    }
  })
})
