import { expect } from 'vitest'
import type { Bounds } from './hot-operations.ts'
import { LARGE } from './million.ts'
import { nodesOf, pagesTouched, rowsTouched, type SeenPlan } from './seen-plans.ts'

const isLarge = (table: string | undefined): boolean => table !== undefined && LARGE.includes(table)
/** Bitmaps come from indexes too, e.g. for either of a partner's two keys, and so do tuple ids. */
const ALLOWED = ['Index Scan', 'Index Only Scan', 'Bitmap Heap Scan', 'Tid Scan', 'ModifyTable']

/** Timers send these a moment after their requests, when another operation may already be under observation. */
const LATE = [
  'refused_request',
  'rate_count',
  'insert into data_access',
  'select app_key from micro_app where app_key = any',
  'rank() over (partition by routing_key, grant_id', // access tokens beyond ACCESS_TOKENS_PER_GRANT
]
const isSentLate = (text: string): boolean => LATE.some((part) => text.includes(part))

const counted = (all: readonly SeenPlan[], bounds: Bounds): readonly SeenPlan[] =>
  all.filter(({ text }) => (bounds.only ? text.startsWith(bounds.only) : !isSentLate(text)))

const sumOf = (seen: readonly SeenPlan[], of: (plan: SeenPlan) => number): number =>
  seen.reduce((total, plan) => total + of(plan), 0)

/** How often a single request may be repeated until it touches no more pages than it may. */
const TRIES = 3

/**
 * What was seen of a single request. An insert may look in vain at a hundred pages, all in memory: PostgreSQL's map of free
 * space still lists those that others have filled, until an insert has visited them. The next one is as cheap as ever.
 */
export async function seenOfOne(see: () => Promise<readonly SeenPlan[]>, bounds: Bounds): Promise<readonly SeenPlan[]> {
  for (let tries = 1; ; tries++) {
    const all = await see()
    if (tries === TRIES || sumOf(counted(all, bounds), pagesTouched) <= bounds.pages) return all
  }
}

/** Only index scans, and no more rows and pages than one request may touch. */
export function check(all: readonly SeenPlan[], requests: number, bounds: Bounds): void {
  const seen = counted(all, bounds)
  expect(seen.length, 'statements were seen').toBeGreaterThan(0)
  for (const { text, root } of seen) {
    const scans = nodesOf(root).filter((node) => isLarge(node['Relation Name']))
    const disallowed = scans.filter((node) => !ALLOWED.includes(node['Node Type']))
    expect(
      disallowed.map((node) => `${node['Node Type']} on ${node['Relation Name']}`),
      text,
    ).toEqual([])
  }
  const sum = (of: (plan: SeenPlan) => number) => sumOf(seen, of) / requests
  const texts = seen.map((plan) => `${rowsTouched(plan)} rows, ${pagesTouched(plan)} pages: ${plan.text}`).join('\n')
  expect(sum(rowsTouched), texts).toBeLessThanOrEqual(bounds.rows)
  expect(sum(pagesTouched), texts).toBeLessThanOrEqual(bounds.pages)
}
