import { RescodeError } from '../../../platform/lib/web/rescode.ts'
import type { NoticeDeps } from '../../../ticketing/mtp/index.ts'
import { NotReplayable } from '../errors.ts'
import { replay } from './replay.ts'
import type { ReplayedOne, TrafficEntryParams } from './wire.ts'

/**
 * Replays entries one after the other, in the order in which they are given; at most MAX_REPLAYED of wire.ts. One that
 * cannot be replayed, or is more than a minute has room for, does not keep the others from being replayed.
 */
export async function replayMany(
  deps: NoticeDeps,
  partnerId: bigint,
  entries: readonly TrafficEntryParams[],
): Promise<ReplayedOne[]> {
  const all: ReplayedOne[] = []
  for (const entry of entries) all.push(await replayOne(deps, partnerId, entry))
  return all
}

async function replayOne(deps: NoticeDeps, partnerId: bigint, entry: TrafficEntryParams): Promise<ReplayedOne> {
  try {
    const { outcome, kind, id } = await replay(deps, partnerId, entry)
    return id === undefined ? { outcome, ...entry } : { outcome, kind, id }
  } catch (error) {
    if (error instanceof NotReplayable) return { outcome: 'impossible', ...entry }
    if (error instanceof RescodeError && error.failure.status === 404) return { outcome: 'gone', ...entry }
    if (error instanceof RescodeError && error.rescode === 20003) return { outcome: 'limited', ...entry }
    throw error
  }
}
