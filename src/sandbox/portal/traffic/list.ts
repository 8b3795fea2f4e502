import { fromEpochSeconds } from '../../../platform/lib/clock.ts'
import { masker } from '../../../platform/lib/crypto/masking.ts'
import { withValues } from '../../../platform/lib/localized-text.ts'
import type { NoticeDeps } from '../../../ticketing/mtp/index.ts'
import { findPartner, secretTexts } from '../../../ticketing/partners/index.ts'
import { redactFailure } from '../../checks/index.ts'
import { isReplayable, isWarned, outcomeOf, type TrafficOutcome } from './outcome.ts'
import { noticeName } from './problems.ts'
import {
  type Cursor,
  isWindowed,
  type ListedTraffic,
  listRows,
  type TrafficSearch,
  type TrafficSummary,
  windowEnd,
} from './store.ts'
import type { TrafficQuery } from './wire.ts'

export interface TrafficLine extends TrafficSummary {
  /** The name of the interface or notice; otherwise the path. */
  readonly name: string
  readonly direction: 'out' | 'in'
  readonly outcome: TrafficOutcome
  /** A warning is shown with the outcome. */
  readonly warned: boolean
  /** Can be selected for a replay, which may still find that the body was not stored whole. */
  readonly replayable: boolean
}

type ListedLine = TrafficLine & Pick<ListedTraffic, 'order_id'>

export interface TrafficPage {
  readonly lines: readonly ListedLine[]
  /** Cursors of the next newer and older page, if any. */
  readonly newer?: string
  readonly older?: string
  /** `older`, parsed. */
  readonly next?: Cursor
  /** How far the search has got, if there is more to search. */
  readonly searchedTo?: Date
}

const PER_PAGE = 30
const [FIRST_ID, LAST_ID] = ['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff']
const NEWEST: Cursor = { at: 'infinity', id: LAST_ID }

/** Calls in both directions, newest first, 30 per page. Pages begin after a row, so new calls do not shift them. */
export async function listTraffic(deps: NoticeDeps, partnerId: bigint, query: TrafficQuery): Promise<TrafficPage> {
  const { direction, outcome, before, after, search } = query
  if (search === 'unusable') return { lines: [] }
  const cursor = after ?? before ?? NEWEST
  const order = after ? 'oldest-first' : 'newest-first'
  const until = search && isWindowed(search) ? await windowEnd(deps.db, partnerId, cursor, order) : undefined
  const filter = {
    partnerId,
    outgoing: direction !== 'in',
    incoming: direction !== 'out',
    succeeded: outcome !== 'failed',
    failed: outcome !== 'ok',
    search,
    until,
  }
  const listed = await listRows(deps.db, filter, cursor, PER_PAGE + 1, order)
  const isMore = listed.length > PER_PAGE
  const rows = after ? listed.slice(0, PER_PAGE).reverse() : listed.slice(0, PER_PAGE)
  const lines = await linesOf(deps, partnerId, rows)
  const [first, last] = [cursorOf(rows[0]), cursorOf(rows.at(-1))]
  // Continues after the last row if the window has more results, otherwise at the window's end.
  const end = isMore ? undefined : until
  // On the way back from an empty page the row at its cursor is shown too.
  const newer = after ? (isMore ? first : end) : before && (first ?? { ...before, id: FIRST_ID })
  const older = after ? (last ?? { ...after, id: LAST_ID }) : isMore ? last : end
  return {
    lines,
    ...(newer ? { newer: cursorText(newer) } : {}),
    ...(older ? { older: cursorText(older), next: older } : {}),
    ...(end && !after ? { searchedTo: fromEpochSeconds(Date.parse(end.at) / 1_000) } : {}),
  }
}

/** Newest first. For searches that have an index. */
export async function trafficAbout(
  deps: NoticeDeps,
  partnerId: bigint,
  search: TrafficSearch,
  most: number,
): Promise<TrafficLine[]> {
  const filter = { partnerId, outgoing: true, incoming: true, succeeded: true, failed: true, search }
  return linesOf(deps, partnerId, await listRows(deps.db, filter, NEWEST, most))
}

async function linesOf(deps: NoticeDeps, partnerId: bigint, rows: readonly ListedTraffic[]): Promise<ListedLine[]> {
  const partner = await findPartner(deps, partnerId)
  const mask = masker(partner ? secretTexts(partner) : [])
  return rows.map((row) => ({ ...trafficLine(deps, row, mask), order_id: row.order_id }))
}

const cursorOf = (row: TrafficSummary | undefined): Cursor | undefined =>
  row && { at: row.at.toISOString(), id: row.id }

const cursorText = ({ at, id }: Cursor): string => `${Date.parse(at)}.${id}`

export function trafficLine(deps: NoticeDeps, row: TrafficSummary, mask: (text: string) => string): TrafficLine {
  const isOurs = row.kind === 'call'
  const name = isOurs ? row.name : (noticeName(deps, row.name) ?? mask(row.name))
  const shown = {
    ...row,
    name,
    direction: isOurs ? 'out' : 'in',
    outcome: outcomeOf(row),
    warned: isWarned(row),
    replayable: isReplayable(deps, row),
  } as const
  if (row.failure === null) return shown
  const { kind, detail } = redactFailure(deps.config, { kind: row.failure, detail: withValues(row.detail ?? '', mask) })
  return { ...shown, failure: kind, detail, duration_ms: kind === row.failure ? row.duration_ms : null }
}
