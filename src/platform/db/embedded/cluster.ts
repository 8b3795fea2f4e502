import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { type Binaries, makeForEverybody, type ProcessOwner, SHARED_HOME } from './binaries.ts'
import { RESTORE } from './diagnosis.ts'

export const SUPERUSER = 'gatehouse'

/** Throws if the cluster has gone missing (a disk not mounted): a new one would look as if all users were lost. */
export function refuseLostCluster(dataDir: string): void {
  const cluster = join(dataDir, 'postgres')
  const kept = lstatSync(cluster, { throwIfNoEntry: false })
  if (!kept || existsSync(join(cluster, 'PG_VERSION'))) return
  if (kept.isDirectory() && readdirSync(cluster).length === 0) return
  const place = kept.isSymbolicLink() ? readlinkSync(cluster) : cluster
  throw new Error(`DATA_DIR ${dataDir} has its database in ${place}, and there is none: ${RESTORE}`)
}

/** The cluster's folder, initialised on the first start. It gets its name when complete, so no partial cluster is left. */
export async function ensureCluster(
  dataDir: string,
  password: string,
  binaries: Binaries,
  owner: ProcessOwner | undefined,
): Promise<string> {
  const cluster = join(dataDir, 'postgres')
  if (existsSync(join(cluster, 'PG_VERSION'))) {
    const found = readFileSync(join(cluster, 'PG_VERSION'), 'utf8').trim()
    if (found === binaries.version) return realpathSync(cluster)
    throw new Error(
      `DATA_DIR ${dataDir} holds data of PostgreSQL ${found}, and this Gatehouse includes PostgreSQL ${binaries.version}: migrate it with pg_dump ${found}, or set DATA_DIR to another folder`,
    )
  }
  if (existsSync(cluster)) rmdirSync(cluster)
  if (!owner || everybodyMayEnter(dataDir)) {
    const partial = `${cluster}.new`
    rmSync(partial, { recursive: true, force: true })
    await initialise(partial, password, binaries, owner)
    renameSync(partial, cluster)
    return cluster
  }
  const clusters = join(SHARED_HOME, 'clusters')
  makeForEverybody(clusters)
  const elsewhere = join(clusters, randomBytes(8).toString('hex'))
  await initialise(elsewhere, password, binaries, owner)
  // Only informs people: a missing data folder may have been moved, so its cluster is never deleted.
  writeFileSync(`${elsewhere}.owner`, cluster)
  symlinkSync(elsewhere, cluster)
  return elsewhere
}

async function initialise(folder: string, password: string, binaries: Binaries, owner: ProcessOwner | undefined) {
  mkdirSync(folder, { mode: 0o700 })
  const passwordFile = `${folder}.password`
  writeFileSync(passwordFile, password, { mode: 0o600 })
  if (owner) for (const path of [folder, passwordFile]) chownSync(path, owner.uid, owner.gid)
  const superuser = ['-U', SUPERUSER, '-A', 'scram-sha-256', `--pwfile=${passwordFile}`]
  const args = ['-D', folder, ...superuser, '-E', 'UTF8', '--locale=C']
  const initdb = spawn(binaries.initdb, args, { ...owner, cwd: '/', stdio: ['ignore', 'ignore', 'pipe'] })
  let errorOutput = ''
  initdb.stderr.on('data', (chunk: Buffer) => {
    errorOutput += chunk.toString()
  })
  try {
    const [code] = await once(initdb, 'close')
    if (code !== 0) throw new Error(`initdb failed in ${folder}: ${errorOutput.trim()}`)
  } finally {
    rmSync(passwordFile, { force: true })
  }
}

/** Whether other users can enter `folder`: it and all its parents have the x bit for others. */
function everybodyMayEnter(folder: string): boolean {
  const open = (statSync(folder).mode & 0o001) !== 0
  const parent = dirname(folder)
  return open && (parent === folder || everybodyMayEnter(parent))
}
