import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Command } from './languages.ts'

/** Runs commands of other languages; README.md describes the protocol. */

export interface Place {
  readonly folder: string
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Milliseconds after which the command is killed. */
  readonly limitMs: number
}

export interface Ended {
  /** Undefined if all went well, else the last lines of output. */
  readonly problem: string | undefined
  readonly steps: readonly string[]
}

/** Sends a browser to this address; returns the address that it is redirected to. */
type Visit = (url: string) => Promise<string>

const LINES_OF_A_PROBLEM = 12

export async function runProgram([program, ...argv]: Command, place: Place, visit?: Visit): Promise<Ended> {
  const steps: string[] = []
  const output: string[] = []
  const signal = AbortSignal.timeout(place.limitMs)
  // In its own process group, because `go run` starts the program that it has built, and both have to end.
  const child = spawn(program, argv, { cwd: place.folder, env: place.environment, detached: true })
  const kill = () => child.pid && process.kill(-child.pid, 'SIGKILL')
  const stop = () => {
    output.push(`ended after ${place.limitMs / 1000} s`)
    kill()
  }
  signal.addEventListener('abort', stop)
  process.once('exit', kill) // if this process is stopped meanwhile
  child.stdin.on('error', () => {}) // the program may end without reading
  createInterface(child.stderr).on('line', (line) => output.push(line))
  createInterface(child.stdout).on('line', async (line) => {
    const [, word, rest = ''] = /^(step|visit) (.*)$/.exec(line) ?? []
    if (word === 'step') steps.push(rest)
    else if (word === 'visit' && visit) {
      const back = await visit(rest).catch((error: Error) => {
        output.push(`the browser did not come back: ${error.message}`)
        child.stdin.end()
      })
      if (back !== undefined) child.stdin.write(`${back}\n`)
    } else output.push(line)
  })
  await new Promise<void>((resolve) => {
    child.once('close', () => resolve())
    child.once('error', (error) => {
      output.push(String(error))
      resolve()
    })
  })
  signal.removeEventListener('abort', stop)
  process.off('exit', kill)
  const problem = child.exitCode === 0 ? undefined : output.slice(-LINES_OF_A_PROBLEM).join('\n') || 'it said nothing'
  return { problem, steps }
}
