import { z } from 'zod'
import { filterText, pageInput, pageOf, periodInput } from '../../../platform/db/page.ts'
import { fromEpochSeconds } from '../../../platform/lib/clock.ts'
import { masker } from '../../../platform/lib/crypto/masking.ts'
import { problem } from '../../../platform/lib/json/field-problem.ts'
import { positiveId } from '../../../platform/lib/json/fields.ts'
import { operation } from '../../../platform/lib/json/input.ts'
import { withValues } from '../../../platform/lib/localized-text.ts'
import { maskedReason } from '../../../platform/lib/masked-reason.ts'
import type { NoticeDeps } from '../../../ticketing/mtp/index.ts'
import { findPartner, secretTexts } from '../../../ticketing/partners/index.ts'
import { redactFailure } from '../../checks/index.ts'
import { isReplayable, isWarned, outcomeOf } from './outcome.ts'
import { noticeName } from './problems.ts'
import { type Cursor, cursorKeys, isWindowed, listRows, type TrafficRow, windowEnd } from './store.ts'
import { type TrafficQuery, trafficEntryParams } from './wire.ts'

export type TrafficLine = Awaited<ReturnType<typeof linesOf>>[number]

/** Secrets are masked. */
async function linesOf(deps: NoticeDeps, rows: readonly TrafficRow[]) {
  const ids = [...new Set(rows.map((row) => row.partner_id))]
  const partners = await Promise.all(ids.map((id) => findPartner(deps, id)))
  const masks = new Map(ids.map((id, place) => [id, masker(partners[place] ? secretTexts(partners[place]) : [])]))
  return rows.map((row) => lineOf(deps, row, masks.get(row.partner_id) ?? masker([])))
}

function lineOf(deps: NoticeDeps, row: TrafficRow, mask: (text: string) => string) {
  const { cursor: _, partner_id, order_id, ...summary } = row
  const isOurs = row.kind === 'call'
  const failure =
    row.failure === null
      ? { kind: null, detail: row.detail }
      : redactFailure(deps.config, { kind: row.failure, detail: withValues(row.detail ?? '', mask) })
  return {
    ...summary,
    /** The name of the interface or notice; otherwise the path. */
    name: isOurs ? row.name : (noticeName(deps, row.name) ?? mask(row.name)),
    failure: failure.kind,
    detail: failure.detail,
    duration_ms: failure.kind === row.failure ? row.duration_ms : null,
    direction: isOurs ? ('out' as const) : ('in' as const),
    outcome: outcomeOf(row),
    /** A warning is shown with the outcome. */
    warned: isWarned(row),
    /** Can be selected for a replay, which may still find that the body was not stored whole. */
    replayable: isReplayable(deps, row),
    partner_id,
    order_id,
  }
}

const PER_PAGE = 30
const [FIRST_ID, LAST_ID] = ['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff']
const NEWEST: Cursor = ['infinity', LAST_ID]

export interface TrafficPage {
  readonly lines: readonly TrafficLine[]
  /** Cursors of the next newer and older page, if any. */
  readonly newer?: string
  readonly older?: string
  /** `older`, parsed. */
  readonly next?: Cursor
  /** How far the search has got, if there is more to search. */
  readonly searchedTo?: Date
}

/** A partner's calls in both directions, newest first. Pages begin after a row, so new calls do not shift them. */
export async function listTraffic(deps: NoticeDeps, partnerId: bigint, query: TrafficQuery): Promise<TrafficPage> {
  const { direction, outcome, before, after, search } = query
  if (search === 'unusable') return { lines: [] }
  const cursor = after ?? before ?? NEWEST
  const order = after ? 'oldest-first' : 'newest-first'
  const filter = { partnerId, direction, outcome, searches: search ? [search] : [] }
  const until = search && isWindowed(search) ? await windowEnd(deps.db, { partnerId }, cursor, order) : undefined
  const listed = await listRows(deps.db, { ...filter, until }, cursor, PER_PAGE + 1, order)
  const isMore = listed.length > PER_PAGE
  const rows = after ? listed.slice(0, PER_PAGE).reverse() : listed.slice(0, PER_PAGE)
  const [first, last] = [cursorAt(rows[0]), cursorAt(rows.at(-1))]
  // Continues after the last row if the window has more results, otherwise at the window's end.
  const end = isMore ? undefined : until
  // On the way back from an empty page the row at its cursor is shown too.
  const newer: Cursor | undefined = after ? (isMore ? first : end) : before && (first ?? [before[0], FIRST_ID])
  const older: Cursor | undefined = after ? (last ?? [after[0], LAST_ID]) : isMore ? last : end
  return {
    lines: await linesOf(deps, rows),
    ...(newer ? { newer: cursorText(newer) } : {}),
    ...(older ? { older: cursorText(older), next: older } : {}),
    ...(end && !after ? { searchedTo: fromEpochSeconds(Date.parse(end[0]) / 1_000) } : {}),
  }
}

const cursorAt = (row: TrafficRow | undefined): Cursor | undefined => row && [row.at.toISOString(), row.id]

const cursorText = ([at, id]: Cursor): string => `${Date.parse(at)}.${id}`

/** A partner's calls about an order, newest first. */
export const trafficAbout = async (deps: NoticeDeps, partnerId: bigint, orderId: bigint, most: number) =>
  linesOf(
    deps,
    await listRows(deps.db, { partnerId, searches: [{ by: 'order', value: String(orderId) }] }, NEWEST, most),
  )

const allTrafficFilter = z.strictObject({
  partner_id: positiveId.optional(),
  outcome: z.enum(['failed', 'ok']).optional(),
  /** Substring of the path that the partner called, or of the URL that we called. */
  path: filterText(128).optional(),
  code: z
    .string()
    .regex(/^\d{1,9}$/, problem('must-be-code'))
    .optional(),
  ...periodInput,
  ...pageInput(cursorKeys, { usual: 50 }),
})

export const oneOfAllTraffic = trafficEntryParams.extend({ partner_id: positiveId })

export type LineOfAll = Omit<TrafficLine, 'order_id'>

/** For operators: partners' texts may contain personal data. */
export const maskedLine = <Line extends Pick<TrafficLine, 'detail'>>(line: Line): Line => ({
  ...line,
  detail: line.detail === null ? null : maskedReason(line.detail),
})

/**
 * Calls in both directions of all partners, newest first. Path, code and outcome have no index, to keep notices cheap
 * (except for failures of one partner): such a search reads a thousand calls at a time, so a page may have few rows or
 * none and still a `next`.
 */
export const listAllTraffic = operation(
  allTrafficFilter,
  async (
    deps: NoticeDeps,
    { partner_id, outcome, path, code, from, to, limit, after = NEWEST }: z.output<typeof allTrafficFilter>,
  ) => {
    const searches = [
      ...(path === undefined ? [] : [{ by: 'path', value: path } as const]),
      ...(code === undefined ? [] : [{ by: 'code', value: code } as const]),
    ]
    const filter = { partnerId: partner_id, outcome, searches, from, to }
    const isIndexed = partner_id !== undefined && outcome !== 'ok'
    const isSearch = searches.length > 0 || (outcome !== undefined && !isIndexed)
    const until = isSearch ? await windowEnd(deps.db, filter, after) : undefined
    const found = await listRows(deps.db, { ...filter, until }, after, limit + 1)
    const { next } = pageOf(found, limit, until && JSON.stringify(until))
    const lines = await linesOf(deps, found.slice(0, limit))
    return { traffic: lines.map(({ order_id: _, ...line }): LineOfAll => maskedLine(line)), next }
  },
)
