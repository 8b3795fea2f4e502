import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Ground } from '../scenario.ts'
import type { Crowd, CrowdResult } from './crowd.ts'
import type { Flood, FloodResult } from './flood.ts'
import type { Load, LoadAnswer } from './program.ts'

/** Runs a load in a separate process. */
async function run(load: Load, { endings }: Ground): Promise<LoadAnswer> {
  const child = fork(fileURLToPath(new URL('./program.js', import.meta.url)))
  const end = () => child.connected && child.disconnect()
  endings.add(end)
  child.send(load)
  const [answer] = (await once(child, 'message')) as [LoadAnswer]
  end()
  if ('problem' in answer) throw new Error(answer.problem)
  return answer
}

export async function runCrowd(crowd: Crowd, ground: Ground): Promise<CrowdResult> {
  const answer = await run({ crowd }, ground)
  if ('crowd' in answer) return answer.crowd
  throw new Error('another load was run')
}

export async function runFlood(flood: Flood, ground: Ground): Promise<FloodResult> {
  const answer = await run({ flood }, ground)
  if ('flood' in answer) return answer.flood
  throw new Error('another load was run')
}
