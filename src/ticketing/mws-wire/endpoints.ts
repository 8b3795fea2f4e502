import { MOUNT, spellings } from '../../platform/config/mounts.ts'

/** The notices under the names that operators type, below MOUNT (REFERENCE "Endpoints of area B"). */
export const NOTICE_PATHS = {
  'deal-change': '/deal/change/notice',
  consume: '/order/consume/notice',
  refund: '/order/refund/notice',
  pay: '/order/pay/notice',
  reschedule: '/order/reschedule/notice',
  'level-prices': '/level/price/notice/v2',
} as const
export type NoticeName = keyof typeof NOTICE_PATHS

export const PATH = { ...NOTICE_PATHS, signatureTest: '/order/test/ba' } as const

/** Whole paths, such as `/mtp/api/order/pay/notice`. */
export const ENDPOINTS = Object.fromEntries(
  Object.entries(PATH).map(([name, path]) => [name, MOUNT + path]),
) as Readonly<Record<keyof typeof PATH, string>>

/** Some programs read 300 as "received" and would never send a pay notice's codes again, so it gets 400. */
export const failureCodeOf = (url: string): 300 | 400 => (url.split('?')[0]?.endsWith(PATH.pay) ? 400 : 300)

/** Longer paths are not compared, because anybody may send them. */
const LONGEST_COMPARED = 200

/**
 * The path of area B, below one of MTP_PATH_PREFIXES, that a caller of a wrong path most likely meant: the one that
 * shares the most segments, then the one with the fewest letters to change. Undefined for a very long path.
 */
export function nearestPath(prefixes: readonly string[], path: string): string | undefined {
  if (path.length > LONGEST_COMPARED) return undefined
  const given = path.toLowerCase()
  const sent = new Set(segmentsOf(given))
  const inCommon = (path: string): number =>
    segmentsOf(path.toLowerCase()).filter((segment) => sent.has(segment)).length
  const all = Object.values(PATH).flatMap((tail) => spellings(prefixes, tail))
  const most = Math.max(...all.map(inCommon))
  const likely = all.filter((path) => inCommon(path) === most)
  const [nearest] = likely
    .map((path) => ({ path, changes: changesBetween(given, path.toLowerCase()) }))
    .sort((first, second) => first.changes - second.changes)
  return nearest?.path
}

const segmentsOf = (path: string): string[] => path.split('/').filter(Boolean)

/** Levenshtein distance. */
function changesBetween(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at)
  for (let line = 1; line <= from.length; line++) {
    const next = [line]
    for (let at = 1; at <= to.length; at++) {
      const swapped = (row[at - 1] ?? 0) + (from[line - 1] === to[at - 1] ? 0 : 1)
      next.push(Math.min(swapped, (row[at] ?? 0) + 1, (next[at - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[to.length] ?? 0
}
