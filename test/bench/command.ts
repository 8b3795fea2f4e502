import { Endings } from './endings.ts'
import { BadOption } from './options.ts'

/** What `npm run bench` and `npm run chaos` have in common. */

export const say = (text: string): boolean => process.stdout.write(`${text}\n`)

const began = performance.now()
export const progress = (text: string): boolean =>
  process.stderr.write(`${((performance.now() - began) / 1000).toFixed(0).padStart(4)} s  ${text}\n`)

/** Ends what the work has started, also when a signal stops it half-way. */
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

/** Runs a command with the options that it was called with; a wrong option is told without a stack. */
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
