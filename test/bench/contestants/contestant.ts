import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../../src/platform/lib/web/listen.ts'
import { startOptions } from '../../start-options.ts'

export const CONTESTANTS = ['gatehouse', 'plain', 'checked', 'bare', 'oidc-provider'] as const
/** Gatehouse with a process for each core; runs only if `--contestants` names it. */
export const ALL_PROCESSES = 'gatehouse-all'
/**
 * `gatehouse-10k` is another Gatehouse, on a database with ten thousand tokens, to compare with one that has more (--tokens).
 * `wrong` gives wrong responses, for a test that the run then fails. `gatehouse-a5` is Gatehouse running A5 between the
 * turns of another workload.
 */
export type Name = (typeof CONTESTANTS)[number] | typeof ALL_PROCESSES | 'gatehouse-10k' | 'gatehouse-a5' | 'wrong'

export interface Contestant {
  readonly name: Name
  readonly port: number
  readonly pid: number
  /** Makes the process write its own list of requests (oidc-provider keeps its tokens in memory). */
  prepare(list: object): Promise<void>
  stop(): Promise<void>
}

export interface Connection {
  readonly databaseUrl: string
  readonly secretKey: string
}

/** The folder of the project: this file runs from .build/.bench/test/bench/contestants. */
export const ROOT = fileURLToPath(new URL('../../../../../', import.meta.url))

export const INHERITED = { PATH: process.env.PATH, HOME: process.env.HOME }

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
}

/** Starts a contestant other than Gatehouse: a module of this folder in its own process. */
export async function startModule(name: Name, { databaseUrl, secretKey }: Connection): Promise<Contestant> {
  const module = fileURLToPath(new URL(`./${name}.js`, import.meta.url))
  const env = { ...INHERITED, NODE_ENV: 'production', DATABASE_URL: databaseUrl, SECRET_KEY: secretKey }
  const child = fork(module, { env, execArgv: [] })
  const answer = async <T>(): Promise<T> => {
    const ended = once(child, 'exit').then(([code]) => {
      throw new Error(`${name} ended with ${code}`)
    })
    const [message] = await Promise.race([once(child, 'message'), ended])
    return message as T
  }
  const { port } = await answer<{ port: number }>()
  return {
    name,
    port,
    pid: child.pid as number,
    prepare: async (list) => {
      child.send(list)
      const { problem } = await answer<{ problem?: string }>()
      if (problem) throw new Error(problem)
    },
    stop: () => stopChild(child),
  }
}

export interface GatehouseOptions extends Connection {
  readonly name: 'gatehouse' | 'gatehouse-10k' | typeof ALL_PROCESSES
  /** Folder for its log file. */
  readonly folder: string
  /** Settings that override the defaults. */
  readonly settings: Readonly<Record<string, string>>
  /** Options of node, such as --cpu-prof. */
  readonly nodeOptions: readonly string[]
}

/** Runs the same as `npm start`, with its defaults, including the demo, jobs and logging, on a given database. */
export async function startGatehouse(options: GatehouseOptions): Promise<Contestant> {
  const { name, databaseUrl, secretKey, folder, settings, nodeOptions } = options
  const port = await freePort()
  const log = openSync(join(folder, `${name}.log`), 'a')
  const child = spawn(process.execPath, [...startOptions(ROOT), ...nodeOptions, '.build/main.js'], {
    cwd: ROOT,
    env: {
      ...INHERITED,
      DATABASE_URL: databaseUrl,
      SECRET_KEY: secretKey,
      PORT: String(port),
      DEMO: 'on',
      DEMO_PORT: '0',
      REFRESHES_PER_MINUTE: '10000000', // a single app makes all requests
      ACCESS_TOKENS_PER_GRANT: '10000', // for few grants, and every new row has to stay, to be counted
      DEMO_PARTNER_PORT: '0',
      ...settings,
    },
    stdio: ['ignore', log, log],
  })
  await untilReady(port, child, folder)
  const prepare = () => Promise.reject(new Error('Gatehouse prepares no lists'))
  return { name, port, pid: child.pid as number, prepare, stop: () => stopChild(child) }
}

async function untilReady(port: number, child: ChildProcess, folder: string): Promise<void> {
  for (let waited = 0; waited < 30_000; waited++) {
    if (child.exitCode !== null) throw new Error(`Gatehouse does not start; see the *.log files in ${folder}`)
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined)
    if (answer?.status === 200) return
    await sleep(10)
  }
  throw new Error('Gatehouse is not ready after 300 s')
}
