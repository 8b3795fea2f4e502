import { parseArgs } from 'node:util'
import { ALL_PROCESSES, CONTESTANTS, type Name } from './contestants/contestant.ts'
import { WORK_NAMES, WORKS, type WorkName } from './works.ts'

/** The size of the database that a larger one (--tokens) is compared with. */
export const FEW_TOKENS = 10_000

export interface Options {
  readonly works: readonly WorkName[]
  readonly contestants: readonly Name[]
  readonly rounds: number
  readonly seconds: number
  readonly warmUpS: number
  readonly connections: number
  readonly tokens: number
  /** How many times `npm start` is timed. */
  readonly coldStarts: number
  /** 0: no soak. */
  readonly soakS: number
  readonly purge: boolean
  readonly settings: Readonly<Record<string, string>>
  readonly nodeOptions: readonly string[]
  readonly output: string | undefined
}

export const HELP = `npm run bench -- [options]

  --quick              a minute or two: 2 short rounds; good for a first look, too short for a verdict
  --only WORK,…        ${WORK_NAMES.join(', ')}
  --contestants NAME,… ${CONTESTANTS.join(', ')};
                       ${ALL_PROCESSES}, with a process for each core, only where it is named
  --rounds N           turns of each contestant at each work (default 5)
  --seconds S          measured seconds of a turn (default 5)
  --warm-up S          seconds before each of them that are not measured (default 1)
  --connections N      keep-alive connections, each with one request at a time (default 64)
  --tokens N           live access tokens in the database (default 10000)
  --soak S             afterwards S seconds of A5 and A3 at peak, with the memory over time
  --purge              afterwards A5 while the purge removes a million expired tokens
  --no-start           leave out the timing of npm start
  --set NAME=VALUE     a setting of Gatehouse, may be repeated
  --node-option X      an option of the node that runs Gatehouse, such as --cpu-prof; may be repeated
  --output FILE        where the results go as JSON (default .data/bench.json)
`

export class BadOption extends Error {
  override readonly name = 'BadOption'
}

const USUAL = WORK_NAMES.filter((name) => !WORKS[name].onRequest)

function chosen<T extends string>(option: string, known: readonly T[], given: string | undefined): readonly T[] {
  if (given === undefined) return known
  return given.split(',').map((name) => {
    const found = known.find((candidate) => candidate === name)
    if (!found) throw new BadOption(`--${option}: ${name} is none of ${known.join(', ')}`)
    return found
  })
}

function amount(option: string, given: string | undefined, otherwise: number): number {
  const value = given === undefined ? otherwise : Number(given)
  if (!(value > 0)) throw new BadOption(`--${option} must be a number above 0`)
  return value
}

export function readOptions(args: readonly string[]): Options | 'help' {
  const { values } = parseArgs({
    args: [...args],
    options: {
      help: { type: 'boolean' },
      quick: { type: 'boolean' },
      only: { type: 'string' },
      contestants: { type: 'string' },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      'warm-up': { type: 'string' },
      connections: { type: 'string' },
      tokens: { type: 'string' },
      soak: { type: 'string' },
      purge: { type: 'boolean', default: false },
      'no-start': { type: 'boolean', default: false },
      set: { type: 'string', multiple: true, default: [] },
      'node-option': { type: 'string', multiple: true, default: [] },
      output: { type: 'string' },
    },
  })
  if (values.help) return 'help'
  const quick = values.quick === true
  const onRequest = ([ALL_PROCESSES, 'wrong'] as const).filter((name) => values.contestants?.includes(name))
  const known: readonly Name[] = [...CONTESTANTS, ...onRequest]
  return {
    works: chosen('only', WORK_NAMES, values.only ?? USUAL.join()),
    contestants: chosen('contestants', known, values.contestants ?? CONTESTANTS.join()),
    rounds: amount('rounds', values.rounds, quick ? 2 : 5),
    seconds: amount('seconds', values.seconds, quick ? 0.3 : 5),
    warmUpS: amount('warm-up', values['warm-up'], quick ? 0.15 : 1),
    connections: amount('connections', values.connections, 64),
    tokens: amount('tokens', values.tokens, FEW_TOKENS),
    coldStarts: values['no-start'] || values.only !== undefined ? 0 : quick ? 1 : 5,
    soakS: values.soak === undefined ? 0 : amount('soak', values.soak, 0),
    purge: values.purge,
    settings: Object.fromEntries(values.set.map((pair) => [pair.split('=')[0], pair.slice(pair.indexOf('=') + 1)])),
    nodeOptions: values['node-option'],
    output: values.output,
  }
}
