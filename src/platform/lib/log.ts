import { type DestinationStream, type Logger, pino } from 'pino'
import prettyStream from 'pino-pretty'

export type Log = Logger

export interface LogSettings {
  readonly level: string
  /** Coloured lines for a person instead of JSON lines for a machine. */
  readonly pretty: boolean
}

/**
 * Errors are logged by type, message, SQLSTATE and stack only. pg adds the parameters of a failed statement to its
 * errors (`detail`, `where`), and those hold phone numbers and hashes.
 */
function describeError(error: Error): object {
  const code = 'code' in error ? error.code : undefined
  const cause = error.cause instanceof Error ? describeError(error.cause) : undefined
  return {
    type: error.name,
    message: error.message,
    code,
    stack: error.stack,
    cause,
  }
}

/** Opens the log on standard output, or on `destination`. */
export function openLog({ level, pretty }: LogSettings, destination?: DestinationStream): Log {
  const options = { level, base: null, serializers: { err: describeError } }
  if (destination) return pino(options, destination)
  // In this process and synchronous, so that what is printed after the start really is the last on the terminal.
  return pretty
    ? pino(
        options,
        prettyStream({
          sync: true,
          translateTime: 'HH:MM:ss',
          singleLine: true,
        }),
      )
    : pino(options)
}
