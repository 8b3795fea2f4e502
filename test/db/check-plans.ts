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

/** Only index scans, and no more rows and pages than one request may touch. */
export function check(all: readonly SeenPlan[], requests: number, bounds: Bounds): void {
  const seen = all.filter(({ text }) => (bounds.only ? text.startsWith(bounds.only) : !isSentLate(text)))
  expect(seen.length, 'statements were seen').toBeGreaterThan(0)
  for (const { text, root } of seen) {
    const scans = nodesOf(root).filter((node) => isLarge(node['Relation Name']))
    const disallowed = scans.filter((node) => !ALLOWED.includes(node['Node Type']))
    expect(
      disallowed.map((node) => `${node['Node Type']} on ${node['Relation Name']}`),
      text,
    ).toEqual([])
  }
  const sum = (of: (plan: SeenPlan) => number) => seen.reduce((total, plan) => total + of(plan), 0) / requests
  const texts = seen.map((plan) => `${rowsTouched(plan)} rows, ${pagesTouched(plan)} pages: ${plan.text}`).join('\n')
  expect(sum(rowsTouched), texts).toBeLessThanOrEqual(bounds.rows)
  expect(sum(pagesTouched), texts).toBeLessThanOrEqual(bounds.pages)
}
