import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from './free-port.ts'

/** Starts PgBouncer in front of a PostgreSQL. */

const PROGRAM = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer', '/opt/homebrew/bin/pgbouncer']
  .concat((process.env.PATH ?? '').split(':').map((folder) => join(folder, 'pgbouncer')))
  .find((path) => spawnSync(path, ['--version']).status === 0)

/** For `describe.skipIf`. */
export const pgbouncerMissing = PROGRAM === undefined

if (pgbouncerMissing) {
  process.stderr.write('SKIPPED: tests of PgBouncer, which is not installed here (Debian: apt-get install pgbouncer)\n')
}

export interface PgBouncer {
  /** The URL of this database through PgBouncer. */
  through(databaseUrl: string): string
  stop(): Promise<void>
}

/** `settings` are lines of pgbouncer.ini, such as `pool_mode = session`. */
export async function startPgBouncer(serverUrl: string, settings: readonly string[]): Promise<PgBouncer> {
  const { hostname, port: serverPort, username, password } = new URL(serverUrl)
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-pgbouncer-'))
  chmodSync(folder, 0o755)
  const port = await freePort()
  const file = join(folder, 'pgbouncer.ini')
  const lines = [
    '[databases]',
    `* = host=${hostname} port=${serverPort} user=${username} password=${password}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    'max_client_conn = 1000',
    'default_pool_size = 60',
    ...settings,
  ]
  writeFileSync(file, lines.join('\n'))
  // PgBouncer refuses to run as root.
  const owner = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
  const child: ChildProcess = spawn(PROGRAM ?? 'pgbouncer', [file], { ...owner, stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  await accepting(port, () => (child.exitCode === null ? undefined : said))
  return {
    through: (databaseUrl) => {
      const url = new URL(databaseUrl)
      url.hostname = '127.0.0.1'
      url.port = String(port)
      return url.href
    },
    stop: async () => {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function accepting(port: number, failure: () => string | undefined): Promise<void> {
  for (let waited = 0; waited < 200; waited++) {
    const socket = connect(port, '127.0.0.1')
    const accepted = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    if (accepted) return
    const said = failure()
    if (said !== undefined) throw new Error(`PgBouncer has ended:\n${said}`)
    await sleep(20)
  }
  throw new Error('PgBouncer does not listen within 4 s')
}
