import { redactFailure } from '../../certification/index.ts'
import type { Deps } from '../../deps.ts'
import { masker } from '../../lib/crypto/masking.ts'
import { findPartner, secretTexts } from '../../registry/index.ts'
import { listAfter, listBefore, type Place, type TrafficSummary } from '../traffic-store.ts'
import { isWarned, outcomeOf, type TrafficOutcome } from './outcome.ts'
import { noticeName } from './problems.ts'
import type { TrafficQuery } from './wire.ts'

/** One line of the list. */
interface TrafficLine extends TrafficSummary {
  /** The interface or the notice; the path of what is neither. */
  readonly name: string
  readonly direction: 'out' | 'in'
  readonly outcome: TrafficOutcome
  /** A warning is shown beside the outcome. */
  readonly warned: boolean
}

export interface TrafficPage {
  readonly lines: readonly TrafficLine[]
  /** Cursors of the pages beside this one; undefined at the end. */
  readonly newer?: string
  readonly older?: string
}

const PER_PAGE = 30
const NEWEST: Place = { at: 'infinity', id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' }

/** Calls in both directions, newest first, a page of 30. A page goes on from a row, so new calls do not shift it. */
export async function listTraffic(deps: Deps, partnerId: bigint, query: TrafficQuery): Promise<TrafficPage> {
  const { direction, outcome, before, after } = query
  const filter = {
    partnerId,
    outgoing: direction !== 'in',
    incoming: direction !== 'out',
    succeeded: outcome !== 'failed',
    failed: outcome !== 'ok',
  }
  const found = after
    ? await listAfter(deps.db, filter, after, PER_PAGE + 1)
    : await listBefore(deps.db, filter, before ?? NEWEST, PER_PAGE + 1)
  const isMore = found.length > PER_PAGE
  const rows = after ? found.slice(0, PER_PAGE).reverse() : found.slice(0, PER_PAGE)
  const partner = await findPartner(deps, partnerId)
  const mask = masker(partner ? secretTexts(partner) : [])
  const [first, last] = [rows[0], rows.at(-1)]
  return {
    lines: rows.map((row) => lineOf(deps, row, mask)),
    ...(first && (after ? isMore : before) ? { newer: cursorOf(first) } : {}),
    ...(last && (after ? true : isMore) ? { older: cursorOf(last) } : {}),
  }
}

const cursorOf = ({ at, id }: TrafficSummary): string => `${at.getTime()}.${id}`

function lineOf(deps: Deps, row: TrafficSummary, mask: (text: string) => string): TrafficLine {
  const isOurs = row.kind === 'call'
  const name = isOurs ? row.name : (noticeName(deps, row.name) ?? mask(row.name))
  const shown = {
    ...row,
    name,
    direction: isOurs ? 'out' : 'in',
    outcome: outcomeOf(row),
    warned: isWarned(row),
  } as const
  if (row.failure === null) return shown
  const { kind, detail } = redactFailure(deps.config, { kind: row.failure, detail: mask(row.detail ?? '') })
  return { ...shown, failure: kind, detail, duration_ms: kind === row.failure ? row.duration_ms : null }
}
