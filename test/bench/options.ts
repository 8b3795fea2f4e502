import { parseArgs } from 'node:util'
import { CONTESTANTS, type Name } from './contestants/contestant.ts'
import { WORK_NAMES, type WorkName } from './works.ts'

export interface Options {
  readonly works: readonly WorkName[]
  readonly contestants: readonly Name[]
  readonly rounds: number
  readonly seconds: number
  readonly warmUpS: number
  readonly connections: number
  readonly tokens: number
  readonly settings: Readonly<Record<string, string>>
  readonly nodeOptions: readonly string[]
  readonly output: string | undefined
}

export const HELP = `npm run bench -- [options]

  --quick              under a minute: 2 short rounds; good for a first look, too short for a verdict
  --only WORK,…        ${WORK_NAMES.join(', ')}
  --contestants NAME,… ${CONTESTANTS.join(', ')}
  --rounds N           turns of each contestant at each work (default 5)
  --seconds S          measured seconds of a turn (default 5)
  --connections N      keep-alive connections, each with one request at a time (default 64)
  --tokens N           live access tokens in the database (default 10000)
  --set NAME=VALUE     a setting of Gatehouse, may be repeated
  --node-option X      an option of the node that runs Gatehouse, such as --cpu-prof; may be repeated
  --output FILE        where the results go as JSON (default .data/bench.json)
`

export class BadOption extends Error {
  override readonly name = 'BadOption'
}

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
      connections: { type: 'string' },
      tokens: { type: 'string' },
      set: { type: 'string', multiple: true, default: [] },
      'node-option': { type: 'string', multiple: true, default: [] },
      output: { type: 'string' },
    },
  })
  if (values.help) return 'help'
  const quick = values.quick === true
  const known: readonly Name[] = values.contestants?.includes('wrong') ? [...CONTESTANTS, 'wrong'] : CONTESTANTS
  return {
    works: chosen('only', WORK_NAMES, values.only),
    contestants: chosen('contestants', known, values.contestants),
    rounds: amount('rounds', values.rounds, quick ? 2 : 5),
    seconds: amount('seconds', values.seconds, quick ? 0.5 : 5),
    warmUpS: quick ? 0.25 : 1,
    connections: amount('connections', values.connections, 64),
    tokens: amount('tokens', values.tokens, 10_000),
    settings: Object.fromEntries(values.set.map((pair) => [pair.split('=')[0], pair.slice(pair.indexOf('=') + 1)])),
    nodeOptions: values['node-option'],
    output: values.output,
  }
}
