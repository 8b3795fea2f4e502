import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Command } from './languages.ts'

/** Runs commands of other languages; README.md says how they talk with us. */

export interface Place {
  readonly folder: string
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Milliseconds after which the command is ended. */
  readonly limitMs: number
}

export interface Ended {
  /** Undefined when all went well, else the last that was said. */
  readonly problem: string | undefined
  readonly steps: readonly string[]
}

/** The address at which a browser comes back that was sent to this one. */
type Visit = (url: string) => Promise<string>

const LINES_OF_A_PROBLEM = 12

export async function runProgram([program, ...argv]: Command, place: Place, visit?: Visit): Promise<Ended> {
  const steps: string[] = []
  const said: string[] = []
  const signal = AbortSignal.timeout(place.limitMs)
  // A group of its own: `go run` is the parent of what it has built, and both have to end.
  const child = spawn(program, argv, { cwd: place.folder, env: place.environment, detached: true })
  const kill = () => child.pid && process.kill(-child.pid, 'SIGKILL')
  const stop = () => {
    said.push(`ended after ${place.limitMs / 1000} s`)
    kill()
  }
  signal.addEventListener('abort', stop)
  process.once('exit', kill) // when we are stopped half-way
  child.stdin.on('error', () => {}) // it has ended without reading
  createInterface(child.stderr).on('line', (line) => said.push(line))
  createInterface(child.stdout).on('line', async (line) => {
    const [, word, rest = ''] = /^(step|visit) (.*)$/.exec(line) ?? []
    if (word === 'step') steps.push(rest)
    else if (word === 'visit' && visit) {
      const back = await visit(rest).catch((error: Error) => {
        said.push(`the browser did not come back: ${error.message}`)
        child.stdin.end()
      })
      if (back !== undefined) child.stdin.write(`${back}\n`)
    } else said.push(line)
  })
  await new Promise<void>((resolve) => {
    child.once('close', () => resolve())
    child.once('error', (error) => {
      said.push(String(error))
      resolve()
    })
  })
  signal.removeEventListener('abort', stop)
  process.off('exit', kill)
  const problem = child.exitCode === 0 ? undefined : said.slice(-LINES_OF_A_PROBLEM).join('\n') || 'it said nothing'
  return { problem, steps }
}
