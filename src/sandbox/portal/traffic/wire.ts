import { z } from 'zod'
import { fromEpochMilliseconds } from '../../../platform/lib/clock.ts'
import { listOf } from '../../../platform/lib/json/shape.ts'
import { type Cursor, SEARCHES, type TrafficSearch } from './store.ts'

const CURSOR = /^(\d{1,13})\.([0-9a-f-]{36})$/

const cursor = z
  .string()
  .transform((text): Cursor | undefined => {
    const [, at = '', id = ''] = CURSOR.exec(text) ?? []
    return z.guid().safeParse(id).success ? [fromEpochMilliseconds(Number(at)).toISOString(), id] : undefined
  })
  .optional()
  .catch(undefined)

const MAX_ID = 2n ** 63n - 1n

interface SearchQuery {
  readonly by?: TrafficSearch['by'] | undefined
  readonly value?: string | undefined
}

/** `unusable`: a value that no call can have. */
function searchOf({ by, value = '' }: SearchQuery): TrafficSearch | 'unusable' | undefined {
  if (by === undefined || value === '') return undefined
  const isUsable = by === 'order' ? orderId.safeParse(value).success : by !== 'code' || /^\d{1,9}$/.test(value)
  return isUsable ? { by, value: by === 'order' || by === 'code' ? String(BigInt(value)) : value } : 'unusable'
}

/** The query of the list. Invalid values are ignored. */
export const trafficQuery = z
  .object({
    direction: z.enum(['out', 'in']).optional().catch(undefined),
    outcome: z.enum(['ok', 'failed']).optional().catch(undefined),
    by: z.enum(SEARCHES).optional().catch(undefined),
    value: z
      .string()
      .trim()
      .max(128)
      .regex(/^[^\0]*$/)
      .optional()
      .catch(undefined),
    /** The replay form had no entries, or too many. */
    chosen: z.literal('wrongly').optional().catch(undefined),
    before: cursor,
    after: cursor,
  })
  .transform((query) => ({ ...query, search: searchOf(query) }))
export type TrafficQuery = z.output<typeof trafficQuery>

export const trafficEntryParams = z.object({ kind: z.enum(['call', 'notice', 'rejected']), id: z.guid() })
export type TrafficEntryParams = z.output<typeof trafficEntryParams>

const orderId = z
  .string()
  .regex(/^\d{1,19}$/)
  .transform(BigInt)
  .refine((id) => id <= MAX_ID)

export const orderParams = z.object({ order_id: orderId })

export const exportParams = z.object({ format: z.enum(['ndjson', 'har']) })

const REPLAYED = ['accepted', 'again', 'refused', 'done', 'failed'] as const
const replayedOutcome = z.enum([...REPLAYED, 'impossible', 'gone', 'limited'])

/** A form sends a string for one checked box, a list for several. */
const listed = <Entry extends z.ZodType>(entry: Entry) =>
  z.preprocess((sent) => (typeof sent === 'string' ? [sent] : sent), listOf('replays', entry).min(1))

/** `kind/id`. */
const chosenEntry = z
  .string()
  .transform((text) => ({ kind: text.split('/')[0], id: text.split('/')[1] }))
  .pipe(trafficEntryParams)
export const replayForm = z.object({ entry: listed(chosenEntry) })

/** `outcome.kind.id`. */
const replayedOne = z
  .string()
  .transform((text) => ({ outcome: text.split('.')[0], kind: text.split('.')[1], id: text.split('.')[2] }))
  .pipe(trafficEntryParams.extend({ outcome: replayedOutcome }))
/** The outcome of one of several replays, and the resulting entry, or the original if there is none. */
export type ReplayedOne = z.output<typeof replayedOne>
export const replayedManyQuery = z.object({ one: listed(replayedOne).catch([]) })

/** The outcome of a replay, shown on the page of its entry. */
export const replayedQuery = z.object({ replayed: z.enum(REPLAYED).optional().catch(undefined) })
