import { expect } from 'vitest'
import type { Bounds } from './hot-operations.ts'
import { LARGE } from './million.ts'
import { nodesOf, pagesTouched, rowsTouched, type SeenPlan } from './seen-plans.ts'

const isLarge = (table: string | undefined): boolean => table !== undefined && LARGE.includes(table)
/** A bitmap comes from indexes too: of a partner's two keys either may be asked for. So do the places of rows. */
const ALLOWED = ['Index Scan', 'Index Only Scan', 'Bitmap Heap Scan', 'Tid Scan', 'ModifyTable']

/** Timers send these a moment after the requests that they are about: by then another operation may be looked at. */
const LATE = [
  'refused_request',
  'rate_count',
  'insert into data_access',
  'select app_key from micro_app where app_key = any',
  'rank() over (partition by routing_key, grant_id', // access tokens beyond ACCESS_TOKENS_PER_GRANT
]
const isSentLate = (text: string): boolean => LATE.some((part) => text.includes(part))

/** Indexes only, and no more rows and pages than the bounds of one request allow. */
export function check(all: readonly SeenPlan[], requests: number, bounds: Bounds): void {
  const seen = all.filter(({ text }) => (bounds.only ? text.startsWith(bounds.only) : !isSentLate(text)))
  expect(seen.length, 'statements were seen').toBeGreaterThan(0)
  for (const { text, root } of seen) {
    const ways = nodesOf(root).filter((node) => isLarge(node['Relation Name']))
    const others = ways.filter((node) => !ALLOWED.includes(node['Node Type']))
    expect(
      others.map((node) => `${node['Node Type']} on ${node['Relation Name']}`),
      text,
    ).toEqual([])
  }
  const sum = (of: (plan: SeenPlan) => number) => seen.reduce((total, plan) => total + of(plan), 0) / requests
  const texts = seen.map((plan) => `${rowsTouched(plan)} rows, ${pagesTouched(plan)} pages: ${plan.text}`).join('\n')
  expect(sum(rowsTouched), texts).toBeLessThanOrEqual(bounds.rows)
  expect(sum(pagesTouched), texts).toBeLessThanOrEqual(bounds.pages)
}
