import closeWithGrace from 'close-with-grace'
import type { Log } from './log.ts'

type Running = { readonly log: Log; stop(): Promise<unknown> }

interface Starting {
  /** Aborted when the program has to end. */
  readonly signal: AbortSignal
  /** From now on a signal or an unexpected failure ends the program, after so many seconds at most. */
  endWithin(seconds: number): void
}

/** A program that cannot start, or fails, ends with 1; the former prints the reason below `title`. */
export function runProgram<Program extends Running>(
  title: string,
  start: (starting: Starting) => Promise<Program>,
): Promise<Program> {
  const ending = new AbortController()
  let failure: Error | undefined
  const endWithin = (seconds: number): void => {
    closeWithGrace({ delay: seconds * 1000, logger: false }, async ({ err }) => {
      failure = err
      ending.abort()
      const { log, stop } = await running
      if (err) log.fatal({ err }, 'exiting because of an unexpected failure')
      await stop()
    })
  }
  const running = start({ signal: ending.signal, endWithin }).catch((error: Error) => {
    if (ending.signal.aborted && !failure) process.exit(0) // stopped while waiting for the database
    process.stderr.write(`${title}:\n${String(failure ?? error.message).replace(/^/gm, '  ')}\n`)
    process.exit(1)
  })
  return running
}
