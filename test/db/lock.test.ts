import { spawnSync } from 'node:child_process'
import fs, { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { addressOfRunning, claimDataDir, keepAddress } from '../../src/platform/db/embedded/lock.ts'

const home = mkdtempSync(join(tmpdir(), 'gatehouse-lock-'))
afterAll(() => rmSync(home, { recursive: true, force: true }))

it('a DATA_DIR that cannot be written is reported with the remedy', async () => {
  const file = join(home, 'file')
  writeFileSync(file, '')
  for (const dataDir of [file, join(file, 'below')]) {
    await expect(claimDataDir(dataDir, 'service')).rejects.toThrow(
      /^DATA_DIR .*file.* cannot be used: .*\nset it to a folder that this user may write to$/,
    )
  }
})

it('a lock that was taken since a stale one was found is left to its holder', async () => {
  const dataDir = join(home, 'raced')
  mkdirSync(dataDir)
  const file = join(dataDir, 'gatehouse.pid')
  writeFileSync(file, '999999999 1 service')
  const read = fs.readFileSync
  let other: Promise<() => void> | undefined
  const restore = () => {
    fs.readFileSync = read
    syncBuiltinESMExports()
  }
  // The other one claims the folder between the moment when this one has read the stale lock and its removal.
  fs.readFileSync = ((...given: Parameters<typeof read>) => {
    const content = read(...given)
    if (given[0] !== file) return content
    restore()
    other = claimDataDir(dataDir, 'service')
    return content
  }) as typeof read
  syncBuiltinESMExports()
  onTestFinished(restore)
  const one = await Promise.allSettled([claimDataDir(dataDir, 'service')])
  const claims = [...one, ...(await Promise.allSettled([other]))]
  expect(claims.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
})

describe('a process killed while it removed a stale lock', () => {
  it.each([
    ['leaves its turn behind for ten seconds', -10.5],
    ['leaves a turn behind that ends although the clock was set back since', 3_600],
  ])('%s', async (name, seconds) => {
    const dataDir = join(home, name)
    const turn = join(dataDir, 'gatehouse.pid.removing')
    const killed = `
      const fs = require('node:fs')
      fs.mkdirSync(${JSON.stringify(turn)}, { recursive: true })
      fs.writeFileSync(${JSON.stringify(join(dataDir, 'gatehouse.pid'))}, '999999999 1 service')
      process.kill(process.pid, 'SIGKILL')`
    expect(spawnSync(process.execPath, ['-e', killed]).signal).toBe('SIGKILL')
    const at = Date.now() / 1_000 + seconds
    utimesSync(turn, at, at)
    const release = await claimDataDir(dataDir, 'service')
    expect(readFileSync(join(dataDir, 'gatehouse.pid'), 'utf8')).toMatch(new RegExp(`^${process.pid} `))
    expect(existsSync(turn)).toBe(false)
    release()
  })
})

it.runIf(process.platform === 'linux')(
  'the address that a killed service has left does not count for one with the same process id',
  async () => {
    const dataDir = join(home, 'same id')
    mkdirSync(dataDir)
    const file = join(dataDir, 'address')
    // In a container the service may have the same process id each time.
    keepAddress(dataDir, 'http://127.0.0.1:1')
    const left = readFileSync(file, 'utf8')
    writeFileSync(file, left.replace(/^(\d+) \d+ /, '$1 1 '))
    const release = await claimDataDir(dataDir, 'service')
    const found = addressOfRunning(dataDir)
    const forget = keepAddress(dataDir, 'http://127.0.0.1:2')
    expect(await found).toBe('http://127.0.0.1:2')
    forget()
    release()
    expect(await addressOfRunning(dataDir)).toBeUndefined()
  },
)
