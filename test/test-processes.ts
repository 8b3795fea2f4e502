import { relative } from 'node:path'
import { ForksPoolWorker, type PoolRunnerInitializer, type WorkerRequest } from 'vitest/node'

/** Not one of the runner's own, which it would take instead. */
const NAME = 'processes'
const ROOT = new URL('..', import.meta.url).pathname

/** One that ends by itself is named with its files: the runner says "exited unexpectedly" alone. */
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

  // The runner stops listening for the end before it ends a process.
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
