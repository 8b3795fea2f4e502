import { z } from 'zod'
import { type Db, type Fragment, sql } from '../../platform/db/sql.ts'
import { type Cause, PRODUCT_CHANGES } from '../../platform/history/index.ts'
import type { ProductKey } from './product-store.ts'
import type { SaleState } from './wire.ts'

/** The SQL of changes that partners report, and of the pulls that they make due. */

export type PullKind = 'product' | 'prices'

/** What a notice says about a product; `saleState` is null if it does not mention the sale. */
export interface ProductNews {
  readonly partnerDealId: string
  readonly saleState: SaleState | null
  readonly pulls: readonly PullKind[]
}

/** Why products changed, and the kind of notice that reported it and makes pulls due. */
export interface NewsCause {
  readonly cause: Cause
  readonly notice?: 'deal-change' | 'level-prices'
}

/**
 * Creates or marks products, records what has to be pulled, and writes the history, in one statement. `news` names each
 * product once. Rows are locked in the order of their ids, so notices about the same products cannot deadlock.
 */
export const saveNews = (
  db: Db,
  partnerId: bigint,
  news: readonly ProductNews[],
  { cause, notice, now }: NewsCause & { readonly now: Date },
): Promise<number> => {
  const pulls = news.flatMap(({ partnerDealId, pulls: kinds }) => kinds.map((kind) => ({ partnerDealId, kind })))
  return db.exec(
    sql`with before as (
      select partner_deal_id, sale_state from product
      where partner_id = ${partnerId} and partner_deal_id = any (${news.map((change) => change.partnerDealId)}::text[])
    ), saved as (
      insert into product as p (partner_id, partner_deal_id, sale_state, created_at, updated_at)
      select ${partnerId}, partner_deal_id, coalesce(sale_state, 'unknown'), ${now}, ${now}
      from unnest(${news.map((change) => change.partnerDealId)}::text[], ${news.map((change) => change.saleState)}::text[])
        as told (partner_deal_id, sale_state)
      order by partner_deal_id
      on conflict (partner_id, partner_deal_id) do update
        set sale_state = case excluded.sale_state when 'unknown' then p.sale_state else excluded.sale_state end,
          updated_at = excluded.updated_at
      returning partner_deal_id, sale_state
    ), due as (
      insert into pull_due as known (partner_id, partner_deal_id, kind, due_at, notice)
      select ${partnerId}, partner_deal_id, kind, ${now}, ${notice}
      from unnest(${pulls.map((pull) => pull.partnerDealId)}::text[], ${pulls.map(({ kind }) => kind)}::text[])
        as pull (partner_deal_id, kind)
      order by partner_deal_id, kind
      on conflict (partner_id, partner_deal_id, kind) do update
        set notices = known.notices + 1, due_at = excluded.due_at, problem = null, told = false,
          notice = excluded.notice
    )
    insert into ${PRODUCT_CHANGES}
    select ${now}, ${partnerId}, 'product', partner_deal_id, ${cause.kind}, ${cause.id},
      jsonb_build_object('sale_state', jsonb_build_array(before.sale_state, saved.sale_state))
    from saved left join before using (partner_deal_id)
    where before.sale_state is distinct from saved.sale_state`,
  )
}

/** Creates the product unless it exists, and locks it until the transaction ends. */
export const markProduct = (db: Db, { partnerId, partnerDealId }: ProductKey, at: { cause: Cause; now: Date }) =>
  saveNews(db, partnerId, [{ partnerDealId, saleState: null, pulls: [] }], at)

const duePull = z.object({
  partner_deal_id: z.string(),
  kind: z.enum(['product', 'prices']),
  notices: z.string(),
  /** The kind of the newest notice. */
  notice: z.string(),
})
/** `notices` shows whether a newer notice has arrived. */
export type DuePull = z.output<typeof duePull>

/** Pulls that are due, oldest first, and those that have failed last. */
export const nextDue = (db: Db, partnerId: bigint, limit: number): Promise<DuePull[]> =>
  db.many(
    duePull,
    sql`select partner_deal_id, kind, notices, notice from pull_due
        where partner_id = ${partnerId} and problem is null order by due_at, partner_deal_id, kind limit ${limit}`,
  )

const samePull = (partnerId: bigint, { partner_deal_id, kind }: DuePull): Fragment => sql.part`
  partner_id = ${partnerId} and partner_deal_id = ${partner_deal_id} and kind = ${kind}`

/** Marks it as pulled, unless a newer notice has arrived. */
export const clearDue = (db: Db, partnerId: bigint, pull: DuePull): Promise<number> =>
  db.exec(sql`delete from pull_due where ${samePull(partnerId, pull)} and notices = ${pull.notices}`)

/** Puts a pull that has failed behind all others, which would else wait for ever behind some that keep failing. */
export const postponeDue = (db: Db, partnerId: bigint, pull: DuePull, now: Date): Promise<number> =>
  db.exec(sql`update pull_due set due_at = ${now} where ${samePull(partnerId, pull)}`)

/** Marks it as given up, unless a newer notice has arrived. */
export const giveUpDue = (db: Db, partnerId: bigint, pull: DuePull, problem: string): Promise<number> =>
  db.exec(
    sql`update pull_due set problem = ${problem} where ${samePull(partnerId, pull)} and notices = ${pull.notices}`,
  )

export const retryGivenUp = (db: Db, partnerId: bigint): Promise<number> =>
  db.exec(sql`update pull_due set problem = null, told = false where partner_id = ${partnerId} and problem is not null`)

/** Problems that were not reported yet; marks them as reported. */
export const takeUnreportedProblems = (db: Db, partnerId: bigint): Promise<string[]> =>
  db.values(
    z.string(),
    sql`with told as (
          update pull_due set told = true
          where partner_id = ${partnerId} and problem is not null and not told
          returning partner_deal_id, problem
        )
        select problem from told order by partner_deal_id limit 6`,
  )
