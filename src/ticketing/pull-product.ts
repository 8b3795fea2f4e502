import type { z } from 'zod'
import type { Deps } from '../deps.ts'
import { stringifyLossless } from '../lib/lossless.ts'
import { callPartner } from './call-partner.ts'
import type { Failure } from './call-result.ts'
import { type EntryProblem, readEntries } from './entries.ts'
import type { Cause, Difference } from './history.ts'
import { productPull } from './interfaces/product.ts'
import { partnerOf } from './order-answer.ts'
import { type Entry, lockProduct, markProduct, type ProductKey, saveProduct } from './product-store.ts'
import type { OneProduct } from './wire.ts'

/** What a pull has brought: the ids that are stored, what was wrong with the rest, and why it ended early, if it did. */
export interface PullReport {
  readonly pulled: readonly string[]
  readonly problems: readonly EntryProblem[]
  readonly failure: Failure | null
}

const product = productPull.answer.shape.body.element
type Pulled = { readonly parsed: z.output<typeof product>; readonly raw: Entry }

/** Pulls one product from its partner and keeps the whole entry; safe to repeat. */
export async function pullProduct(deps: Deps, input: OneProduct): Promise<PullReport> {
  const { partner_id, partner_deal_id } = input
  const report = await pullProducts(deps, partner_id, { method: 'multi', partnerDealIds: [partner_deal_id] })
  if (report.failure || report.pulled.includes(partner_deal_id) || report.problems.length > 0) return report
  return { ...report, problems: [{ entry: partner_deal_id, path: '', problem: 'is not in the answer' }] }
}

type Request = Parameters<typeof callPartner<'product-pull'>>[3]

/** One call of product pull, stored entry by entry. */
export async function pullProducts(
  deps: Deps,
  partnerId: bigint,
  request: Request,
): Promise<PullReport & { readonly totalSize?: number | undefined }> {
  const partner = await partnerOf(deps, partnerId)
  const result = await callPartner(deps, partner, 'product-pull', request)
  const entries = readEntries(result, product)
  if ('kind' in entries) return { pulled: [], problems: [], failure: entries }
  const cause: Cause = { kind: 'call', id: result.callId }
  for (const entry of entries.good) await keep(deps, partnerId, entry, cause)
  return {
    pulled: entries.good.map(({ parsed }) => parsed.partnerDealId),
    problems: entries.problems,
    failure: null,
    totalSize: result.outcome === 'success' ? result.answer.totalSize : undefined,
  }
}

async function keep(deps: Deps, partnerId: bigint, { parsed, raw }: Pulled, cause: Cause): Promise<void> {
  const key: ProductKey = { partnerId, partnerDealId: parsed.partnerDealId }
  const at = { cause, now: deps.clock.now() }
  await deps.db.tx(async (db) => {
    await markProduct(db, { ...key, saleState: null }, at)
    const before = (await lockProduct(db, key))?.details ?? {}
    const details = stringifyLossless(raw)
    await saveProduct(db, { ...key, title: parsed.title, details }, changes(before, raw), at)
  })
}

/** Field by field; of a product that is new only the title, since the whole entry is kept beside the history. */
function changes(before: Entry, after: Entry): Difference {
  if (Object.keys(before).length === 0) return { title: [null, after.title] }
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  const differing = names.filter((name) => textOf(before[name]) !== textOf(after[name]))
  return Object.fromEntries(differing.map((name) => [name, [before[name] ?? null, after[name] ?? null]]))
}

/** Equal for equal values: PostgreSQL keeps the names of an object in an order of its own. */
const textOf = (value: unknown): string => stringifyLossless({ value: sorted(value) })

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted)
  if (value === null || typeof value !== 'object') return value
  const fields = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))
  return Object.fromEntries(fields.map(([name, field]) => [name, sorted(field)]))
}
