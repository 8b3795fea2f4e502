import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './contestants/contestant.ts'

/** A new data folder below the project, so on a real disk: in a /tmp that lies in memory a commit would cost nothing. */
export function newDataFolder(): string {
  const parent = join(ROOT, '.data')
  mkdirSync(parent, { recursive: true })
  const folder = mkdtempSync(join(parent, 'bench-'))
  chmodSync(folder, 0o755)
  return folder
}

/** With the cluster, which may be millions of tokens large and lie elsewhere (src/platform/db/embedded/cluster.ts, under root). */
export function removeDataFolder(folder: string): void {
  const link = join(folder, 'postgres')
  if (existsSync(link)) {
    const cluster = realpathSync(link)
    for (const path of [cluster, `${cluster}.owner`]) rmSync(path, { recursive: true, force: true })
  }
  rmSync(folder, { recursive: true, force: true })
}
