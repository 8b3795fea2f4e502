import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../../src/platform/lib/web/listen.ts'
import { startOptions } from '../../start-options.ts'

export const CONTESTANTS = ['gatehouse', 'plain', 'checked', 'bare', 'oidc-provider'] as const
/** Only where `--contestants` names it: Gatehouse with a process for each core, beside the one of `gatehouse`. */
export const ALL_PROCESSES = 'gatehouse-all'
/**
 * `gatehouse-10k` is Gatehouse again, on a database with ten thousand tokens, beside one with more (--tokens). `wrong`
 * answers wrongly: a test sees a run with it fail. `gatehouse-a5` is Gatehouse, asked for A5 between turns of another work.
 */
export type Name = (typeof CONTESTANTS)[number] | typeof ALL_PROCESSES | 'gatehouse-10k' | 'gatehouse-a5' | 'wrong'

export interface Contestant {
  readonly name: Name
  readonly port: number
  readonly pid: number
  /** Asks the process to write a list of requests that only it can make (oidc-provider keeps its tokens in memory). */
  prepare(list: object): Promise<void>
  stop(): Promise<void>
}

export interface Connection {
  readonly databaseUrl: string
  readonly secretKey: string
}

/** The top level of the project: this file runs from .build/.bench/test/bench/contestants. */
export const ROOT = fileURLToPath(new URL('../../../../../', import.meta.url))

export const INHERITED = { PATH: process.env.PATH, HOME: process.env.HOME }

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
}

/** All but Gatehouse: a module of this folder in a process of its own. */
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
  /** Where its output goes, as it would go to a terminal or a file. */
  readonly folder: string
  /** Settings to try, on top of the defaults. */
  readonly settings: Readonly<Record<string, string>>
  /** Options of node, such as --cpu-prof. */
  readonly nodeOptions: readonly string[]
}

/** What `npm start` runs, with its defaults: demo, durable jobs and log included. Only the database is given to it. */
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
      REFRESHES_PER_MINUTE: '10000000', // one app asks for all
      ACCESS_TOKENS_PER_GRANT: '10000', // and of few grants; each answer's row is counted
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
