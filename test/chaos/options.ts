import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { ROOT } from '../bench/contestants/contestant.ts'
import { BadOption } from '../bench/options.ts'
import { CASES, type CaseName } from './failover/cases.ts'

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

const CASE_NAMES = Object.keys(CASES) as CaseName[]

export interface Options {
  readonly scenarios: readonly ScenarioName[]
  /** Cases of `failover`; empty for other scenarios. */
  readonly cases: readonly CaseName[]
  /** Folder of the checkout whose built service is started. */
  readonly checkout: string
  /** Factor for the length of loads: 1 for proper figures, less for a first look. */
  readonly scale: number
  /** Callers in the overload scenario, as a multiple of those at the peak. */
  readonly times: number
  readonly output: string
}

export const HELP = `npm run chaos -- [options]

  --only NAME,…    ${SCENARIO_NAMES.join(', ')}
  --checkout DIR   start the service that is built in DIR (npm run build there), to compare two versions
  --quick          shorter loads, for a first look
  --times N        the overload, as a multiple of the peak (default 5)
  --output FILE    where the figures go as JSON (default .data/chaos.json)

npm run chaos -- failover [options]    nodes of a cluster that fail (Debian: apt-get install patroni etcd-server haproxy postgresql)

  --only NAME,…    ${CASE_NAMES.join(', ')}
  --asynchronous   also what asynchronous mode loses
  --checkout DIR, --output FILE (default .data/failover.json)
`

const namesOf = <Name extends string>(known: readonly Name[], given: string | undefined): readonly Name[] | undefined =>
  given?.split(',').map((name) => {
    const found = known.find((one) => one === name)
    if (!found) throw new BadOption(`--only: ${name} is none of ${known.join(', ')}`)
    return found
  })

export function readOptions(args: readonly string[]): Options | 'help' {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      help: { type: 'boolean' },
      only: { type: 'string' },
      asynchronous: { type: 'boolean', default: false },
      checkout: { type: 'string' },
      quick: { type: 'boolean' },
      times: { type: 'string', default: '5' },
      output: { type: 'string' },
    },
  })
  if (values.help) return 'help'
  const [mode, ...others] = positionals
  if ((mode !== undefined && mode !== 'failover') || others.length > 0)
    throw new BadOption(`${positionals.join(' ')}: the only word that is known is failover`)
  const failover = mode === 'failover'
  const times = Number(values.times)
  if (!(times >= 1 && times <= 20)) throw new BadOption('--times must be a number from 1 to 20')
  const usual = CASE_NAMES.filter((name) => values.asynchronous || !('asynchronous' in CASES[name]))
  return {
    scenarios: failover ? [] : (namesOf(SCENARIO_NAMES, values.only) ?? SCENARIO_NAMES),
    cases: failover ? (namesOf(CASE_NAMES, values.only) ?? usual) : [],
    times,
    checkout: resolve(values.checkout ?? ROOT),
    scale: values.quick ? 0.4 : 1,
    output: resolve(values.output ?? `${ROOT}.data/${failover ? 'failover' : 'chaos'}.json`),
  }
}
