import { z } from 'zod'
import { storedDetail, storedText } from '../../platform/lib/localized-text.ts'
import { finding, loggedObject } from '../checks/index.ts'

/** `not_tested`: the step ended before it reached what it is meant to test. */
export const OUTCOMES = ['passed', 'failed', 'not_tested', 'interrupted'] as const
export type Outcome = (typeof OUTCOMES)[number]

const waiting = loggedObject({
  /** Below MTP_PATH_PREFIXES, such as `/mtp/api/order/consume/notice`. */
  path: z.string(),
  until: z.string(),
  /** The fields that identify the expected notice, and their values. */
  about: z.record(z.string(), z.string()),
  /** The complete notice as JSON, ready to send. */
  notice: z.string(),
})
export type Waiting = Readonly<z.output<typeof waiting>>

/** `stopped`: somebody pressed *Stop waiting*. */
const ending = loggedObject({ outcome: z.enum(OUTCOMES), stopped: z.literal(true).exactOptional() })
export type Ending = Readonly<z.output<typeof ending>>

/** A call from the partner that was not accepted. `remark`: why the step is still waiting. */
const notAccepted = loggedObject({
  call_id: z.string(),
  path: z.string(),
  reason: storedDetail,
  remark: storedText.exactOptional(),
})

const line = <Kind extends string, Data extends z.ZodType>(kind: Kind, data: Data) =>
  z.object({
    seq: z.number(),
    attempt_id: z.string(),
    step_id: z.string(),
    at: z.date(),
    kind: z.literal(kind),
    data,
  })

/** A line of a run's log. Calls are stored in their own tables, masked; a line only has their ids. */
export const runEvent = z.discriminatedUnion('kind', [
  line('started', loggedObject({ step_id: z.string(), number: z.number() })),
  /** A request is about to be sent. */
  line('calling', loggedObject({ interface: z.string(), url: z.string() })),
  /** The request was answered, or failed. */
  line('call', loggedObject({ call_id: z.string(), interface: z.string() })),
  /** A fault that the platform injects on purpose. */
  line('fault', loggedObject({ fault: storedText })),
  /** The partner's turn: what it has to send, where, and until when (ISO 8601). */
  line('waiting', waiting),
  /** `remark`: why the step is still waiting. */
  line('notice', loggedObject({ notice_id: z.string(), path: z.string(), remark: storedText.exactOptional() })),
  line('rejected', notAccepted),
  /** Names the partner, but anybody may have sent it. */
  line('unverified', notAccepted),
  /** Sent to a path that does not exist. */
  line('wrong-path', notAccepted),
  line('check', finding),
  line('ended', ending),
])
/** `seq` counts from 1 within the run, without gaps. */
export type RunEvent = z.output<typeof runEvent>

/** What a line says, before it has its place in the log. */
export type LogEntry = ContentOf<RunEvent>
type ContentOf<Line extends RunEvent> = Line extends RunEvent ? Pick<Line, 'kind' | 'data'> : never
