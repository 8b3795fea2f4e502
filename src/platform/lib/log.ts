import { type DestinationStream, type Logger, pino } from 'pino'
import { prettyFactory } from 'pino-pretty'
import { LogOutput } from './log-output.ts'

export type Log = Logger

/**
 * Errors are logged by type, message, code and stack only: pg's `detail` and `where` quote the parameters of a failed
 * statement, which hold phone numbers and hashes.
 */
function describeError(error: Error): object {
  const code = 'code' in error ? error.code : undefined
  const cause = error.cause instanceof Error ? describeError(error.cause) : undefined
  return { type: error.name, message: error.message, code, stack: error.stack, cause }
}

const STANDARD_OUTPUT = 1

/** Opens the log on standard output, or on `destination`; `pretty`: coloured lines for people instead of JSON lines. */
export function openLog(
  { level, pretty }: { readonly level: string; readonly pretty: boolean },
  destination: DestinationStream = new LogOutput(STANDARD_OUTPUT, { together: !pretty }),
): Log {
  const options = { level, base: null, serializers: { err: describeError } }
  const forPeople = prettyFactory({ translateTime: 'HH:MM:ss', singleLine: true })
  const log = pino(options, pretty ? { write: (line) => destination.write(forPeople(line)) } : destination)
  if (destination instanceof LogOutput) {
    destination.onGap = (lines) => log.warn({ lines }, 'lines of the log are missing: they could not be written')
  }
  return log
}
