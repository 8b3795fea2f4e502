import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { totalmem } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../lib/listen.ts'
import type { Log } from '../../lib/log.ts'
import { locateBinaries, type ProcessOwner, unprivilegedOwner } from './binaries.ts'
import { ensureCluster, SUPERUSER } from './cluster.ts'
import { awaitPredecessor, claimDataDir, type Purpose } from './lock.ts'

export interface EmbeddedServer {
  readonly databaseUrl: string
  /** A key kept beside the data, for when SECRET_KEY is not set. */
  readonly secretKey: string
  stop(): Promise<void>
}

interface KeptSecrets {
  readonly password: string
  readonly secretKey: string
}

export function keptSecrets(dataDir: string): KeptSecrets {
  const file = join(dataDir, 'secrets.json')
  if (!existsSync(file)) {
    const fresh: KeptSecrets = {
      password: randomBytes(24).toString('hex'),
      secretKey: randomBytes(48).toString('base64'),
    }
    writeFileSync(`${file}.new`, JSON.stringify(fresh), { mode: 0o600 })
    renameSync(`${file}.new`, file)
  }
  chmodSync(file, 0o600)
  return JSON.parse(readFileSync(file, 'utf8')) as KeptSecrets
}

export const databaseUrlOf = (password: string, port: number): string =>
  `postgres://${SUPERUSER}:${password}@127.0.0.1:${port}/postgres`

// The shell ends PostgreSQL (SIGINT: fast shutdown) when its standard input closes. That happens also when this
// process is killed outright, so no server is ever left behind.
const SUPERVISE = `
  exec 3<&0
  "$@" </dev/null 3<&- & server=$!
  { read -r _ <&3; kill -INT "$server"; } 2>/dev/null & watcher=$!
  wait "$server"; code=$?
  kill "$watcher" 2>/dev/null
  exit "$code"
`

/** A quarter of the memory that there is, as PostgreSQL's manual advises, 4 GiB at most; as a rule taken only as data fills it. */
const sharedBuffersMb = (): number => {
  const bytes = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY)
  return Math.min(4096, Math.max(128, Math.floor(bytes / 4 / 2 ** 20)))
}

/** Only start, stop and what is fatal reaches the server's log: its ERROR lines would quote values. */
const serverArgs = (cluster: string, port: number): string[] => {
  const options = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    log_min_messages: 'log',
    log_min_error_statement: 'panic',
    log_error_verbosity: 'terse',
    max_connections: '200',
    shared_buffers: `${sharedBuffersMb()}MB`,
  }
  return [
    '-D',
    cluster,
    '-p',
    String(port),
    ...Object.entries(options).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ]
}

/** Starts the PostgreSQL of `dataDir` (made on the first start) on a free port of the loopback address. */
export async function startEmbedded(
  dataDirectory: string,
  log: Log,
  purpose: Purpose = 'service',
): Promise<EmbeddedServer> {
  const dataDir = resolve(dataDirectory)
  const release = await claimDataDir(dataDir, purpose)
  try {
    const owner = unprivilegedOwner()
    const binaries = await locateBinaries(owner)
    const { password, secretKey } = keptSecrets(dataDir)
    const cluster = await ensureCluster(dataDir, password, binaries, owner)
    await awaitPredecessor(cluster)
    const port = await freePort()
    const command = [binaries.postgres, ...serverArgs(cluster, port)]
    const stop = await keepRunning(command, owner, log)
    return {
      databaseUrl: databaseUrlOf(password, port),
      secretKey,
      stop: async () => {
        await stop()
        release()
      },
    }
  } catch (error) {
    release()
    throw error
  }
}

/** Runs the server until told to stop, and again when it ends by itself. Resolves once it accepts connections. */
async function keepRunning(command: string[], owner: ProcessOwner | undefined, log: Log): Promise<() => Promise<void>> {
  let stopping = false
  let current = await launch(command, owner, log)
  const watch = (server: ChildProcess): void => {
    server.once('exit', async (code) => {
      if (stopping) return
      log.error({ code }, 'the embedded PostgreSQL ended by itself; starting it again')
      await sleep(200)
      current = await launch(command, owner, log).catch((error) => {
        log.fatal({ err: error }, 'the embedded PostgreSQL does not start again')
        process.exit(1)
      })
      watch(current)
    })
  }
  watch(current)
  return async () => {
    stopping = true
    if (current.exitCode !== null) return
    const ended = once(current, 'exit')
    current.stdin?.end()
    await ended
  }
}

/** A group of its own keeps the terminal's Ctrl-C from the server: it must outlive the requests in flight. */
async function launch(command: string[], owner: ProcessOwner | undefined, log: Log): Promise<ChildProcess> {
  const server = spawn('/bin/sh', ['-c', SUPERVISE, 'sh', ...command], {
    ...owner,
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'pipe'],
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
  })
  let said = ''
  await new Promise<void>((ready, failed) => {
    server.stderr.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-4_000)
      log.debug({ postgres: chunk.toString().trim() })
      if (said.includes('ready to accept connections')) ready()
    })
    server.once('exit', () => failed(new Error(`PostgreSQL did not start: ${said.trim()}`)))
  })
  return server
}
