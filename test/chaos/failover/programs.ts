import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Programs from Debian packages, run in the foreground with their output in a file. */

const PACKAGES = { patroni: 'patroni', etcd: 'etcd-server', haproxy: 'haproxy' } as const

const isInstalled = (program: string): boolean => spawnSync(program, ['--help']).error === undefined

/** The folder with the programs of the newest PostgreSQL installed by Debian packages. */
export function postgresFolder(): string | undefined {
  const all = '/usr/lib/postgresql'
  const versions = existsSync(all) ? readdirSync(all).sort((one, other) => Number(other) - Number(one)) : []
  return versions.map((version) => join(all, version, 'bin')).find((folder) => existsSync(join(folder, 'postgres')))
}

/** Required packages that are not installed. */
export const missingPackages = (): string[] => [
  ...Object.entries(PACKAGES).flatMap(([program, name]) => (isInstalled(program) ? [] : [name])),
  ...(postgresFolder() ? [] : ['postgresql']),
]

export const patroniVersion = (): string =>
  /[\d.]+/.exec(spawnSync('patroni', ['--version'], { encoding: 'utf8' }).stdout)?.[0] ?? ''

/** Before 3.0.3, a former leader could overwrite the name of the new one in etcd. */
export const isTooOld = (version: string): boolean =>
  version !== '' && version.localeCompare('3.0.3', undefined, { numeric: true }) < 0

/** The user to run as: PostgreSQL refuses to run as root. */
export function owner(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {}
  const [, , uid, gid] = /^postgres:.*$/m.exec(readFileSync('/etc/passwd', 'utf8'))?.[0].split(':') ?? []
  return { uid: Number(uid), gid: Number(gid) }
}

export interface Program {
  readonly pid: number
  readonly child: ChildProcess
  readonly log: string
  /** Throws if it has ended, with the last part of its output. */
  assertRuns(): void
  /** Ends it; resolves once it has ended. */
  stop(): Promise<void>
}

const KILL_AFTER_MS = 20_000
const LOG_SHOWN = 4_000

export function startProgram(name: string, args: readonly string[], folder: string, log: string): Program {
  const file = join(folder, log)
  const output = openSync(file, 'a')
  const child = spawn(name, args, {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, LANG: 'C.UTF-8', PATRONI_ETCD3_USE_PROXIES: 'true' },
    stdio: ['ignore', output, output],
    ...owner(),
  })
  const ended = once(child, 'exit')
  let notStarted: Error | undefined
  ended.catch((error) => {
    notStarted = error
  })
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null || notStarted !== undefined
  return {
    pid: child.pid as number,
    child,
    log: file,
    assertRuns: () => {
      if (!hasEnded()) return
      const how = notStarted?.message ?? child.signalCode ?? `exit code ${child.exitCode}`
      throw new Error(`${name} ended by itself (${how}):\n${readFileSync(file, 'utf8').slice(-LOG_SHOWN)}`)
    },
    stop: async () => {
      if (hasEnded()) return
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS)
      await ended
      clearTimeout(timer)
    },
  }
}
