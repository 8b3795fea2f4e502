import { enqueue } from '../../platform/db/jobs-store.ts'
import type { Db } from '../../platform/db/sql.ts'
import type { Deps } from '../../platform/deps.ts'
import { type NewsCause, type ProductNews, type PullKind, saveNews } from './due-store.ts'
import type { SaleState } from './wire.ts'

/** 0 taken off sale, 1 put on sale, 2 information changed, 5 price calendar changed. */
export interface ProductChange {
  readonly partnerDealId: string
  readonly status: 0 | 1 | 2 | 5
}

interface Effect {
  /** Undefined: the notice does not mention the sale. */
  readonly saleState?: SaleState
  readonly pull?: PullKind
}

const EFFECTS: Readonly<Record<ProductChange['status'], Effect>> = {
  0: { saleState: 'off_sale' },
  1: { saleState: 'on_sale', pull: 'product' },
  2: { pull: 'product' },
  5: { pull: 'prices' },
}

/** Creates or marks the products and records what to pull from the partner, atomically. */
export async function applyProductChange(
  deps: Deps,
  partnerId: bigint,
  changes: readonly ProductChange[],
  cause: NewsCause,
): Promise<void> {
  const news = newsOf(changes)
  await deps.db.tx(async (db) => {
    await saveNews(db, partnerId, news, { ...cause, now: deps.clock.now() })
    if (news.some(({ pulls }) => pulls.length > 0)) await queuePulls(db, partnerId)
  })
}

/** Merges changes of the same product; the last one about its sale wins. */
function newsOf(changes: readonly ProductChange[]): ProductNews[] {
  const news = new Map<string, { saleState: SaleState | null; pulls: Set<PullKind> }>()
  for (const { partnerDealId, status } of changes) {
    const change = news.get(partnerDealId) ?? { saleState: null, pulls: new Set() }
    const { saleState = change.saleState, pull } = EFFECTS[status]
    change.saleState = saleState
    if (pull) change.pulls.add(pull)
    news.set(partnerDealId, change)
  }
  return [...news].map(([partnerDealId, { saleState, pulls }]) => ({ partnerDealId, saleState, pulls: [...pulls] }))
}

/** Queues a run of the pulls that are due from the partner. Runs of one partner never overlap, on whatever worker. */
export const queuePulls = (db: Db, partnerId: bigint, afterS = 0): Promise<number> => {
  const key = `pull-due:${partnerId}`
  return enqueue(db, 'pull-due', { partnerId: String(partnerId) }, { key, queue: key, afterS })
}
