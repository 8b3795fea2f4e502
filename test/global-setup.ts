import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { startEmbedded } from '../src/db/embedded/server.ts'
import { migrate } from '../src/db/migrate.ts'
import { openLog } from '../src/lib/log.ts'

export const TEMPLATE = 'gatehouse_template'

declare module 'vitest' {
  interface ProvidedContext {
    serverUrl: string
    /** Only with TEST_PGBOUNCER=on. */
    pgbouncerPort: number | null
  }
}

/** One real PostgreSQL for the whole run, with a migrated template that each test file clones; and the built program. */
export default async function setup(project: TestProject) {
  const pgbouncer = process.env.TEST_PGBOUNCER === 'on' ? await import('./pgbouncer.ts') : undefined
  if (pgbouncer?.pgbouncerMissing) process.exit(0) // it has said so
  execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' })
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-test-'))
  chmodSync(folder, 0o755)
  const server = await startEmbedded(folder, openLog({ level: 'error', pretty: false }))
  const admin = new pg.Client({ connectionString: server.databaseUrl })
  await admin.connect()
  await admin.query(`create database ${TEMPLATE}`)
  await admin.end()
  const template = new URL(server.databaseUrl)
  template.pathname = TEMPLATE
  await migrate(template.href)
  project.provide('serverUrl', server.databaseUrl)
  // Each test has a database of its own: what is idle is closed soon, or PostgreSQL runs out of connections.
  const pooler = await pgbouncer?.startPgBouncer(server.databaseUrl, ['pool_mode = session', 'server_idle_timeout = 2'])
  project.provide('pgbouncerPort', pooler ? Number(new URL(pooler.through(server.databaseUrl)).port) : null)
  return async () => {
    await pooler?.stop()
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
