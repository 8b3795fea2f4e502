import { z } from 'zod'
import { storedDetail, storedText } from '../../platform/lib/localized-text.ts'
import { finding, loggedObject } from '../checks/index.ts'

/** `not_tested`: the step came to an end before it had tested what it is there for. */
export const OUTCOMES = ['passed', 'failed', 'not_tested', 'interrupted'] as const
export type Outcome = (typeof OUTCOMES)[number]

const waiting = loggedObject({
  /** Below MTP_PATH_PREFIXES, such as `/mtp/api/order/consume/notice`. */
  path: z.string(),
  until: z.string(),
  /** What the notice has to be about: field → value, for a person to copy. */
  about: z.record(z.string(), z.string()),
  /** The whole notice as JSON, ready to send. */
  notice: z.string(),
})
export type Waiting = Readonly<z.output<typeof waiting>>

/** How an attempt ended; `stopped`: a person did not want to wait any longer. */
const ending = loggedObject({ outcome: z.enum(OUTCOMES), stopped: z.literal(true).exactOptional() })
export type Ending = Readonly<z.output<typeof ending>>

/** A call of the partner that was not accepted. `remark`: why the step still waits after it. */
const notAccepted = loggedObject({
  call_id: z.string(),
  path: z.string(),
  reason: storedDetail,
  remark: storedText.exactOptional(),
})

/** The field `data` of each kind of line. */
const DATA = {
  started: loggedObject({ step_id: z.string(), number: z.number() }),
  /** A request goes out. */
  calling: loggedObject({ interface: z.string(), url: z.string() }),
  /** An exchange is over. */
  call: loggedObject({ call_id: z.string(), interface: z.string() }),
  /** The platform does wrong what it can do wrong, on purpose. */
  fault: loggedObject({ fault: storedText }),
  /** The partner's turn: what has to come, where, and until when (ISO 8601). */
  waiting,
  /** `remark`: why the step still waits after it. */
  notice: loggedObject({ notice_id: z.string(), path: z.string(), remark: storedText.exactOptional() }),
  rejected: notAccepted,
  /** It names the partner, but anybody may have sent it. */
  unverified: notAccepted,
  /** Its path does not exist. */
  'wrong-path': notAccepted,
  check: finding,
  ended: ending,
} as const
type Kind = keyof typeof DATA

/** A line of a run's log. Calls are stored once, masked, in their own tables; a line has their ids. */
export type LogEntry = {
  [Name in Kind]: { readonly kind: Name; readonly data: Readonly<z.output<(typeof DATA)[Name]>> }
}[Kind]

const line = <Name extends Kind>(kind: Name) =>
  z.object({
    seq: z.number(),
    attempt_id: z.string(),
    step_id: z.string(),
    at: z.date(),
    kind: z.literal(kind),
    data: DATA[kind],
  })

export const runEvent = z.discriminatedUnion('kind', [
  line('started'),
  line('calling'),
  line('call'),
  line('fault'),
  line('waiting'),
  line('notice'),
  line('rejected'),
  line('unverified'),
  line('wrong-path'),
  line('check'),
  line('ended'),
])
/** `seq` counts from 1 within the run, without gaps. */
export type RunEvent = z.output<typeof runEvent>
