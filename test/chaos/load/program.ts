import { type Crowd, type CrowdResult, gather } from './crowd.ts'
import { type Flood, type FloodResult, flood } from './flood.ts'

/** The load process: runs a crowd of callers or a flood, on a separate core if there is one. */

export type Load = { readonly crowd: Crowd } | { readonly flood: Flood }
export type LoadAnswer =
  | { readonly crowd: CrowdResult }
  | { readonly flood: FloodResult }
  | { readonly problem: string }

const run = async (load: Load): Promise<LoadAnswer> =>
  'crowd' in load ? { crowd: await gather(load.crowd) } : { flood: await flood(load.flood) }

process.on('message', (load: Load) => {
  const say = (answer: LoadAnswer) => process.send?.(answer)
  run(load).then(say, (error: Error) => say({ problem: error.message }))
})
process.on('disconnect', () => process.exit())
