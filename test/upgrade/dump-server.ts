import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../free-port.ts'
import { startPostgres } from '../own-postgres.ts'

/** Servers that the installed pg_dump can read: it refuses servers newer than itself. */

export interface Server {
  /** The URL of an initially empty database. */
  readonly databaseUrl: string
  stop(): Promise<void>
}

/** The major version of pg_dump, such as 18; undefined if it is not installed. */
export function dumpVersion(): number | undefined {
  const { stdout } = spawnSync('pg_dump', ['--version'], { encoding: 'utf8' })
  const version = /\) (\d+)/.exec(stdout ?? '')?.[1]
  return version === undefined ? undefined : Number(version)
}

const NOBODY = 65_534
const EMBEDDED_VERSION = 18

/** Undefined if there is no server of this version or older. */
export function serverFor(version: number): (() => Promise<Server>) | undefined {
  const programs = `/usr/lib/postgresql/${version}/bin`
  if (existsSync(join(programs, 'initdb'))) return () => startFrom(programs)
  return version >= EMBEDDED_VERSION ? startEmbeddedServer : undefined
}

const newFolder = (): string => mkdtempSync(join(tmpdir(), 'gatehouse-backup-'))

async function startEmbeddedServer(): Promise<Server> {
  const folder = newFolder()
  chmodSync(folder, 0o755)
  const { databaseUrl, stop } = await startPostgres(folder)
  return {
    databaseUrl,
    stop: async () => {
      await stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** PostgreSQL does not run as root. */
async function startFrom(programs: string): Promise<Server> {
  const [folder, port] = [newFolder(), await freePort()]
  const isRoot = process.getuid?.() === 0
  if (isRoot) chownSync(folder, NOBODY, NOBODY)
  const owner = isRoot ? { uid: NOBODY, gid: NOBODY } : {}
  const data = join(folder, 'data')
  const run = (program: string, ...args: string[]) =>
    execFileSync(join(programs, program), ['-D', data, ...args], { ...owner, cwd: folder, stdio: 'ignore' })
  run('initdb', '-A', 'trust', '-U', 'postgres', '-E', 'UTF8', '--locale=C')
  run('pg_ctl', '-w', '-l', join(folder, 'log'), '-o', `-p ${port} -k '' -h 127.0.0.1`, 'start')
  return {
    databaseUrl: `postgresql://postgres@127.0.0.1:${port}/postgres`,
    stop: async () => {
      run('pg_ctl', '-w', '-m', 'fast', 'stop')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
