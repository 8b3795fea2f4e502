import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { ROOT } from '../bench/contestants/contestant.ts'
import { BadOption } from '../bench/options.ts'

const SCENARIO_NAMES = [
  'overload',
  'hostile',
  'hung',
  'locked',
  'bodies',
  'pipelining',
  'connections',
  'abandoned',
  'shutdown',
  'rolling',
  'embedded',
] as const
export type ScenarioName = (typeof SCENARIO_NAMES)[number]

export interface Options {
  readonly scenarios: readonly ScenarioName[]
  /** The top level of the sources whose built service is started. */
  readonly checkout: string
  /** Length of what can be longer or shorter; 1 is for figures, less for a first look. */
  readonly scale: number
  /** Offered requests in the overload, as a multiple of the peak. */
  readonly times: number
  readonly output: string
}

export const HELP = `npm run chaos -- [options]

  --only NAME,…    ${SCENARIO_NAMES.join(', ')}
  --checkout DIR   start the service that is built in DIR (npm run build there), to compare two versions
  --quick          shorter loads, for a first look
  --times N        the overload, as a multiple of the peak (default 5)
  --output FILE    where the figures go as JSON (default .data/chaos.json)
`

export function readOptions(args: readonly string[]): Options | 'help' {
  const { values } = parseArgs({
    args: [...args],
    options: {
      help: { type: 'boolean' },
      only: { type: 'string' },
      checkout: { type: 'string' },
      quick: { type: 'boolean' },
      times: { type: 'string', default: '5' },
      output: { type: 'string' },
    },
  })
  if (values.help) return 'help'
  const scenarios = (values.only?.split(',') ?? SCENARIO_NAMES).map((name) => {
    const found = SCENARIO_NAMES.find((known) => known === name)
    if (!found) throw new BadOption(`--only: ${name} is none of ${SCENARIO_NAMES.join(', ')}`)
    return found
  })
  const times = Number(values.times)
  if (!(times >= 1 && times <= 20)) throw new BadOption('--times must be a number from 1 to 20')
  return {
    scenarios,
    times,
    checkout: resolve(values.checkout ?? ROOT),
    scale: values.quick ? 0.4 : 1,
    output: resolve(values.output ?? `${ROOT}.data/chaos.json`),
  }
}
