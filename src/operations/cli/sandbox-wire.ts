import { z } from 'zod'

/** What the commands read of the answers of /sandbox/api; see src/sandbox/portal/api/answer.ts. */

const step = z.looseObject({
  id: z.string(),
  name: z.string(),
  state: z.string(),
  done: z.boolean(),
  running: z.boolean(),
  current: z.boolean(),
  attempts: z.array(z.looseObject({ number: z.number() })),
})

const summary = z.looseObject({
  run_id: z.string(),
  state: z.enum(['under_way', 'all_passed', 'accepted', 'replaced']),
  number: z.number(),
  current_step: z.string().nullable(),
  last_seq: z.number(),
  created_at: z.string(),
  superseded_at: z.string().nullable(),
  passed_at: z.string().nullable(),
})
export type ShownSummary = z.output<typeof summary>

const run = summary.extend({ steps: z.array(step) })
export type ShownRun = z.output<typeof run>

export const runAnswer = z.looseObject({ run })
export const runsAnswer = z.looseObject({ runs: z.array(summary) })
export const startAnswer = z.looseObject({ attempt_id: z.string() })
export const reportAnswer = z.looseObject({ report: z.looseObject({}) })

const person = z.looseObject({ name: z.string(), mail: z.string() })
export const contactsAnswer = z.looseObject({
  contacts: z.record(z.string(), person),
  missing_contacts: z.array(z.string()),
})
export type ShownContacts = Pick<z.output<typeof contactsAnswer>, 'contacts' | 'missing_contacts'>

export const acceptAnswer = z.looseObject({
  passed: z.boolean(),
  open_steps: z.array(z.string()),
  consumed: z.array(z.union([z.number(), z.bigint()])),
  refunded: z.array(z.union([z.number(), z.bigint()])),
  missing_contacts: z.array(z.string()),
})
export type Accepted = z.output<typeof acceptAnswer>

const event = z.looseObject({
  seq: z.number(),
  attempt_id: z.string(),
  step_id: z.string(),
  kind: z.string(),
  data: z.looseObject({}),
})
export type ShownRunEvent = z.output<typeof event>
export const eventsAnswer = z.looseObject({ events: z.array(event), last_seq: z.number() })

const said = z.string().optional()

export const checkData = z.looseObject({
  passed: z.boolean(),
  text: z.string(),
  level: z.enum(['error', 'warning']),
  path: said,
  expected: said,
  actual: said,
  problem: z.boolean().optional(),
})

/** What a step waits for: a notice on a path (below any prefix), and what it has to be about. */
export const waitingData = z.looseObject({
  path: z.string(),
  until: z.string(),
  about: z.record(z.string(), z.string()),
  /** The whole notice as JSON. */
  notice: z.string().optional(),
})
export type Awaited = Pick<z.output<typeof waitingData>, 'path' | 'about' | 'notice'>

export const endedData = z.looseObject({ outcome: z.string() })
export const faultData = z.looseObject({ fault: z.string() })
/** `remark`: why the step still waits. */
export const noticeData = z.looseObject({ path: z.string(), remark: said })
export const rejectedData = z.looseObject({ path: z.string(), reason: z.string(), remark: said })
