import { randomUUID } from 'node:crypto'
import { recordAudit } from '../../platform/audit/index.ts'
import type { Deps } from '../../platform/deps.ts'
import type { PartnerWithSecrets } from '../partners/index.ts'
import { insertRejectedCall } from './rejected-store.ts'

const EVERY_MS = 60_000

interface Counted {
  verified: number
  unverified: number
}

/** Counts rejected calls for the audit log: one row per partner and minute. */
export class RejectedCounts {
  readonly #deps: Pick<Deps, 'db' | 'clock'>
  /** By PartnerId, so bounded by the number of partners. */
  readonly #counts = new Map<bigint, Counted>()
  #timer: NodeJS.Timeout | undefined

  constructor(deps: Pick<Deps, 'db' | 'clock'>) {
    this.#deps = deps
  }

  count(partnerId: bigint, verified: boolean): void {
    // Without a database the counts are lost; requests already log that it is unavailable.
    this.#timer ??= setTimeout(() => void this.write().catch(() => {}), EVERY_MS).unref()
    const counted = this.#counts.get(partnerId) ?? { verified: 0, unverified: 0 }
    counted[verified ? 'verified' : 'unverified']++
    this.#counts.set(partnerId, counted)
  }

  async write(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const all = [...this.#counts]
    this.#counts.clear()
    const event = { event: 'calls_rejected', actor: { kind: 'partner' }, outcome: 'refused' } as const
    for (const [partnerId, detail] of all) await recordAudit(this.#deps, { ...event, partnerId, detail: { ...detail } })
  }
}

/** Rejected calls of one partner that were not stored, because there were too many. */
interface UnstoredCount {
  readonly partner: Pick<PartnerWithSecrets, 'partner_id' | 'client_id'>
  readonly verified: boolean
  calls: number
  readonly timer: NodeJS.Timeout
}

/** Counts rejected calls that were not stored: at most two counts per partner, each until its window ends. */
export class UnstoredCalls {
  readonly #deps: Pick<Deps, 'db' | 'clock'>
  readonly #counts = new Map<string, UnstoredCount>()

  constructor(deps: Pick<Deps, 'db' | 'clock'>) {
    this.#deps = deps
  }

  /** Counts in memory; when the window ends, one row says how many there were. */
  count(partner: UnstoredCount['partner'], verified: boolean, windowEndsInMs: number): void {
    const key = `${verified} ${partner.client_id}`
    const current = this.#counts.get(key)
    if (current) {
      current.calls++
      return
    }
    const timer = setTimeout(() => {
      this.#counts.delete(key)
      // Without a database the count is lost; requests already log that it is unavailable.
      this.#write(counted).catch(() => {})
    }, windowEndsInMs).unref()
    const counted: UnstoredCount = { partner, verified, calls: 1, timer }
    this.#counts.set(key, counted)
  }

  /** Writes every count now. */
  async write(): Promise<void> {
    const all = [...this.#counts.values()]
    this.#counts.clear()
    for (const { timer } of all) clearTimeout(timer)
    await Promise.allSettled(all.map((counted) => this.#write(counted)))
  }

  #write({ partner, verified, calls }: UnstoredCount): Promise<number> {
    const call = {
      callId: randomUUID(),
      partnerId: partner.partner_id,
      clientId: partner.client_id,
      path: '',
      reason: '',
      headers: {},
      body: '',
      answer: '',
      verified,
      leftOut: calls,
    }
    return insertRejectedCall(this.#deps.db, call, this.#deps.clock.now())
  }
}
