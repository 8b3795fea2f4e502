import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import { diagnoseEnd, diagnoseStart } from '../../src/platform/db/embedded/diagnosis.ts'
import { keepRunning } from '../../src/platform/db/embedded/keep-running.ts'
import { launch } from '../../src/platform/db/embedded/launch.ts'
import { keptSecrets } from '../../src/platform/db/embedded/secrets.ts'
import { startEmbedded } from '../../src/platform/db/embedded/server.ts'
import { openLog } from '../../src/platform/lib/log.ts'
import { type RunningProcess, startProcess } from '../acceptance/system.ts'
import { until } from '../until.ts'

/** The PostgreSQL that the service runs itself: problems of its folder, and its sudden end. */

const log = openLog({ level: 'silent', pretty: false })
const home = mkdtempSync(join(tmpdir(), 'gatehouse-embedded-'))
chmodSync(home, 0o755)
const mounts: string[] = []
let service: RunningProcess | undefined
afterEach(async () => {
  if (service?.child.exitCode === null) await service.stop()
  service = undefined
})
afterAll(() => {
  for (const folder of mounts) execFileSync('umount', [folder])
  rmSync(home, { recursive: true, force: true })
})

/** A data folder that looks used, with as much of a cluster as is checked before PostgreSQL starts. */
function usedFolder(name: string, version = '18'): string {
  const folder = join(home, name)
  mkdirSync(join(folder, 'postgres'), { recursive: true })
  writeSecrets(folder)
  writeFileSync(join(folder, 'postgres', 'PG_VERSION'), `${version}\n`)
  return folder
}
const writeSecrets = (folder: string) =>
  writeFileSync(join(folder, 'secrets.json'), JSON.stringify({ password: 'p', secretKey: 'k'.repeat(48) }))

/** A small file system of its own; undefined if this user may not mount one. */
function smallDisk(name: string, options: string): string | undefined {
  const folder = join(home, name)
  mkdirSync(folder)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'none', folder], { stdio: 'ignore' })
  } catch {
    process.stderr.write(`SKIPPED: ${name} needs the right to mount a file system (root)\n`)
    return undefined
  }
  mounts.push(folder)
  return folder
}

describe('a data folder', () => {
  const restore = 'restore it from a backup; to start from scratch, set DATA_DIR to an empty folder'
  it('whose secrets.json is missing, truncated or unreadable is refused and not replaced', async () => {
    const folder = usedFolder('secrets')
    const file = join(folder, 'secrets.json')
    const whole = readFileSync(file, 'utf8')
    for (const cut of ['', whole.slice(0, 40), '{}', '{"password":"p"}']) {
      writeFileSync(file, cut)
      await expect(startEmbedded(folder, log)).rejects.toThrow(
        `${file} is cut short or was changed, and the database cannot be opened without: ${restore}`,
      )
      expect(readFileSync(file, 'utf8')).toBe(cut)
    }
    rmSync(file)
    await expect(startEmbedded(folder, log)).rejects.toThrow(
      `DATA_DIR ${folder} holds a database, and its keys in secrets.json are gone: ${restore}`,
    )
    mkdirSync(file) // unreadable even for root
    await expect(startEmbedded(folder, log)).rejects.toThrow(
      /secrets\.json cannot be read \(EISDIR.*\): give it to the user that runs Gatehouse, with mode 600$/,
    )
  })

  it('whose database is missing is refused, and nothing is created or deleted', async () => {
    const [linked, other] = [usedFolder('linked'), usedFolder('not a database')]
    const elsewhere = join(home, 'not mounted')
    rmSync(join(linked, 'postgres'), { recursive: true })
    symlinkSync(elsewhere, join(linked, 'postgres'))
    rmSync(join(other, 'postgres', 'PG_VERSION'))
    writeFileSync(join(other, 'postgres', 'pg_hba.conf'), '')
    for (const [folder, place] of [
      [linked, elsewhere],
      [other, join(other, 'postgres')],
    ] as const) {
      const message = `DATA_DIR ${folder} has its database in ${place}, and there is none: ${restore}`
      await expect(startEmbedded(folder, log)).rejects.toThrow(message)
      rmSync(join(folder, 'secrets.json'))
      await expect(startEmbedded(folder, log)).rejects.toThrow(message)
      expect(readdirSync(folder).filter((name) => name === 'secrets.json')).toEqual([])
    }
    expect(readlinkSync(join(linked, 'postgres'))).toBe(elsewhere)
    expect(readdirSync(join(other, 'postgres'))).toEqual(['pg_hba.conf'])
  })

  it('keeps its secrets once generated', () => {
    const folder = join(home, 'fresh')
    mkdirSync(folder)
    expect(keptSecrets(folder)).toEqual(keptSecrets(folder))
  })

  it("with another PostgreSQL version's data is refused", async () => {
    const folder = usedFolder('version', '17')
    await expect(startEmbedded(folder, log)).rejects.toThrow(
      `DATA_DIR ${folder} holds data of PostgreSQL 17, and this Gatehouse includes PostgreSQL 18: migrate it with pg_dump 17, or set DATA_DIR to another folder`,
    )
  })

  it('on a read-only file system is refused', async (test) => {
    const folder = smallDisk('read-only', 'size=1m,ro')
    if (!folder) return test.skip()
    await expect(startEmbedded(folder, log)).rejects.toThrow(
      /^DATA_DIR .*read-only cannot be used: EROFS: .*\nset it to a folder that this user may write to$/,
    )
  })

  it('on a disk that is too small for a first start is refused', async (test) => {
    const folder = smallDisk('too-small', 'size=8m,mode=755')
    if (!folder) return test.skip()
    await expect(startEmbedded(folder, log)).rejects.toThrow(
      `the disk that holds ${folder} is full; free some space on it`,
    )
  })
})

describe('the output of PostgreSQL', () => {
  it.each([
    [
      'FATAL:  pre-existing shared memory block (key 5, ID 7) is still in use',
      /^a process of the PostgreSQL that ran on \/data before has not ended yet/,
      true,
    ],
    [
      'FATAL:  could not write lock file "postmaster.pid": No space left on device',
      /^the disk that holds \/data is full/,
      false,
    ],
    ['LOG:  starting\nFATAL:  something new\n', /^something new$/, false],
    ['FATAL:  the database system is starting up\n', /^it ended without giving a reason$/, false],
  ])('gives the reason of a failed start: %s', (output, message, isTransient) => {
    expect(diagnoseStart(output, '/data')).toEqual({ message: expect.stringMatching(message), isTransient })
  })
  it('to clients is not taken as the reason of its end', () => {
    expect(diagnoseEnd('FATAL:  password authentication failed for user "x"\nLOG:  bye', '/data')).toBeUndefined()
    const panic = 'PANIC:  could not write to file "pg_wal/xlogtemp.1": No space left on device'
    expect(diagnoseEnd(panic, '/data')).toMatch(/^the disk that holds \/data is full/)
  })
})

const statusOf = async ({ origin }: RunningProcess): Promise<number | undefined> =>
  (await fetch(`${origin}/readyz`).catch(() => undefined))?.status

async function startOn(folder: string, settings: Record<string, string> = {}) {
  const running = await startProcess({ DATA_DIR: folder, LOG_LEVEL: 'info', ADMIN_TOKEN: '', ...settings })
  service = running
  const cluster = realpathSync(join(folder, 'postgres'))
  const [pid, , , port] = readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n')
  const { password } = keptSecrets(folder)
  return {
    running,
    postmaster: Number(pid),
    url: `postgres://gatehouse:${password}@127.0.0.1:${port}/postgres`,
  }
}

/** Checks that the token printed at the start works. */
async function canOperate({ origin, output }: RunningProcess): Promise<void> {
  const [, token] = /as {6}ADMIN_TOKEN (\S+)/.exec(output()) ?? []
  const answer = await fetch(`${origin}/admin/v1/apps`, { headers: { Authorization: `Bearer ${token}` } })
  expect([answer.status, output()]).toEqual([200, expect.stringContaining(`Console ${origin}`)])
}

describe('a PostgreSQL that is killed', () => {
  it('while one of its backends hangs is back once that has ended, with 503 until then', async () => {
    const folder = join(home, 'killed')
    mkdirSync(folder)
    chmodSync(folder, 0o755)
    const { running, postmaster, url } = await startOn(folder)
    await canOperate(running)
    const client = new pg.Client(url)
    client.on('error', () => {})
    await client.connect()
    const backend: number = (await client.query('select pg_backend_pid() as pid')).rows[0].pid
    process.kill(backend, 'SIGSTOP')
    try {
      process.kill(postmaster, 'SIGKILL')
      await until(() => running.output().includes('has not ended yet'), running.output)
      await sleep(1_000)
      expect(await statusOf(running)).toBe(503)
    } finally {
      process.kill(backend, 'SIGKILL')
    }
    await until(async () => (await statusOf(running)) === 200, running.output)
    expect(running.output()).toContain('the embedded PostgreSQL is back')
    expect(await running.stop()).toBe(0)
  })

  it('on a full disk is back once there is space again', async (test) => {
    const folder = smallDisk('full', 'size=180m,mode=755')
    if (!folder) return test.skip()
    const { running, url } = await startOn(folder, { DEMO: 'off' })
    const filler = join(folder, 'filler')
    execFileSync('sh', ['-c', 'cat /dev/zero > "$1" || true', 'sh', filler], { stdio: 'ignore' })
    // PostgreSQL crashes when it cannot write its log, and mostly again when it recovers.
    const write = async () => {
      const client = new pg.Client(url)
      client.on('error', () => {})
      await client.connect()
      const message = `select pg_logical_emit_message(true, '', repeat('x', 8000000))`
      await client.query(message).finally(() => client.end().catch(() => {}))
    }
    await until(async () => {
      await write().catch(() => {})
      return (await statusOf(running)) === 503
    }, running.output)
    await until(
      () => running.output().includes(`the disk that holds ${folder} is full; free some space on it`),
      running.output,
    )
    rmSync(filler)
    await until(async () => (await statusOf(running)) === 200, running.output)
    expect(await running.stop()).toBe(0)
  })

  it('and recovers by itself is reported with the reason, once, and when it is back', async () => {
    const lines: string[] = []
    const panic = 'PANIC:  could not write to file "pg_wal/xlogtemp.1": No space left on device'
    const script = `r="LOG:  database system is ready to accept connections"; echo "$r" >&2; for i in 1 2 3; do
      sleep 0.1; echo '${panic}' >&2; done; sleep 0.1; echo "$r" >&2; sleep 3`
    const stop = await keepRunning(
      () => launch(['/bin/sh', '-c', script], undefined, log),
      '/data',
      openLog({ level: 'info', pretty: false }, { write: (line: string) => lines.push(line) }),
    )
    await until(() => lines.length > 1).finally(stop)
    expect(lines.slice(0, 2).map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({
        level: 50,
        reason: 'the disk that holds /data is full; free some space on it',
        msg: 'a process of the embedded PostgreSQL crashed; it recovers',
      }),
      expect.objectContaining({ level: 30, msg: 'the embedded PostgreSQL is back' }),
    ])
  })

  it('repeatedly is given up with the reason', async () => {
    const exit = vi.spyOn(process, 'exit').mockReturnValue(undefined as never)
    const lines: string[] = []
    const capturingLog = openLog({ level: 'info', pretty: false }, { write: (line: string) => lines.push(line) })
    let starts = 0
    const script = () =>
      ++starts === 1
        ? 'echo "LOG:  database system is ready to accept connections" >&2; sleep 0.2'
        : 'echo "FATAL:  could not write lock file: No space left on device" >&2; exit 1'
    const stop = await keepRunning(
      () => launch(['/bin/sh', '-c', script()], undefined, log),
      '/data',
      capturingLog,
      1_000,
    )
    await until(() => exit.mock.calls.length > 0)
    await stop()
    exit.mockRestore()
    expect(starts).toBeGreaterThan(2)
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({
      level: 60,
      reason: 'the disk that holds /data is full; free some space on it',
      msg: 'the embedded PostgreSQL could not be restarted; Gatehouse is stopping',
    })
  })
})
