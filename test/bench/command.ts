import { Endings } from './endings.ts'
import { BadOption } from './options.ts'

/** Shared by `npm run bench` and `npm run chaos`. */

export const say = (text: string): boolean => process.stdout.write(`${text}\n`)

const began = performance.now()
export const progress = (text: string): boolean =>
  process.stderr.write(`${((performance.now() - began) / 1000).toFixed(0).padStart(4)} s  ${text}\n`)

/** Runs `work`, then ends everything that it has started, even if a signal interrupts it. */
export async function withEndings(work: (endings: Endings) => Promise<void>): Promise<void> {
  const endings = new Endings()
  const stopEarly = async (signal: string) => {
    progress(`${signal}: stopping what was started`)
    await endings.run()
    process.exit(1)
  }
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, stopEarly)
  try {
    await work(endings)
  } finally {
    await endings.run()
  }
}

/** Runs a command with the options from the command line; invalid options are reported without a stack trace. */
export async function command<Options extends object>(
  help: string,
  readOptions: (args: readonly string[]) => Options | 'help',
  run: (options: Options) => Promise<void>,
): Promise<void> {
  try {
    const options = readOptions(process.argv.slice(2))
    if (options === 'help') say(help)
    else await run(options)
  } catch (error) {
    const known = error instanceof BadOption
    process.stderr.write(`${known ? error.message : (error as Error).stack}\n`)
    process.exitCode = 1
  }
}
