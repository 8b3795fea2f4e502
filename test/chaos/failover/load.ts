import { setTimeout as sleep } from 'node:timers/promises'
import type { Outcome } from '../calls.ts'
import type { Work } from './works.ts'

/** One request of the load, by performance's clock. */
interface Entry {
  readonly at: number
  readonly outcome: Outcome
}

/** Everything that was sent, and what was acknowledged. */
interface Ledger {
  readonly entries: Entry[]
  readonly acknowledged: string[]
}

export interface Load {
  readonly ledgers: ReadonlyMap<Work, Ledger>
  /** Milliseconds since the last request that has failed; since the start where none has. */
  quietMs(): number
  stop(): Promise<void>
}

/** Sends so many a second of each kind, whatever the answers do. */
export function startLoad(works: readonly Work[], perSecond: number): Load {
  const ledgers = new Map(works.map((work) => [work, { entries: [], acknowledged: [] } as Ledger]))
  const running = new Set<Promise<void>>()
  let failedAt = performance.now()
  let over = false
  const send = async (work: Work, { entries, acknowledged }: Ledger): Promise<void> => {
    const at = performance.now()
    const sent = await work.send()
    entries.push({ at, outcome: sent.outcome })
    if (sent.acknowledged === undefined) failedAt = performance.now()
    else acknowledged.push(sent.acknowledged)
  }
  const keepSending = async (work: Work, ledger: Ledger): Promise<void> => {
    const began = performance.now()
    for (let n = 0; !over; n++) {
      await sleep(Math.max(0, began + (n * 1000) / perSecond - performance.now()))
      const one = send(work, ledger).finally(() => running.delete(one))
      running.add(one)
    }
  }
  const sending = Promise.all([...ledgers].map(([work, ledger]) => keepSending(work, ledger)))
  return {
    ledgers,
    quietMs: () => performance.now() - failedAt,
    stop: async () => {
      over = true
      await sending
      await Promise.all(running)
    },
  }
}

export interface Account {
  /** By kind of work, from the first request that failed to the last one, seconds; by when they were sent. */
  readonly outageS: Readonly<Record<string, number>>
  /** How many failed, by status; 0: no answer. A status of 200 is a refusal that should not have come. */
  readonly failed: Readonly<Record<string, number>>
  readonly withoutRetryAfter: number
  readonly slowestMs: number
  readonly acknowledged: Readonly<Record<string, number>>
  readonly lost: Readonly<Record<string, number>>
}

/** What became of a load that has stopped, with everything acknowledged looked up again. */
export async function accountOf({ ledgers }: Load): Promise<Account> {
  const all = [...ledgers.values()].flatMap(({ entries }) => entries)
  const failures = all.filter(({ outcome }) => outcome.status !== 200)
  const failed: Record<string, number> = {}
  for (const { outcome } of failures) failed[outcome.status] = (failed[outcome.status] ?? 0) + 1
  const outageS: Record<string, number> = {}
  const acknowledged: Record<string, number> = {}
  const lost: Record<string, number> = {}
  for (const [work, ledger] of ledgers) {
    const times = ledger.entries.filter(({ outcome }) => outcome.status !== 200).map(({ at }) => at)
    outageS[work.name] = times.length === 0 ? 0 : (Math.max(...times) - Math.min(...times)) / 1000
    acknowledged[work.name] = ledger.acknowledged.length
    lost[work.name] = (await work.lost(ledger.acknowledged)).length
    const refused = ledger.entries.filter(({ outcome }) => outcome.status === 200).length - ledger.acknowledged.length
    if (refused > 0) failed[`${work.name} refused`] = refused
  }
  return {
    outageS,
    failed,
    withoutRetryAfter: failures.filter(({ outcome }) => outcome.status === 503 && !outcome.retryAfter).length,
    slowestMs: Math.max(...all.map(({ outcome }) => outcome.ms)),
    acknowledged,
    lost,
  }
}
