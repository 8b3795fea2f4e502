import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './contestants/contestant.ts'

/** A new data folder below the project, so on a real disk: if /tmp is in memory, commits there cost nothing. */
export function newDataFolder(): string {
  const parent = join(ROOT, '.data')
  mkdirSync(parent, { recursive: true })
  const folder = mkdtempSync(join(parent, 'bench-'))
  chmodSync(folder, 0o755)
  return folder
}

/** Removes the folder and its PostgreSQL cluster, which as root is elsewhere (src/platform/db/embedded/cluster.ts). */
export function removeDataFolder(folder: string): void {
  const link = join(folder, 'postgres')
  if (existsSync(link)) {
    const cluster = realpathSync(link)
    for (const path of [cluster, `${cluster}.owner`]) rmSync(path, { recursive: true, force: true })
  }
  rmSync(folder, { recursive: true, force: true })
}
