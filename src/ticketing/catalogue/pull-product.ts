import { isDeepStrictEqual } from 'node:util'
import type { z } from 'zod'
import { recordIfOperator } from '../../platform/audit/index.ts'
import type { Deps } from '../../platform/deps.ts'
import type { Cause, Difference } from '../../platform/history/index.ts'
import { operation } from '../../platform/lib/json/input.ts'
import { stringifyLossless } from '../../platform/lib/json/lossless.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { echo } from '../../platform/lib/web/rescode.ts'
import { lenientProblems, productPull, withUsableFields } from '../interfaces/index.ts'
import {
  type CallDeps,
  type CallOptions,
  type CallProblem,
  callPartner,
  existingPartner,
} from '../partner-calls/index.ts'
import { markProduct } from './due-store.ts'
import { type EntryProblem, MAX_ENTRY_PROBLEMS, readEntries } from './entries.ts'
import { implausibleValues, implausibleWarnings } from './implausible.ts'
import { type Entry, lockProduct, nextAsked, type ProductKey, saveProduct } from './product-store.ts'
import { oneProduct } from './wire.ts'

export interface PullReport {
  /** The total number of entries: as the partner states it (totalSize), or as requested; null if unknown. */
  readonly expected: number | null
  readonly received: number
  /** How many entries are invalid; `problems` says why. */
  readonly refused: number
  /** Ids of the stored products. */
  readonly pulled: readonly string[]
  readonly problems: readonly EntryProblem[]
  /** About stored products: lenient fields that were left out, and values that look like mistakes, which are kept. */
  readonly warnings: readonly EntryProblem[]
  readonly failure: CallProblem | null
}

export type PullOptions = Pick<CallOptions, 'background' | 'cause'>

const PRODUCT = productPull.answer.shape.body.element
type Product = z.output<typeof PRODUCT>
type Pulled = { readonly parsed: Product; readonly raw: Entry }

/** Pulls one product from its partner and keeps the whole entry; safe to repeat. */
export const pullProduct = operation(
  oneProduct,
  async (deps: CallDeps, input, options: PullOptions): Promise<PullReport> => {
    await recordIfOperator(deps, {
      event: 'product_pull_asked',
      target: `product:${input.partner_id}/${input.partner_deal_id}`,
      partnerId: input.partner_id,
    })
    const { partner_id, partner_deal_id } = input
    const request = { method: 'multi' as const, partnerDealIds: [partner_deal_id] }
    const report = { ...(await pullProducts(deps, partner_id, request, options)), expected: 1 }
    if (report.failure || report.pulled.includes(partner_deal_id) || report.problems.length > 0) return report
    return { ...report, problems: [{ entry: partner_deal_id, path: '', problem: localized('not-in-response') }] }
  },
)

type Request = Parameters<typeof callPartner<'product-pull'>>[3]

/** One call of product pull, stored entry by entry. */
export async function pullProducts(
  deps: CallDeps,
  partnerId: bigint,
  request: Request,
  options: PullOptions,
): Promise<PullReport> {
  const partner = await existingPartner(deps, partnerId)
  const asked = await nextAsked(deps.db)
  const result = await callPartner(deps, partner, 'product-pull', request, options)
  const entries = readEntries(result, productPull.answer, 'products')
  if ('kind' in entries) {
    return { expected: null, received: 0, refused: 0, pulled: [], problems: [], warnings: [], failure: entries }
  }
  const cause: Cause = { kind: 'call', id: result.callId }
  const products = entries.good.map(({ parsed }) => parsed)
  const implausible = await implausibleValues(deps.db, partnerId, productPull, { body: products })
  for (const entry of entries.good) await storeProduct(deps, partnerId, { ...entry, asked }, cause)
  return {
    expected: entries.fields?.totalSize ?? null,
    received: entries.received,
    refused: entries.received - entries.good.length,
    pulled: entries.good.map(({ parsed }) => parsed.partnerDealId),
    problems: entries.problems,
    warnings: [
      ...entries.good.flatMap(warningsOf),
      ...implausibleWarnings(implausible, (index) => products[index]?.partnerDealId ?? ''),
    ].slice(0, MAX_ENTRY_PROBLEMS),
    failure: null,
  }
}

const warningsOf = ({ parsed, raw }: Pulled): EntryProblem[] =>
  lenientProblems(PRODUCT, raw).map((problem) => ({ ...problem, entry: echo(parsed.partnerDealId) }))

/** Does nothing if the answer to a later request is already stored. */
async function storeProduct(
  deps: Deps,
  partnerId: bigint,
  { parsed, raw, asked }: Pulled & { readonly asked: bigint },
  cause: Cause,
): Promise<void> {
  const key: ProductKey = { partnerId, partnerDealId: parsed.partnerDealId }
  const at = { cause, now: deps.clock.now() }
  await deps.db.tx(async (db) => {
    await markProduct(db, key, at)
    const { details: before = {}, asked: newest = 0n } = (await lockProduct(db, key)) ?? {}
    if (newest > asked) return
    const kept = lenientProblems(PRODUCT, raw).length > 0 ? withUsableFields(PRODUCT, raw, parsed) : raw
    const details = stringifyLossless(kept)
    await saveProduct(db, { ...key, title: parsed.title, details, asked }, changes(before, kept), at)
  })
}

/** Field by field; for a new product only the title, because the product keeps the complete entry. */
function changes(before: Entry, after: Entry): Difference {
  if (Object.keys(before).length === 0) return { title: [null, after.title] }
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  const differing = names.filter((name) => !isDeepStrictEqual(before[name], after[name]))
  return Object.fromEntries(differing.map((name) => [name, [before[name] ?? null, after[name] ?? null]]))
}
