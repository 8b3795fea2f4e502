import { totalmem } from 'node:os'
import { resolve } from 'node:path'
import type { Log } from '../../lib/log.ts'
import { freePort } from '../../lib/web/listen.ts'
import { locateBinaries, unprivilegedOwner } from './binaries.ts'
import { ensureCluster, refuseLostCluster, SUPERUSER } from './cluster.ts'
import { diagnoseFolder } from './diagnosis.ts'
import { keepRunning } from './keep-running.ts'
import { launch } from './launch.ts'
import { awaitPredecessor, claimDataDir, type Purpose } from './lock.ts'
import { keptSecrets } from './secrets.ts'

export interface EmbeddedServer {
  readonly databaseUrl: string
  /** The SECRET_KEY kept in the data folder, used if SECRET_KEY is not set. */
  readonly secretKey: string
  stop(): Promise<void>
}

export const databaseUrlOf = (password: string, port: number): string =>
  `postgres://${SUPERUSER}:${password}@127.0.0.1:${port}/postgres`

/** A quarter of the memory, as PostgreSQL's manual advises, at most 4 GiB; usually allocated only as data fills it. */
const sharedBuffersMb = (): number => {
  const bytes = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY)
  return Math.min(4096, Math.max(128, Math.floor(bytes / 4 / 2 ** 20)))
}

/** The server logs only start, stop and fatal errors: ERROR lines would quote values. */
const serverArgs = (cluster: string, port: number, settings: Readonly<Record<string, string>>): string[] => {
  const options = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    log_min_messages: 'log',
    log_min_error_statement: 'panic',
    log_error_verbosity: 'terse',
    max_connections: '200',
    shared_buffers: `${sharedBuffersMb()}MB`,
    ...settings,
  }
  const given = Object.entries(options).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  return ['-D', cluster, '-p', String(port), ...given]
}

interface EmbeddedOptions {
  readonly purpose?: Purpose
  readonly settings?: Readonly<Record<string, string>>
}

/** Starts the PostgreSQL of `dataDir` (created on the first start) on a free loopback port. */
export async function startEmbedded(
  dataDirectory: string,
  log: Log,
  { purpose = 'service', settings = {} }: EmbeddedOptions = {},
): Promise<EmbeddedServer> {
  const dataDir = resolve(dataDirectory)
  const release = await claimDataDir(dataDir, purpose)
  try {
    const owner = unprivilegedOwner()
    const binaries = await locateBinaries(owner)
    refuseLostCluster(dataDir)
    const { password, secretKey } = keptSecrets(dataDir)
    const cluster = await ensureCluster(dataDir, password, binaries, owner).catch((error: Error) => {
      throw explained(error, dataDir)
    })
    await awaitPredecessor(cluster)
    const port = await freePort()
    const command = [binaries.postgres, ...serverArgs(cluster, port, settings)]
    const stop = await keepRunning(() => launch(command, owner, log), dataDir, log)
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
    // Our own errors already say how to fix it.
    throw 'code' in (error as Error) ? explained(error as Error, dataDir) : error
  }
}

function explained(error: Error, dataDir: string): Error {
  const message = diagnoseFolder(error.message, dataDir)
  return message === undefined ? error : new Error(message)
}
