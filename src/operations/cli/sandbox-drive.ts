/**
 * Drives a test run through /sandbox/api. The schemas have only what the commands read of its answers
 * (src/sandbox/portal/api/answer.ts).
 */

import { z } from 'zod'
import { translator } from '../../platform/lib/web/locale.ts'
import { junitCheckLine } from '../../sandbox/portal/index.ts'
import { SandboxAnswer, type SandboxClient } from './sandbox-client.ts'

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
const startAnswer = z.looseObject({ attempt_id: z.string() })
export const reportAnswer = z.looseObject({ report: z.looseObject({}) })

const person = z.looseObject({ name: z.string(), mail: z.string() })
export const contactsAnswer = z.looseObject({
  contacts: z.record(z.string(), person),
  missing_contacts: z.array(z.string()),
})
export type ShownContacts = Pick<z.output<typeof contactsAnswer>, 'contacts' | 'missing_contacts'>

const acceptAnswer = z.looseObject({
  passed: z.boolean(),
  open_steps: z.array(z.string()),
  consumed: z.array(z.union([z.number(), z.bigint()])),
  refunded: z.array(z.union([z.number(), z.bigint()])),
  missing_contacts: z.array(z.string()),
})
type Accepted = z.output<typeof acceptAnswer>

const event = z.looseObject({
  seq: z.number(),
  attempt_id: z.string(),
  step_id: z.string(),
  kind: z.string(),
  data: z.looseObject({}),
})
type ShownRunEvent = z.output<typeof event>
const eventsAnswer = z.looseObject({ events: z.array(event), last_seq: z.number() })

const optionalText = z.string().optional()

const checkData = z.looseObject({
  passed: z.boolean(),
  text: z.string(),
  level: z.enum(['error', 'warning']),
  path: optionalText,
  expected: optionalText,
  actual: optionalText,
  problem: z.boolean().optional(),
})

/** What a step waits for: a notice on this path (below any prefix) about these ids. */
const waitingData = z.looseObject({
  path: z.string(),
  until: z.string(),
  about: z.record(z.string(), z.string()),
  /** The whole notice as JSON. */
  notice: z.string().optional(),
})
export type Awaited = Pick<z.output<typeof waitingData>, 'path' | 'about' | 'notice'>

const endedData = z.looseObject({ outcome: z.string() })
const faultData = z.looseObject({ fault: z.string() })
/** `remark`: why the step still waits. */
const noticeData = z.looseObject({ path: z.string(), remark: optionalText })
const rejectedData = z.looseObject({ path: z.string(), reason: z.string(), remark: optionalText })

/** Does the partner's part while a step waits. `signal` aborts when the wait is over; a rejection ends the wait. */
export type Help = (awaited: Awaited, stepId: string, signal: AbortSignal) => Promise<void>

export interface Drive {
  readonly client: SandboxClient
  /** Prints a line of progress. */
  readonly say: (line: string) => void
  readonly help: Help
}

const WAIT_S = 20
const LAST_WAIT_S = 2

/** Runs the steps of a new run until one does not pass, then requests acceptance. */
export async function driveRun(drive: Drive, begun: ShownRun): Promise<boolean> {
  const { client, say } = drive
  const path = `/runs/${begun.run_id}`
  let run = begun
  let seq = begun.last_seq
  for (;;) {
    const at = run.steps.findIndex(({ current }) => current)
    const step = run.steps[at]
    if (!step) break
    say(`step ${at + 1} of ${run.steps.length}: ${step.id} (${step.name})`)
    const { attempt_id } = await client.post(startAnswer, `${path}/steps/${step.id}/start`)
    const followed = await followAttempt(drive, path, attempt_id, seq)
    seq = followed.seq
    say(`  ${followed.outcome}`)
    // A step whose checks only warn counts as done even if it could not test anything.
    const isDone = followed.outcome === 'passed' || (await client.get(runAnswer, path)).run.steps[at]?.done
    if (!isDone) return false
    run = await moveOn(client, path, step.id)
  }
  const accepted = await client.post(acceptAnswer, `${path}/accept`)
  for (const line of acceptanceLines(accepted)) say(line)
  return accepted.passed
}

/** Moves to the next step. If the response to an earlier try was lost, the run is already there. */
async function moveOn(client: SandboxClient, path: string, stepId: string): Promise<ShownRun> {
  try {
    return (await client.post(runAnswer, `${path}/steps/${stepId}/next`)).run
  } catch (error) {
    if (!(error instanceof SandboxAnswer)) throw error
    const { run } = await client.get(runAnswer, path)
    if (run.current_step === stepId || run.superseded_at !== null) throw error
    return run
  }
}

/** Follows an attempt to its outcome and the end of its log. Throws if the helper fails while the attempt waits. */
async function followAttempt(drive: Drive, path: string, attemptId: string, after: number) {
  const over = new AbortController()
  let seq = after
  const next = async (wait: number, leaving?: AbortSignal): Promise<string | undefined> => {
    const { events, last_seq } = await drive.client.get(
      eventsAnswer,
      `${path}/events?after=${seq}&wait=${wait}`,
      leaving,
    )
    for (const event of events.filter(({ attempt_id }) => attempt_id === attemptId)) {
      seq = event.seq
      if (event.kind === 'ended') return endedData.parse(event.data).outcome
      printEvent(drive, event, over)
    }
    seq = last_seq
    return undefined
  }
  // The helper may have failed because there was nothing left to do: then the step is about to end by itself.
  const last = async (failure: unknown): Promise<string> => {
    for (;;) {
      const before = seq
      const outcome = await next(LAST_WAIT_S)
      if (outcome !== undefined) return outcome
      if (seq === before) throw failure
    }
  }
  try {
    for (;;) {
      const outcome = await next(WAIT_S, over.signal).catch((error: unknown) => {
        if (over.signal.aborted) return last(error)
        throw error
      })
      if (outcome !== undefined) return { seq, outcome }
    }
  } finally {
    over.abort()
  }
}

/** Prints what is awaited and what went wrong, for a person who follows the run. */
function printEvent({ say, help }: Drive, { kind, data, step_id }: ShownRunEvent, over: AbortController): void {
  if (kind === 'check') {
    const { passed, path, expected, actual, problem, ...check } = checkData.parse(data)
    const details = Object.entries({ path, expected, actual, problem }).filter(([, value]) => value !== undefined)
    if (!passed) say(`  ${junitCheckLine({ ...check, ...Object.fromEntries(details) }, translator('en'))}`)
  } else if (kind === 'rejected') {
    const { path, reason, remark } = rejectedData.parse(data)
    say(`  your call to POST ${path} was refused: ${reason}${remark ? `; ${remark}; still waiting` : ''}`)
  } else if (kind === 'notice') {
    const { path, remark } = noticeData.parse(data)
    if (remark) say(`  your notice arrived: POST ${path}: ${remark}; still waiting`)
  } else if (kind === 'unverified') {
    const { path, reason } = rejectedData.parse(data)
    say(`  a call to POST ${path} names your clientId but is not verified, so it does not count: ${reason}`)
  } else if (kind === 'fault') {
    say(`  test condition: ${faultData.parse(data).fault}`)
  } else if (kind === 'wrong-path') {
    const { path, reason } = rejectedData.parse(data)
    say(`  your call to ${path} does not count: ${reason}`)
  } else if (kind === 'waiting') {
    const awaited = waitingData.parse(data)
    const about = Object.entries(awaited.about).map(([field, value]) => `${field} ${value}`)
    say(`  waiting until ${awaited.until} for your call to POST ${awaited.path}: ${about.join(', ')}`)
    help(awaited, step_id, over.signal).catch((error: Error) => {
      if (over.signal.aborted) return
      for (const line of error.message.split('\n')) say(`  ${line}`)
      over.abort(new Error('stopped waiting: nothing will send the notice'))
    })
  }
}

function acceptanceLines({ passed, open_steps, consumed, refunded, missing_contacts }: Accepted): string[] {
  const proof = [
    `  consumed: ${consumed.join(', ') || 'no order of this run'}`,
    `  refunded: ${refunded.join(', ') || 'no order of this run'}`,
  ]
  if (passed) return ['acceptance: passed', ...proof]
  const open = open_steps.length > 0 ? [`  steps that have not passed: ${open_steps.join(', ')}`] : []
  const unnamed = missing_contacts.length > 0 ? [`  contacts to add: ${missing_contacts.join(', ')}`] : []
  return ['acceptance: not passed', ...proof, ...open, ...unnamed]
}
