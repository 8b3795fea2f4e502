import { setTimeout as sleep } from 'node:timers/promises'
import type { Deps } from '../deps.ts'

const RECORD_TRIES = 60
const RECORD_PAUSE_MS = 1_000

interface Verdict {
  readonly permanent?: boolean
  readonly status?: number | null
}

/**
 * Why a message did not arrive. `message` is for whoever it is meant for: it says nothing about our network, and blocked,
 * refused and unreachable addresses read alike. `detail` is for the operator. Neither holds a secret or an address.
 */
export class NotSent extends Error {
  override readonly name = 'NotSent'
  readonly detail: string
  /** Trying again would not help. */
  readonly permanent: boolean
  /** HTTP status of the answer, where there was one. */
  readonly status: number | null

  constructor(message: string, detail: string, { permanent = false, status = null }: Verdict = {}) {
    super(message)
    this.detail = detail
    this.permanent = permanent
    this.status = status
  }
}

/** Outcome of an attempt, for the operator. Holds no secret. */
export interface DeliveryResult {
  /** Worth another attempt. */
  readonly failure?: string | null | undefined
  /** Not: it was refused for good, or its time is over. */
  readonly givenUp?: string | null | undefined
}

interface Delivery {
  send(): Promise<void>
  markSent(): Promise<unknown>
  /** `problem` is for the receiver of the message. */
  markFailed(problem: string, final: boolean, status: number | null): Promise<unknown>
  readonly givenUpAt: Date
}

/**
 * One attempt to send a message.
 *
 * At least once: a process that dies after the server has accepted a message and before `markSent` has committed sends
 * it again, with the same Message-ID or webhook-id, by which the receiver can tell. Nothing is done between these two,
 * and a database that is away just then is waited for.
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
    const final = deps.clock.now() >= givenUpAt || (known && error.permanent)
    await markFailed(problem, final, known ? error.status : null)
    return final ? { givenUp: detail } : { failure: detail }
  }
  await retryUntilStored(markSent)
  return {}
}

async function retryUntilStored(work: () => Promise<unknown>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await work()
      return
    } catch (error) {
      if (tries === RECORD_TRIES) throw error
      await sleep(RECORD_PAUSE_MS)
    }
  }
}
