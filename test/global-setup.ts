import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { holderOf } from '../src/platform/db/embedded/lock.ts'
import { startEmbedded } from '../src/platform/db/embedded/server.ts'
import { migrate } from '../src/platform/db/migrate.ts'
import { openLog } from '../src/platform/lib/log.ts'
import { closeToAll, databaseOn, makeCluster, onServer, workersOf } from './citus.ts'
import { EMPTY_TEMPLATE, TEMPLATE } from './database.ts'
import { CITUS_URL, makeWhole, SHARDS } from './one-table.ts'
import { ROOT, unitTests } from './tiers.ts'

declare module 'vitest' {
  interface ProvidedContext {
    serverUrl: string
    /** The Citus workers; empty without CITUS_URL. */
    workerUrls: string[]
    /** Each file here is named after the id of a process that is killed when the run ends. */
    processesFolder: string
    /** Only with TEST_PGBOUNCER=on. */
    pgbouncerPort: number | null
  }
}

function endProcess(id: number): void {
  try {
    process.kill(id, 'SIGKILL')
  } catch {
    // It has already ended.
  }
}

/** Exits on failure: the compiler has printed what is wrong, and Vitest's report of a failed setup would bury it. */
function build(): void {
  try {
    execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' })
  } catch {
    process.stderr.write('The program cannot be built, so nothing is tested.\n')
    process.exit(1)
  }
}

/** Nothing has to outlast the run, so databases are created and dropped without waiting for the disk. */
const SHORT_LIVED = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  shared_buffers: '256MB',
  max_wal_size: '256MB',
}

const MEMORY = '/dev/shm'
const ROOMY_BYTES = 8 * 2 ** 30

const PREFIX = 'gatehouse-test-'
/** Longer than any run. */
const LEFT_BEHIND_MS = 3 * 3_600_000

/** Removes what killed runs of this user have left in memory: it would stay there until the machine restarts. */
function removeLeftBehind(): void {
  for (const name of existsSync(MEMORY) ? readdirSync(MEMORY) : []) {
    const folder = join(MEMORY, name)
    if (!name.startsWith(PREFIX) || holderOf(folder)) continue
    const { uid, mtimeMs } = statSync(folder)
    if (uid === process.getuid?.() && Date.now() - mtimeMs > LEFT_BEHIND_MS) removeFolder(folder)
  }
}

/** With retries: a process that was just killed may still be writing. */
const removeFolder = (folder: string): void =>
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })

/** In memory if there is plenty: creating a database takes a sixth of the time that it takes on some disks. */
function newFolder(): string {
  const inMemory = existsSync(MEMORY) && Math.min(bytesFree(MEMORY), process.availableMemory()) > ROOMY_BYTES
  const folder = mkdtempSync(join(inMemory ? MEMORY : tmpdir(), PREFIX))
  if (!inMemory || runsPrograms(folder)) return folder
  rmSync(folder, { recursive: true })
  return mkdtempSync(join(tmpdir(), PREFIX))
}

function bytesFree(folder: string): number {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}

/** Whether programs may be executed there: containers may mount /dev/shm with noexec. */
function runsPrograms(folder: string): boolean {
  const program = join(folder, 'program')
  writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 })
  return spawnSync(program).status === 0
}

/** Thousands of connections are opened: with the default SCRAM iterations each would spend milliseconds on hashing. */
async function hashQuickly(admin: pg.Client): Promise<void> {
  await admin.query('set scram_iterations = 1')
  await admin.query(`alter role current_user password ${admin.escapeLiteral(String(admin.password))}`)
}

/**
 * Builds the program and starts one real PostgreSQL for the whole run, with a migrated template that tests clone. Does
 * nothing if the run consists of unit tests only.
 */
export default async function setup(project: TestProject) {
  const unit = new Set(unitTests().map((file) => join(ROOT, file)))
  if (project.vitest.state.getPaths().every((file) => unit.has(file))) return
  const pgbouncer = process.env.TEST_PGBOUNCER === 'on' ? await import('./pgbouncer.ts') : undefined
  if (pgbouncer?.pgbouncerMissing) process.exit(0) // it has already printed why
  build()
  removeLeftBehind()
  const folder = newFolder()
  // Vitest calls no teardown if the setup fails.
  return startIn(folder, project, pgbouncer).catch((error: unknown) => {
    removeFolder(folder)
    throw error
  })
}

/** TEST_DATABASE_URL: a superuser of another server to test with, such as an older PostgreSQL. CITUS_URL: the same for Citus. */
const OTHER_SERVER = CITUS_URL ?? process.env.TEST_DATABASE_URL

const startServer = (folder: string): Promise<{ databaseUrl: string; stop(): Promise<unknown> }> =>
  OTHER_SERVER
    ? Promise.resolve({ databaseUrl: OTHER_SERVER, stop: async () => {} })
    : startEmbedded(folder, openLog({ level: 'error', pretty: false }), { settings: SHORT_LIVED })

async function makeTemplates(serverUrl: string, workerUrls: readonly string[]): Promise<void> {
  const nodes = [serverUrl, ...workerUrls]
  const templates = CITUS_URL ? [TEMPLATE, EMPTY_TEMPLATE] : [TEMPLATE]
  for (const name of templates) {
    // A server that is not ours may still have it from the previous run.
    for (const node of nodes) await onServer(node, `drop database if exists ${name}`, `create database ${name}`)
    if (CITUS_URL) await makeCluster(serverUrl, workerUrls, name)
  }
  const url = databaseOn(serverUrl, TEMPLATE)
  await migrate(url, SHARDS)
  const made = new pg.Client({ connectionString: url })
  await made.connect()
  await makeWhole(made).finally(() => made.end())
  if (CITUS_URL) for (const node of nodes) for (const name of templates) await closeToAll(node, name)
}

async function startIn(
  folder: string,
  project: TestProject,
  pgbouncer: typeof import('./pgbouncer.ts') | undefined,
): Promise<() => Promise<void>> {
  process.env.TMPDIR = folder // what tests leave there is removed with it
  chmodSync(folder, 0o755)
  const processesFolder = join(folder, 'processes')
  mkdirSync(processesFolder)
  project.provide('processesFolder', processesFolder)
  const server = await startServer(folder)
  const admin = new pg.Client({ connectionString: server.databaseUrl })
  await admin.connect()
  if (!OTHER_SERVER) await hashQuickly(admin)
  await admin.end()
  const workerUrls = await workersOf(server.databaseUrl)
  await makeTemplates(server.databaseUrl, workerUrls)
  project.provide('serverUrl', server.databaseUrl)
  project.provide('workerUrls', workerUrls)
  // Each test has its own database, so idle connections are closed soon, or PostgreSQL would run out of them.
  const pooler = await pgbouncer?.startPgBouncer(server.databaseUrl, ['pool_mode = session', 'server_idle_timeout = 2'])
  project.provide('pgbouncerPort', pooler ? Number(new URL(pooler.through(server.databaseUrl)).port) : null)
  return async () => {
    for (const id of readdirSync(processesFolder)) endProcess(Number(id))
    await pooler?.stop()
    await server.stop()
    removeFolder(folder)
  }
}
