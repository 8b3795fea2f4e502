import { type Crowd, type CrowdResult, gather } from './crowd.ts'

/** The load process: a crowd of callers, on a core of its own where there is one. */

export type CrowdAnswer = { readonly result: CrowdResult } | { readonly problem: string }

process.on('message', (crowd: Crowd) => {
  const say = (answer: CrowdAnswer) => process.send?.(answer)
  gather(crowd).then(
    (result) => say({ result }),
    (error: Error) => say({ problem: error.message }),
  )
})
process.on('disconnect', () => process.exit())
