import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { startEmbedded } from '../src/db/embedded/server.ts'
import { migrate } from '../src/db/migrate.ts'
import { openLog } from '../src/lib/log.ts'
import { TEMPLATE } from './database.ts'

declare module 'vitest' {
  interface ProvidedContext {
    serverUrl: string
    /** A file here, named by its process id, ends a process with the run. */
    processesFolder: string
    /** Only with TEST_PGBOUNCER=on. */
    pgbouncerPort: number | null
  }
}

function endProcess(id: number): void {
  try {
    process.kill(id, 'SIGKILL')
  } catch {
    // It has ended with the worker that started it.
  }
}

/** The compiler has said what is wrong, which the runner's own report of a failed set-up would bury. */
function build(): void {
  try {
    execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' })
  } catch {
    process.stderr.write('The program cannot be built, so nothing is tested.\n')
    process.exit(1)
  }
}

/** One real PostgreSQL for the whole run, with a migrated template that each test file clones; and the built program. */
export default async function setup(project: TestProject) {
  const pgbouncer = process.env.TEST_PGBOUNCER === 'on' ? await import('./pgbouncer.ts') : undefined
  if (pgbouncer?.pgbouncerMissing) process.exit(0) // it has said so
  build()
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-test-'))
  chmodSync(folder, 0o755)
  const processesFolder = join(folder, 'processes')
  mkdirSync(processesFolder)
  project.provide('processesFolder', processesFolder)
  const server = await startEmbedded(folder, openLog({ level: 'error', pretty: false }))
  const admin = new pg.Client({ connectionString: server.databaseUrl })
  await admin.connect()
  // Nothing of it has to outlast the run: databases are made and dropped without waiting for the disk.
  for (const setting of ['fsync', 'synchronous_commit', 'full_page_writes']) {
    await admin.query(`alter system set ${setting} = off`)
  }
  await admin.query('select pg_reload_conf()')
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
    for (const id of readdirSync(processesFolder)) endProcess(Number(id))
    await pooler?.stop()
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
