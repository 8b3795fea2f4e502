import { CommanderError } from 'commander'
import { stringify } from 'lossless-json'
import { contractAnswer, NamedFailure } from '../../platform/lib/failure.ts'
import { InvalidInput } from '../../platform/lib/json/input.ts'
import { type FailureAnswer, RescodeError } from '../../platform/lib/web/rescode.ts'
import type { Terminal } from './terminal.ts'
import { aligned, printableJson, printableLines } from './text.ts'

/** Writes an output to standard output: JSON for programs (a `bigint` as a plain number), text for people. */
export function print<Output>(
  { stdout }: Terminal,
  json: boolean,
  output: Output,
  text: (output: Output) => string,
): void {
  stdout.write(`${json ? printableJson(stringify(output, null, 2) ?? '') : printableLines(text(output))}\n`)
}

/** Writes an error to standard error and returns the exit code: 2 for wrong usage, 1 for a failure, 0 for help. */
export function reportFailure({ stderr }: Terminal, error: unknown, json: boolean): 0 | 1 | 2 {
  if (error instanceof CommanderError && error.exitCode === 0) return 0
  const wrongUsage = error instanceof CommanderError || error instanceof InvalidInput
  const problems = error instanceof InvalidInput ? error.problems : undefined
  // Commander has already printed the help if a command was missing.
  if (error instanceof CommanderError && error.code === 'commander.help' && !json) return 2
  const message = messageOf(error)
  const text = problems ? aligned(problems.map(({ field, problem }) => [field, String(problem)])) : message
  const written = json ? printableJson(JSON.stringify({ error: { message, problems } }, null, 2)) : printableLines(text)
  stderr.write(`${written}\n`)
  return wrongUsage ? 2 : 1
}

// PostgreSQL, appendix A: undefined_table, undefined_column.
const OLD_SCHEMA = new Set(['42P01', '42703'])

const whatIsWrong = ({ failure, message }: FailureAnswer): string => String(failure.what ?? message)

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error instanceof CommanderError) return error.message.replace(/^error: /, '')
  if (error instanceof NamedFailure) return whatIsWrong(contractAnswer(error))
  if (error instanceof RescodeError) return whatIsWrong(error)
  if ('code' in error && OLD_SCHEMA.has(String(error.code))) {
    return 'the schema of the database is older than this program; run: npm run migrate'
  }
  return error.message
}

const WIDTH = 30

/** `[##########----------]  100 of 120`; only the number if the total is unknown. */
export function progressLine(seen: number, total: number | undefined): string {
  if (total === undefined || total === 0) return `${seen}`
  const filled = Math.min(WIDTH, Math.round((seen / total) * WIDTH))
  return `[${'#'.repeat(filled)}${'-'.repeat(WIDTH - filled)}]  ${seen} of ${total}`
}

/** Draws a progress bar on a terminal and removes it at the end; draws nothing elsewhere. */
export function progressBar(stream: Terminal['stderr']) {
  const clear = '\r\u001b[K'
  return {
    show: (seen: number, total: number | undefined): void => {
      if (stream.isTTY) stream.write(clear + progressLine(seen, total))
    },
    end: (): void => {
      if (stream.isTTY) stream.write(clear)
    },
  }
}
