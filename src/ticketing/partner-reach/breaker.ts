import { recordAudit } from '../../platform/audit/index.ts'
import { pageNamed } from '../../platform/db/page.ts'
import { type Deps, inTransaction } from '../../platform/deps.ts'
import { DatabaseUnavailable } from '../../platform/lib/database-errors.ts'
import { operation } from '../../platform/lib/json/input.ts'
import { showPartner } from '../partners/index.ts'
import type { ReachDeps } from './certificate.ts'
import type { BreakerChange } from './circuit-breakers.ts'
import * as store from './store.ts'

/**
 * Stores a change of a breaker; for most calls there is none, and no query. During an outage of the database the next
 * call stores it: the answer of this one counts.
 */
export async function storeBreaker(
  { db, clock, calls }: ReachDeps,
  partnerId: bigint,
  change: BreakerChange,
): Promise<void> {
  if (change === undefined) return
  const key = { partnerId, process: calls.breakers.process }
  const isOpen = change !== 'closed'
  try {
    if (isOpen) await store.upsertOpenBreaker(db, key, change.retryAt, clock.now())
    else await store.deleteOpenBreaker(db, key)
    calls.breakers.keep(partnerId, isOpen)
  } catch (error) {
    if (!(error instanceof DatabaseUnavailable)) throw error
  }
}

/** Whether a call may be made, or why not. Before refusing, it checks whether an operator has reset the breaker. */
export async function breakerAllows({ db, calls }: ReachDeps, partnerId: bigint, background: boolean) {
  const allowed = calls.breakers.allowsCall(partnerId, background)
  if (allowed === true || !allowed.isKept) return allowed
  if (await store.hasOpenBreaker(db, { partnerId, process: calls.breakers.process })) return allowed
  calls.breakers.reset(partnerId)
  return calls.breakers.allowsCall(partnerId, background)
}

/** Partners whose breaker is open in some process: in how many, since when, and when the next call is tried. */
export const listBreakers = operation(store.breakerFilter, ({ db, clock }: Deps, filter) =>
  pageNamed('breakers', store.listOpenBreakers(db, filter, clock.now())),
)

/** Since when a partner's breaker is open, and when the next call is tried; empty if it is closed. */
export async function breakerOf(
  deps: Deps,
  { partner_id }: { readonly partner_id: bigint },
): Promise<Partial<Pick<store.OpenBreaker, 'opened_at' | 'retry_at'>>> {
  const { rows } = await store.listOpenBreakers(deps.db, { partner_id, limit: 1 }, deps.clock.now())
  const [open] = rows
  return open ? { opened_at: open.opened_at, retry_at: open.retry_at } : {}
}

/** Closes the partner's breaker in every process. Throws 20007 (404) for an unknown partner. */
export async function resetBreaker(deps: Deps, partner_id: bigint) {
  await showPartner(deps, partner_id)
  return inTransaction(deps, async (inside, db) => {
    const processes = await store.deleteOpenBreakersOf(db, partner_id, deps.clock.now())
    const detail = { processes }
    await recordAudit(inside, { event: 'partner_breaker_reset', partnerId: partner_id, detail })
    return { partner_id, processes }
  })
}
