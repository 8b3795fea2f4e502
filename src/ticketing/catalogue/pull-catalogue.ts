import { setTimeout as sleep } from 'node:timers/promises'
import { recordIfOperator } from '../../platform/audit/index.ts'
import { COMMAND_WAITS_S } from '../../platform/config/call-limits.ts'
import { addSeconds } from '../../platform/lib/clock.ts'
import { operation } from '../../platform/lib/json/input.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import type { CallCause, CallDeps, CallProblem } from '../partner-calls/index.ts'
import { onePartner } from '../partners/index.ts'
import { type EntryProblem, MAX_ENTRY_PROBLEMS, WHOLE } from './entries.ts'
import { type PullReport, pullProducts } from './pull-product.ts'

const PAGE_SIZE = 50
const MAX_PAGES = 10_000
const MAX_ENTRIES = MAX_PAGES * PAGE_SIZE
/** An operator waits for the result, including three tries of the last page. A slow partner could take days. */
const LONGEST_S = COMMAND_WAITS_S - 120
const TRIES = 3
const PAUSE_MS = 1_000

/**
 * Pulls a partner's whole catalogue page by page. It ends when the partner's total is reached or a page has nothing
 * new: the size of a page proves nothing, because a partner may send smaller pages than requested, or ignore paging.
 * When a page fails three times, or after eight minutes, what was pulled so far is kept.
 */
export const pullCatalogue = operation(
  onePartner,
  async (deps: CallDeps, { partner_id }, cause: CallCause): Promise<PullReport> => {
    await recordIfOperator(deps, { event: 'products_pull_asked', partnerId: partner_id })
    const end = addSeconds(deps.clock.now(), LONGEST_S)
    const known = new Set<string>()
    const pulled = new Set<string>()
    const problems: EntryProblem[] = []
    const warnings: EntryProblem[] = []
    let [expected, received, refused]: [number | null, number, number] = [null, 0, 0]
    const report = (failure: CallProblem | null): PullReport => ({
      ...{ expected, received, refused, pulled: [...pulled], failure },
      warnings: warnings.slice(0, MAX_ENTRY_PROBLEMS),
      problems: [...problems.slice(0, MAX_ENTRY_PROBLEMS), ...(failure ? [] : countProblem(expected, known.size))],
    })
    for (let currentPage = 1; currentPage <= MAX_PAGES && known.size < MAX_ENTRIES; currentPage++) {
      const page = await pullPage(deps, partner_id, currentPage, cause)
      if (page.failure) return report(page.failure)
      const names = [...page.pulled, ...page.problems.map(({ entry }) => entry)].filter((entry) => entry !== WHOLE)
      if (currentPage === 1) {
        expected = page.expected
        problems.push(...page.problems.filter(({ entry }) => entry === WHOLE))
      }
      const isNew = names.some((name) => !known.has(name))
      if (!isNew) break
      for (const name of names) known.add(name)
      for (const id of page.pulled) pulled.add(id)
      if (problems.length < MAX_ENTRY_PROBLEMS) problems.push(...page.problems.filter(({ entry }) => entry !== WHOLE))
      if (warnings.length < MAX_ENTRY_PROBLEMS) warnings.push(...page.warnings)
      expected = page.expected ?? expected
      received += page.received
      refused += page.refused
      if (known.size === expected) break
      if (deps.clock.now() >= end) {
        problems.unshift({ entry: WHOLE, path: '', problem: localized('pull-too-long', { seconds: LONGEST_S }) })
        break
      }
    }
    return report(null)
  },
)

/** Without it, half a catalogue would look complete. */
const countProblem = (expected: number | null, different: number): EntryProblem[] =>
  expected === null || expected === different
    ? []
    : [{ entry: WHOLE, path: 'totalSize', problem: localized('total-differs', { expected, different }) }]

/** Reads are safe to retry; full jitter keeps concurrent pulls from retrying in step. */
async function pullPage(deps: CallDeps, partnerId: bigint, currentPage: number, cause: CallCause) {
  const request = { method: 'page', currentPage, pageSize: PAGE_SIZE } as const
  for (let attempt = 1; ; attempt++) {
    const page = await pullProducts(deps, partnerId, request, { cause })
    if (!page.failure || page.failure.kind === 'partner-code' || attempt === TRIES) return page
    await sleep(Math.random() * PAUSE_MS * attempt)
  }
}
