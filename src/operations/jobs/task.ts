import type { z } from 'zod'
import type { TokenDeps } from '../../authorization/oauth/index.ts'
import type { UpstreamDeps } from '../../authorization/upstream/index.ts'
import type { Log } from '../../platform/lib/log.ts'
import type { DeliveryResult } from '../../platform/outbound/index.ts'
import type { RunDeps } from '../../sandbox/certification/index.ts'

/** Everything that lives as long as the process, for the operations of all rooms. */
export interface ServiceDeps extends RunDeps, TokenDeps, UpstreamDeps {}

interface RunningJob {
  readonly id: string
  readonly log: Log
  /** Aborts when the worker stops; long jobs should then end early. */
  readonly signal: AbortSignal
}

/** What a job does. Must be safe to repeat: it runs again after throwing, and if the process dies right after it. */
export type Task = (deps: ServiceDeps, payload: unknown, job: RunningJob) => Promise<void>

/** Thrown when a retry would not help: the job is left for an operator to look at. */
export class GiveUp extends Error {
  override readonly name = 'GiveUp'
}

/** A task whose payload has this shape, and whose work returns what has failed, or throws. */
export const task =
  <Payload>(
    payload: z.ZodType<Payload>,
    work: (deps: ServiceDeps, payload: Payload, job: RunningJob) => Promise<DeliveryResult>,
  ): Task =>
  async (deps, given, job) => {
    const { failure, givenUp, refused } = await work(deps, payload.parse(given), job)
    if (refused)
      job.log.warn({ reason: refused }, 'the mail server says that the address takes no mails: the message is not sent')
    if (givenUp) throw new GiveUp(givenUp)
    if (failure) throw new Error(failure)
  }
