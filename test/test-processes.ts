import { relative } from 'node:path'
import { ForksPoolWorker, type PoolRunnerInitializer, type WorkerRequest } from 'vitest/node'

/** Must not be the name of a built-in pool, which Vitest would use instead. */
const NAME = 'processes'
const ROOT = new URL('..', import.meta.url).pathname

/** A test process that reports its files if it ends by itself: Vitest says only "exited unexpectedly". */
class TestProcess extends ForksPoolWorker {
  override readonly name = NAME
  #files: readonly string[] = []

  readonly #sayHowItEnded = (code: number | null, signal?: NodeJS.Signals) => {
    process.stderr.write(
      `\nA process that ran tests ended by itself, ${code === null ? `of ${signal}` : `with code ${code}`}, at ${this.#files.join(', ') || 'no file'}\n`,
    )
  }

  override send(message: WorkerRequest): void {
    if (message.type === 'run') this.#files = message.context.files.map(({ filepath }) => relative(ROOT, filepath))
    super.send(message)
  }

  // Vitest removes its exit listener before it ends a process itself, so a deliberate end is not reported.
  override on(event: string, callback: (arg: unknown) => void): void {
    if (event === 'exit') super.on(event, this.#sayHowItEnded)
    super.on(event, callback)
  }

  override off(event: string, callback: (arg: unknown) => void): void {
    if (event === 'exit') super.off(event, this.#sayHowItEnded)
    super.off(event, callback)
  }
}

export const testProcesses: PoolRunnerInitializer = {
  name: NAME,
  createPoolWorker: (options) => new TestProcess(options),
}
