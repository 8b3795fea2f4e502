import { randomUUID } from 'node:crypto'
import { recordAudit } from '../../platform/audit/index.ts'
import { withShareOf } from '../../platform/db/sql.ts'
import type { Deps } from '../../platform/deps.ts'
import type { PartnerWithSecrets } from '../partners/index.ts'
import { SignatureSearches } from './diagnose/signature-searches.ts'
import { insertRejectedCall } from './rejected-store.ts'

const COUNTS_WRITTEN_EVERY_MS = 60_000

/** Rejected calls of one partner that were not stored, because there were too many. */
interface UnstoredCalls {
  readonly partner: Pick<PartnerWithSecrets, 'partner_id' | 'client_id'>
  readonly verified: boolean
  calls: number
  readonly timer: NodeJS.Timeout
}

/** The rejected calls that are being stored, and the counts of all. */
class RejectedCalls {
  readonly #deps: Pick<Deps, 'db' | 'clock'>
  readonly #beingStored = new Set<Promise<unknown>>()
  /** For the audit log, one row per partner and minute. By PartnerId, so bounded by the number of partners. */
  readonly #counts = new Map<bigint, { verified: number; unverified: number }>()
  #timer: NodeJS.Timeout | undefined
  readonly #countsBeingWritten = new Set<Promise<unknown>>()
  /** At most two per partner, each until the window of its quota ends. */
  readonly #unstored = new Map<string, UnstoredCalls>()

  constructor(deps: Pick<Deps, 'db' | 'clock'>) {
    this.#deps = deps
  }

  get size(): number {
    return this.#beingStored.size
  }

  store(work: () => Promise<void>): Promise<void> {
    const stored = work().finally(() => this.#beingStored.delete(stored))
    this.#beingStored.add(stored)
    return stored
  }

  /** Without a database counts are lost; requests already log that it is unavailable. */
  count(partnerId: bigint, verified: boolean): void {
    this.#timer ??= setTimeout(() => this.#inBackground(this.#writeCounts()), COUNTS_WRITTEN_EVERY_MS).unref()
    const counted = this.#counts.get(partnerId) ?? { verified: 0, unverified: 0 }
    counted[verified ? 'verified' : 'unverified']++
    this.#counts.set(partnerId, counted)
  }

  /** Counts a call that is not stored; when the window ends, one row says how many there were. */
  countUnstored(partner: UnstoredCalls['partner'], verified: boolean, windowEndsInMs: number): void {
    const key = `${verified} ${partner.client_id}`
    const current = this.#unstored.get(key)
    if (current) {
      current.calls++
      return
    }
    const timer = setTimeout(() => {
      this.#unstored.delete(key)
      this.#inBackground(this.#writeUnstored(counted))
    }, windowEndsInMs).unref()
    const counted: UnstoredCalls = { partner, verified, calls: 1, timer }
    this.#unstored.set(key, counted)
  }

  /** Waits for calls that are being analysed and stored, and writes the counts. */
  async finish(): Promise<void> {
    await Promise.allSettled([...this.#beingStored, ...this.#countsBeingWritten])
    const unstored = [...this.#unstored.values()]
    this.#unstored.clear()
    for (const { timer } of unstored) clearTimeout(timer)
    await Promise.allSettled(unstored.map((counted) => this.#writeUnstored(counted)))
    await this.#writeCounts().catch(() => {})
  }

  #inBackground(writing: Promise<unknown>): void {
    const written = writing.catch(() => {}).finally(() => this.#countsBeingWritten.delete(written))
    this.#countsBeingWritten.add(written)
  }

  async #writeCounts(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const all = [...this.#counts]
    this.#counts.clear()
    const event = { event: 'calls_rejected', actor: { kind: 'partner' }, outcome: 'refused' } as const
    for (const [partnerId, detail] of all) await recordAudit(this.#deps, { ...event, partnerId, detail: { ...detail } })
  }

  #writeUnstored({ partner, verified, calls }: UnstoredCalls): Promise<number> {
    const call = {
      callId: randomUUID(),
      partnerId: partner.partner_id,
      clientId: partner.client_id,
      ...{ path: '', reason: '', headers: {}, body: '', answer: '' },
      verified,
      leftOut: calls,
    }
    return insertRejectedCall(this.#deps.db, call, this.#deps.clock.now())
  }
}

/** State about incoming calls; created once per process. */
export class IncomingCalls {
  readonly rejected: RejectedCalls
  readonly searches = new SignatureSearches()
  /** Cache: partners that have passed the signature tool, which is never taken back. */
  readonly passedSignatureTool = new Set<bigint>()

  constructor(deps: Pick<Deps, 'db' | 'clock'>) {
    this.rejected = new RejectedCalls(withShareOf(deps, 'notices'))
  }

  /** Abandons unfinished analyses and stores the last rejected calls. Call it before the database is closed. */
  async close(): Promise<void> {
    await this.searches.close()
    await this.rejected.finish()
  }
}

export interface IncomingDeps extends Deps {
  readonly incoming: IncomingCalls
}
