import { z } from 'zod'
import { fromEpochMilliseconds } from '../../lib/clock.ts'
import type { Place } from '../traffic-store.ts'

const CURSOR = /^(\d{1,13})\.([0-9a-f-]{36})$/

const cursor = z
  .string()
  .transform((text): Place | undefined => {
    const [, at = '', id = ''] = CURSOR.exec(text) ?? []
    return z.guid().safeParse(id).success ? { at: fromEpochMilliseconds(Number(at)).toISOString(), id } : undefined
  })
  .optional()
  .catch(undefined)

/** The query of the list. Unusable values count as not given. */
export const trafficQuery = z
  .object({
    direction: z.enum(['out', 'in']).optional().catch(undefined),
    outcome: z.enum(['ok', 'failed']).optional().catch(undefined),
    before: cursor,
    after: cursor,
  })
  .catch({ direction: undefined, outcome: undefined, before: undefined, after: undefined })
export type TrafficQuery = z.output<typeof trafficQuery>

export const trafficEntryParams = z.object({ kind: z.enum(['call', 'notice', 'rejected']), id: z.guid() })
export type TrafficEntryParams = z.output<typeof trafficEntryParams>

/** The outcome of a replay, shown on the page of its entry. */
export const replayedQuery = z
  .object({ replayed: z.enum(['accepted', 'again', 'refused', 'done', 'failed']).optional().catch(undefined) })
  .catch({ replayed: undefined })
