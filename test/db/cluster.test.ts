import { existsSync, mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { locateBinaries, makeForEverybody, unprivilegedOwner } from '../../src/platform/db/embedded/binaries.ts'
import { ensureCluster } from '../../src/platform/db/embedded/cluster.ts'

const owner = unprivilegedOwner()
// No other user may enter a folder made by mkdtemp.
const home = mkdtempSync(join(tmpdir(), 'gatehouse-cluster-'))
const made: string[] = []

afterAll(() => {
  for (const folder of [home, ...made, ...made.map((cluster) => `${cluster}.owner`)]) {
    rmSync(folder, { recursive: true, force: true })
  }
})

async function clusterOf(dataDir: string): Promise<string> {
  const cluster = await ensureCluster(join(home, dataDir), 'a password', await locateBinaries(owner), owner)
  made.push(cluster)
  return cluster
}

describe.skipIf(!owner)('the cluster of a private data folder, under root', () => {
  test('survives a move of its data folder and the first start of another one', async () => {
    for (const name of ['first', 'second']) mkdirSync(join(home, name))
    const cluster = await clusterOf('first')
    renameSync(join(home, 'first'), join(home, 'moved'))
    await clusterOf('second')
    expect(existsSync(join(cluster, 'PG_VERSION'))).toBe(true)
    expect(realpathSync(join(home, 'moved', 'postgres'))).toBe(cluster)
    expect(await clusterOf('moved')).toBe(cluster)
  })
})

test('makeForEverybody makes a folder that all users can enter, whatever the umask', () => {
  const before = process.umask(0o077)
  makeForEverybody(join(home, 'shared'))
  process.umask(before)
  expect(statSync(join(home, 'shared')).mode & 0o777).toBe(0o755)
})
