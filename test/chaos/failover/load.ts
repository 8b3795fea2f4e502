import { setTimeout as sleep } from 'node:timers/promises'
import type { Outcome } from '../calls.ts'
import type { Work } from './works.ts'

/** One request of the load, with its time by performance.now(). */
interface Entry {
  readonly at: number
  readonly outcome: Outcome
}

/** All requests that were sent, and those that were acknowledged. */
interface Ledger {
  readonly entries: Entry[]
  readonly acknowledged: string[]
}

export interface Load {
  readonly ledgers: ReadonlyMap<Work, Ledger>
  /** Milliseconds since the last failed request, or since the start if none has failed. */
  quietMs(): number
  stop(): Promise<void>
}

/** Sends this many requests per second of each kind, regardless of responses. */
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
  /** For each kind of work, seconds between the sending of the first and the last request that failed. */
  readonly outageS: Readonly<Record<string, number>>
  /** Numbers of failures by status (0: no response). `<work> refused`: errors with status 200, which must not occur. */
  readonly failed: Readonly<Record<string, number>>
  readonly withoutRetryAfter: number
  readonly slowestMs: number
  readonly acknowledged: Readonly<Record<string, number>>
  readonly lost: Readonly<Record<string, number>>
}

/** The outcome of a stopped load, after looking up again everything that was acknowledged. */
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
