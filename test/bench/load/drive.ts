import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { GeneratorMessage, Turn, TurnResult } from './ask.ts'

export interface LoadGenerator {
  /** Runs one turn; calls `onMeasuring` after the warm-up. Rejects on a wrong response. */
  run(turn: Turn, onMeasuring: () => void): Promise<TurnResult>
  stop(): void
}

/** Starts the load generator in its own process. */
export function startGenerator(): LoadGenerator {
  const child = fork(fileURLToPath(new URL('./generator.js', import.meta.url)), { execArgv: ['--expose-gc'] })
  return {
    run: (turn, onMeasuring) =>
      new Promise((resolve, reject) => {
        const gone = () => reject(new Error('the load generator ended'))
        const listen = (message: GeneratorMessage) => {
          if (message.kind === 'measuring') return onMeasuring()
          child.off('message', listen)
          child.off('exit', gone)
          if (message.kind === 'done') resolve(message.result)
          else reject(new Error(message.problem))
        }
        child.on('message', listen)
        child.on('exit', gone)
        child.send(turn)
      }),
    stop: () => child.disconnect(),
  }
}
