import type { Deps } from '../../../platform/deps.ts'
import type { OutputOf } from '../../../platform/lib/json/input.ts'
import { ifFound } from '../../../platform/lib/web/rescode.ts'
import type { NoticeDeps } from '../../../ticketing/mtp/index.ts'
import { showOrder } from '../../../ticketing/orders/index.ts'
import { logReferences } from '../../certification/index.ts'
import { noSuchEntry } from '../errors.ts'
import { type TrafficLine, trafficAbout } from './list.ts'

type LogReference = OutputOf<typeof logReferences>[number]

type OrderStory = OutputOf<typeof showOrder>

/** An event of an order: a call in either direction, or a state change of the order or a refund. */
type Moment =
  | { readonly kind: 'call'; readonly at: Date; readonly line: TrafficLine; readonly place?: LogReference }
  | {
      readonly kind: 'state'
      readonly at: Date
      readonly record: 'order' | 'refund'
      readonly id: string
      readonly from: string | null
      readonly to: string
      /** The call that caused it, if it is among these moments. */
      readonly cause?: TrafficLine
    }

const MAX_CALLS = 200

/** Oldest first, calls before state changes of the same time. Throws 20007 (404) without order and calls. */
export async function timelineOf(deps: NoticeDeps, partnerId: bigint, orderId: bigint) {
  const found = await trafficAbout(deps, partnerId, orderId, MAX_CALLS + 1)
  const lines = found.slice(0, MAX_CALLS)
  const story = await storyOf(deps, partnerId, orderId)
  if (!story && lines.length === 0) throw noSuchEntry()
  const places = new Map<string, LogReference>()
  const ids = lines.map(({ id }) => id)
  for (const place of await logReferences(deps.db, { partnerId, orderId, ids })) places.set(place.id, place)
  const byArrival = (one: TrafficLine, other: TrafficLine) =>
    one.at.getTime() - other.at.getTime() || one.arrival - other.arrival
  const calls = lines
    .toReversed()
    .sort(byArrival)
    .map((line): Moment => {
      const place = places.get(line.id)
      return { kind: 'call', at: line.at, line, ...(place ? { place } : {}) }
    })
  const byId = new Map(lines.map((line) => [line.id, line]))
  const states = (story?.history ?? []).flatMap((row) => stateIn(row, byId))
  const moments = [...calls, ...states].sort((one, other) => one.at.getTime() - other.at.getTime())
  return { orderId: String(orderId), moments, isCut: found.length > MAX_CALLS }
}

/** Undefined if the order does not exist or is another partner's. */
async function storyOf(deps: Deps, partnerId: bigint, orderId: bigint): Promise<OrderStory | undefined> {
  const story = await ifFound(showOrder(deps, orderId))
  return story?.order.partner_id === partnerId ? story : undefined
}

const RECORDS = ['order', 'refund'] as const

function stateIn(row: OrderStory['history'][number], lines: ReadonlyMap<string, TrafficLine>): Moment[] {
  const record = RECORDS.find((candidate) => candidate === row.record)
  const [from, to] = row.change.state ?? []
  if (!record || typeof to !== 'string') return []
  const cause = lines.get(row.cause_id ?? '')
  const moved = { from: typeof from === 'string' ? from : null, to }
  return [{ kind: 'state', at: row.at, record, id: row.record_id, ...moved, ...(cause ? { cause } : {}) }]
}
