import { type DestinationStream, type Logger, pino } from 'pino'
import prettyStream from 'pino-pretty'

export type Log = Logger

export interface LogSettings {
  readonly level: string
  /** Coloured lines for people instead of JSON lines. */
  readonly pretty: boolean
}

/**
 * Errors are logged by type, message, code and stack only: pg's `detail` and `where` quote the parameters of a failed
 * statement, which hold phone numbers and hashes.
 */
function describeError(error: Error): object {
  const code = 'code' in error ? error.code : undefined
  const cause = error.cause instanceof Error ? describeError(error.cause) : undefined
  return { type: error.name, message: error.message, code, stack: error.stack, cause }
}

/** Opens the log on standard output, or on `destination`. */
export function openLog({ level, pretty }: LogSettings, destination?: DestinationStream): Log {
  const options = { level, base: null, serializers: { err: describeError } }
  if (destination) return pino(options, destination)
  if (!pretty) return pino(options)
  // Synchronous and in this process, so that what main prints after the start stays last on the terminal.
  return pino(options, prettyStream({ sync: true, translateTime: 'HH:MM:ss', singleLine: true }))
}
