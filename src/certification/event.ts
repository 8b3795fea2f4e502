import { z } from 'zod'
import type { Finding } from '../checks/index.ts'
import type { Said } from '../lib/said.ts'

/**
 * A line of a run's log. Requests and answers are stored once, with their secrets masked, in partner_call, notice and
 * rejected_call; a line refers to them by id.
 */
export type LogEntry =
  | { readonly kind: 'started'; readonly data: { readonly step_id: string; readonly number: number } }
  /** A request goes out. */
  | { readonly kind: 'calling'; readonly data: { readonly interface: string; readonly url: string } }
  /** An exchange is over. */
  | { readonly kind: 'call'; readonly data: { readonly call_id: string; readonly interface: string } }
  /** The platform does wrong what it can do wrong, on purpose. */
  | { readonly kind: 'fault'; readonly data: { readonly fault: Said } }
  /** The partner's turn: what has to come, where, and until when (ISO 8601). */
  | { readonly kind: 'waiting'; readonly data: Waiting }
  /** `remark`: why the step still waits after it. */
  | {
      readonly kind: 'notice'
      readonly data: { readonly notice_id: string; readonly path: string; readonly remark?: Said }
    }
  /** `unverified`: it names the partner, but anybody may have sent it. `wrong-path`: its path does not exist. */
  | {
      readonly kind: 'rejected' | 'unverified' | 'wrong-path'
      readonly data: {
        readonly call_id: string
        readonly path: string
        readonly reason: string
        readonly remark?: Said
      }
    }
  | { readonly kind: 'check'; readonly data: Finding }
  | { readonly kind: 'ended'; readonly data: Ending }

export interface Waiting {
  /** Below MTP_PATH_PREFIXES, such as `/mtp/api/order/consume/notice`. */
  readonly path: string
  readonly until: string
  /** What the notice has to be about: field → value, for a person to copy. */
  readonly about: Readonly<Record<string, string>>
  /** The whole notice as JSON, ready to send. A process of the version before has not kept it. */
  readonly notice?: string
}

/** How an attempt ended; `stopped`: a person did not want to wait any longer. */
export interface Ending {
  readonly outcome: Outcome
  readonly stopped?: true
}

export const OUTCOMES = ['passed', 'failed', 'interrupted'] as const
export type Outcome = (typeof OUTCOMES)[number]

const KINDS = [
  'started',
  'calling',
  'call',
  'fault',
  'waiting',
  'notice',
  'rejected',
  'unverified',
  'wrong-path',
  'check',
  'ended',
] as const satisfies readonly LogEntry['kind'][]

export const runEvent = z.object({
  seq: z.number(),
  attempt_id: z.string(),
  step_id: z.string(),
  at: z.date(),
  kind: z.enum(KINDS),
  data: z.record(z.string(), z.unknown()),
})

/** `seq` counts from 1 within the run, without gaps. */
export type RunEvent = Omit<z.output<typeof runEvent>, 'kind' | 'data'> & LogEntry
