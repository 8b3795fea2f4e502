import { setTimeout as sleep } from 'node:timers/promises'
import type { Deps } from '../deps.ts'
import type { EntryProblem } from './entries.ts'
import { type PullReport, pullProducts } from './pull-product.ts'
import type { OnePartner } from './wire.ts'

const PAGE_SIZE = 50
const MOST_PAGES = 10_000
const TRIES = 3
const PAUSE_MS = 1_000

/** Told after each page: entries seen so far, and how many there are in all if the partner says so. */
export type Progress = (seen: number, total: number | undefined) => void

/** Pulls a partner's whole catalogue page by page, and keeps what it has got when a page fails three times. */
export async function pullCatalogue(
  deps: Deps,
  { partner_id }: OnePartner,
  progress: Progress = () => {},
): Promise<PullReport> {
  const pulled = new Set<string>()
  const problems: EntryProblem[] = []
  const known = new Set<string>()
  let seen = 0
  let total: number | undefined
  for (let currentPage = 1; currentPage <= MOST_PAGES; currentPage++) {
    const page = await pullPage(deps, partner_id, currentPage)
    if (page.failure) return { pulled: [...pulled], problems, failure: page.failure }
    const names = new Set([...page.pulled, ...page.problems.map(({ entry }) => entry)])
    // A partner that does not know pages answers with the same entries for ever.
    const isNew = [...names].some((name) => !known.has(name))
    if (!isNew) break
    for (const name of names) known.add(name)
    for (const id of page.pulled) pulled.add(id)
    problems.push(...page.problems)
    seen += names.size
    // A page with an entry that does not fit has lost its count.
    total = page.totalSize ?? total
    progress(seen, total)
    // A partner may give smaller pages than were asked for; what it says of the total counts.
    if (total === undefined ? names.size < PAGE_SIZE : seen >= total) break
  }
  return { pulled: [...pulled], problems, failure: null }
}

/** Reading is safe to repeat; full jitter keeps several pulls from hitting a partner in step. */
async function pullPage(deps: Deps, partnerId: bigint, currentPage: number) {
  const request = { method: 'page', currentPage, pageSize: PAGE_SIZE } as const
  for (let attempt = 1; ; attempt++) {
    const page = await pullProducts(deps, partnerId, request)
    if (!page.failure || page.failure.kind === 'partner-code' || attempt === TRIES) return page
    await sleep(Math.random() * PAUSE_MS * attempt)
  }
}
