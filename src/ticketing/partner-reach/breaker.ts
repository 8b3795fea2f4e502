import { recordAudit } from '../../platform/audit/index.ts'
import { pageNamed } from '../../platform/db/page.ts'
import { type Deps, inTransaction } from '../../platform/deps.ts'
import { operation } from '../../platform/lib/json/input.ts'
import { showPartner } from '../partners/index.ts'
import type { ReachDeps } from './certificate.ts'
import type { BreakerChange } from './circuit-breakers.ts'
import * as store from './store.ts'

/** A statement only when a breaker opens, stays open after another failure, or closes. */
export async function storeBreaker(
  { db, clock, calls }: ReachDeps,
  partnerId: bigint,
  change: BreakerChange,
): Promise<void> {
  if (change === undefined) return
  const key = { partnerId, process: calls.breakers.process }
  const isOpen = change !== 'closed'
  if (isOpen) await store.upsertOpenBreaker(db, key, change.retryAt, clock.now())
  else await store.deleteOpenBreaker(db, key)
  calls.breakers.keep(partnerId, isOpen)
}

/** Whether a call may be made, or why not: what a process refuses an operator may have allowed again. */
export async function breakerAllows({ db, calls }: ReachDeps, partnerId: bigint, background: boolean) {
  const allowed = calls.breakers.allowsCall(partnerId, background)
  if (allowed === true || !allowed.isKept) return allowed
  if (await store.hasOpenBreaker(db, { partnerId, process: calls.breakers.process })) return allowed
  calls.breakers.reset(partnerId)
  return calls.breakers.allowsCall(partnerId, background)
}

/** What operators see of circuit breakers, and end: each process has its own, and writes down which ones are open. */

/** Partners that some process does not call now, how many processes, since when, and when the next call is tried. */
export const listBreakers = operation(store.breakerFilter, ({ db, clock }: Deps, filter) =>
  pageNamed('breakers', store.listOpenBreakers(db, filter, clock.now())),
)

/** Since when a partner is not called, and when the next call is tried; nothing of one that is called. */
export async function breakerOf(
  deps: Deps,
  { partner_id }: { readonly partner_id: bigint },
): Promise<Partial<Pick<store.OpenBreaker, 'opened_at' | 'retry_at'>>> {
  const { rows } = await store.listOpenBreakers(deps.db, { partner_id, limit: 1 }, deps.clock.now())
  const [open] = rows
  return open ? { opened_at: open.opened_at, retry_at: open.retry_at } : {}
}

/** The next call to the partner is made, in every process. Throws 20007 (404) for a partner that does not exist. */
export async function resetBreaker(deps: Deps, partner_id: bigint) {
  await showPartner(deps, partner_id)
  return inTransaction(deps, async (inside, db) => {
    const processes = await store.deleteOpenBreakersOf(db, partner_id, deps.clock.now())
    const detail = { processes }
    await recordAudit(inside, { event: 'partner_breaker_reset', partnerId: partner_id, detail })
    return { partner_id, processes }
  })
}
