import { setTimeout as sleep } from 'node:timers/promises'
import type { Deps } from '../deps.ts'

const STORE_ATTEMPTS = 60
const STORE_PAUSE_MS = 1_000

interface Verdict {
  readonly outcome?: keyof DeliveryResult
  readonly status?: number | null
}

/**
 * Why a message was not delivered. `message` is for the recipient: blocked, refused and unreachable addresses read
 * alike. `detail` is for the operator. Neither holds a secret or an address.
 */
export class NotSent extends Error {
  override readonly name = 'NotSent'
  readonly detail: string
  readonly outcome: keyof DeliveryResult
  /** HTTP status, if there was a response. */
  readonly status: number | null

  constructor(message: string, detail: string, { outcome = 'failure', status = null }: Verdict = {}) {
    super(message)
    this.detail = detail
    this.outcome = outcome
    this.status = status
  }
}

/** Outcome of an attempt, for the operator. Holds no secret. */
export interface DeliveryResult {
  /** Failed, to be retried. */
  readonly failure?: string | null | undefined
  /** Failed for good, and left to operators: out of time, or nobody may send so. */
  readonly givenUp?: string | null | undefined
  /** Failed for good because its receiver does not exist or takes no messages: operators cannot mend that. */
  readonly refused?: string | undefined
}

interface Delivery {
  send(): Promise<void>
  markSent(): Promise<unknown>
  /** `problem` is for the recipient. */
  markFailed(problem: string, final: boolean, status: number | null): Promise<unknown>
  readonly givenUpAt: Date
}

/**
 * One attempt to send a message, at least once: if the process dies before `markSent` has committed, it is sent again
 * with the same Message-ID or webhook-id. Hence nothing happens in between, and `markSent` is retried while the
 * database is away.
 */
export async function deliver(
  deps: Pick<Deps, 'assertLeaseHeld' | 'clock'>,
  { send, markSent, markFailed, givenUpAt }: Delivery,
): Promise<DeliveryResult> {
  deps.assertLeaseHeld?.()
  try {
    await send()
  } catch (error) {
    const known = error instanceof NotSent
    const [problem, detail] = known ? [error.message, error.detail] : ['an error of the platform', String(error)]
    const isLate = deps.clock.now() >= givenUpAt
    const outcome = known && error.outcome !== 'failure' ? error.outcome : isLate ? 'givenUp' : 'failure'
    await markFailed(problem, outcome !== 'failure', known ? error.status : null)
    return { [outcome]: detail }
  }
  await retryUntilStored(markSent)
  return {}
}

async function retryUntilStored(work: () => Promise<unknown>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await work()
      return
    } catch (error) {
      if (attempt === STORE_ATTEMPTS) throw error
      await sleep(STORE_PAUSE_MS)
    }
  }
}
