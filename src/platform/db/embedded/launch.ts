import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface, type Interface } from 'node:readline'
import type { Log } from '../../lib/log.ts'
import type { ProcessOwner } from './binaries.ts'

// The shell stops PostgreSQL (SIGINT: fast shutdown) when its standard input closes. That also happens when this
// process is killed outright, so no server is ever left behind.
const SUPERVISE = `
  exec 3<&0
  "$@" </dev/null 3<&- & server=$!
  { read -r _ <&3; kill -INT "$server"; } 2>/dev/null & watcher=$!
  wait "$server"; code=$?
  kill "$watcher" 2>/dev/null
  exit "$code"
`

const OUTPUT_GRACE_MS = 100

export const isReady = (line: string): boolean => line.includes('ready to accept connections')

/** A PostgreSQL that has been started but may not be ready yet. */
export interface Launched {
  readonly server: ChildProcess
  /** Resolves with true once it accepts connections, with false if it ended before that. */
  readonly ready: Promise<boolean>
  /** Its log. */
  readonly lines: Interface
  recentOutput(): string
}

/** Detached, so that the terminal's Ctrl-C does not reach the server: it must outlive the requests in flight. */
export function launch(command: readonly string[], owner: ProcessOwner | undefined, log: Log): Launched {
  const server = spawn('/bin/sh', ['-c', SUPERVISE, 'sh', ...command], {
    ...owner,
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'pipe'],
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
  })
  server.stdin.on('error', () => {}) // the server may have ended before it was stopped
  let output = ''
  const lines = createInterface({ input: server.stderr })
  const ready = new Promise<boolean>((resolve) => {
    lines.on('line', (line) => {
      output = `${output}${line}\n`.slice(-4_000)
      log.debug({ postgres: line })
      if (isReady(line)) resolve(true)
    })
    // The last output may still be on its way. The pipe's end is no sign: a backend that outlives the server holds it
    // open.
    server.once('exit', () => setTimeout(resolve, OUTPUT_GRACE_MS, false))
    server.once('error', (error) => {
      output += `FATAL:  ${error.message}`
      resolve(false)
    })
  })
  return { server, ready, lines, recentOutput: () => output }
}
