import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * The version that is in use while the next one is rolled out. Set this to the commit and the last migration of each
 * release when it is made; until 1.0.0, to the commit from which on the schema only grows.
 */
export const LAST_RELEASE = {
  commit: 'b255234055f99766ac5475c58de0d7857ccd28dd',
  lastMigration: '0005_operations',
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

const isHere = (): boolean =>
  spawnSync('git', ['cat-file', '-e', `${LAST_RELEASE.commit}^{commit}`], { cwd: ROOT }).status === 0

/** Whether the sources of the last release name a database function; undefined if this clone does not have the commit. */
export const lastReleaseNames = (name: string): boolean | undefined =>
  isHere()
    ? spawnSync('git', ['grep', '-qw', name, LAST_RELEASE.commit, '--', 'src'], { cwd: ROOT }).status === 0
    : undefined

/** Builds the last release in its own folder with today's node_modules; undefined if this clone does not have the commit. */
export function buildLastRelease(): string | undefined {
  const { commit } = LAST_RELEASE
  if (!isHere()) return undefined
  const folder = join(ROOT, 'node_modules', '.cache', `release-${commit.slice(0, 12)}`)
  if (existsSync(folder)) return folder
  mkdirSync(dirname(folder), { recursive: true })
  const making = mkdtempSync(`${folder}-`)
  const parts = ['src', 'migrations', 'views', 'package.json', 'tsconfig.json', '.bundle.js']
  const archive = execFileSync('git', ['archive', commit, ...parts], { cwd: ROOT, maxBuffer: 2 ** 28 })
  execFileSync('tar', ['-x', '-C', making], { input: archive })
  symlinkSync(join(ROOT, 'node_modules'), join(making, 'node_modules'))
  // Without type checks, which were done for the release: this takes a tenth of the time.
  execFileSync(join(ROOT, 'node_modules', '.bin', 'tsc'), ['--noCheck'], { cwd: making })
  execFileSync(process.execPath, ['.bundle.js'], { cwd: making })
  renameSync(making, folder)
  return folder
}
