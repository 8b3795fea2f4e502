import { setTimeout as sleep } from 'node:timers/promises'
import { addSeconds, fromEpochSeconds } from '../../platform/lib/clock.ts'
import type { OutputOf } from '../../platform/lib/json/input.ts'
import { stringifyLossless } from '../../platform/lib/json/lossless.ts'
import { type Detail, type LocalizedText, localized } from '../../platform/lib/localized-text.ts'
import { receivedSince } from '../../ticketing/mtp/index.ts'
import type { Warning } from '../../ticketing/mws/index.ts'
import type { PartnerStage } from '../../ticketing/partners/index.ts'
import { type Finding, strictness } from '../checks/index.ts'
import { AttemptInterrupted } from './attempt-log.ts'
import type { Waiting } from './event.ts'
import type { StepContext } from './step-context.ts'

/** Waits, unless the attempt ends meanwhile. */
const pause = ({ signal }: StepContext, ms: number): Promise<void> =>
  sleep(ms, undefined, { signal, ref: false }).catch(() => {
    throw new AttemptInterrupted()
  })

/** Polls until the condition holds; false after `seconds`. */
export async function pollUntil(
  context: StepContext,
  seconds: number,
  condition: () => Promise<boolean>,
  everyMs: number,
): Promise<boolean> {
  const { clock } = context.deps
  const end = clock.elapsedMs() + seconds * 1_000
  for (;;) {
    if (await condition()) return true
    if (clock.elapsedMs() >= end) return false
    await pause(context, everyMs)
  }
}

type ReceivedCall = OutputOf<typeof receivedSince>[number]

interface ExpectedNotice {
  /** Below MTP_PATH_PREFIXES. */
  readonly path: string
  /** What the notice is about, if it is not the expected one; a refused notice may name things that do not exist. */
  readonly otherSubject: (
    body: string,
    accepted: boolean,
  ) => LocalizedText | undefined | Promise<LocalizedText | undefined>
  /** What an accepted notice about the right subject still lacks; undefined if it completes the wait. */
  readonly stillMissing?: (body: string) => LocalizedText | undefined | Promise<LocalizedText | undefined>
  /**
   * Accepted notices count from here on, by default from the start of the attempt: a partner may send one before Start
   * is pressed.
   */
  readonly since?: Date
}

const POLL_MS = 200

/** The checks of waitForNotice; watchNotices only makes the second. */
export const NOTICE_CHECKS = { 'notice-arrived': 'error', 'notice-accepted': 'error' } as const

/** Calls that do not complete the wait are logged up to this number: a live partner may send any number of them. */
const MAX_LOGGED = 20

/**
 * A call may become visible this much later than its time of arrival says. Calls from before that are not read again,
 * so that a step that waits for an hour does not remember and reread any number of them in each poll.
 */
const LATE_S = 60

const later = (one: Date, other: Date): Date => (one > other ? one : other)

function logReceived(
  context: StepContext,
  { id, path, reason, verified, wrong_path }: ReceivedCall,
  remark: LocalizedText | undefined,
): Promise<void> {
  const remarkData = remark && { remark: context.maskText(remark) }
  if (reason === null) return context.append({ kind: 'notice', data: { notice_id: id, path, ...remarkData } })
  const kind = wrong_path ? 'wrong-path' : verified ? 'rejected' : 'unverified'
  return context.append({ kind, data: { call_id: id, path, reason, ...remarkData } })
}

/** Watches for a notice that may or may not arrive; the caller polls. */
export function watchNotices(
  context: StepContext<'notice-accepted'>,
  { path, otherSubject, stillMissing, since }: ExpectedNotice,
) {
  const { deps, partner, startedAt } = context
  const seen = new Map<string, Date>()
  let readFrom = fromEpochSeconds(0)
  let completing: ReceivedCall | undefined
  /** What the last accepted notice about the right subject lacked. */
  let lastIncomplete: LocalizedText | undefined
  /** Why the last call that does not count was ignored: unverified, sent to a wrong path, or about something else. */
  let lastIgnored: LocalizedText | undefined
  /** Why the last notice about the right subject was refused; undefined once one was accepted. */
  let lastRefused: Detail | undefined
  // Counted apart: calls about other orders must not keep the partner's own mistake out of the log.
  let [unrelated, unfit] = [0, 0]

  /** Logs a call; true if it completes the wait. */
  const take = async (call: ReceivedCall): Promise<boolean> => {
    if (!call.verified || call.wrong_path) {
      lastIgnored = reasonIgnored(call)
      if (++unrelated <= MAX_LOGGED) await logReceived(context, call, undefined)
      return false
    }
    const isAccepted = call.reason === null
    const subject = await otherSubject(call.body, isAccepted)
    if (subject) {
      lastIgnored = localized('only-about', { about: context.maskText(subject) })
      if (++unrelated <= MAX_LOGGED) await logReceived(context, call, subject)
      return false
    }
    if (!isAccepted) {
      lastRefused = call.reason ?? ''
      if (++unfit <= MAX_LOGGED) await logReceived(context, call, localized('refused-send-again'))
      return false
    }
    lastRefused = undefined
    const missing = await stillMissing?.(call.body)
    if (!missing || ++unfit <= MAX_LOGGED) await logReceived(context, call, missing)
    if (missing) lastIncomplete = missing
    return missing === undefined
  }

  /** Logs what has arrived since the last poll; returns the notice that completes the wait, once there is one. */
  const poll = async (): Promise<ReceivedCall | undefined> => {
    if (completing) return completing
    const late = addSeconds(deps.clock.now(), -LATE_S)
    const times = { accepted: later(since ?? startedAt, readFrom), refused: later(startedAt, readFrom) }
    const filter = { partnerId: partner.partner_id, path, ...times, seen: [...seen.keys()] }
    for (const call of await receivedSince(deps, filter)) {
      seen.set(call.id, call.received_at)
      if (!(await take(call))) continue
      completing = call
      await context.check('notice-accepted', true)
      for (const problem of envelopeProblems(call.warnings, partner.stage)) {
        await context.check('envelope', false, problem)
      }
      break
    }
    for (const at of seen.values()) if (at < late) readFrom = later(readFrom, at)
    for (const [id, at] of seen) if (at < readFrom) seen.delete(id)
    return completing
  }
  return {
    poll,
    lastIncomplete: () => lastIncomplete,
    lastIgnored: () => lastIgnored,
    lastRefused: () => lastRefused,
  }
}

/**
 * Waits for the partner's notice; when this returns, the platform has accepted it and acted on it. The first suitable
 * one completes the wait. A refused one may be corrected and sent again until time is up, then the step fails with the
 * reason. Unverified calls are only logged, so that nobody else can end a partner's step, and so are calls to paths
 * that do not exist.
 */
export async function waitForNotice(
  context: StepContext<keyof typeof NOTICE_CHECKS>,
  expected: ExpectedNotice & Announced,
  /** May turn what the last notice lacked into a failed check, once time is up. */
  onTimeout?: (incomplete: LocalizedText) => Promise<void>,
): Promise<ReceivedCall> {
  const { path } = expected
  await announceWaiting(context, expected)
  const watch = watchNotices(context, expected)
  let found: ReceivedCall | undefined
  const hasArrived = async () => {
    found = await watch.poll()
    return found !== undefined
  }
  await pollUntil(context, context.noticeTimeoutS, hasArrived, POLL_MS)
  if (!found) await failRefused(context, watch)
  const incomplete = watch.lastIncomplete()
  if (!found && incomplete) await onTimeout?.(incomplete)
  const details = { expected: `POST ${path}`, actual: found?.path ?? watch.lastIgnored() ?? localized('nothing') }
  await context.require('notice-arrived', found !== undefined, details)
  return found as ReceivedCall
}

interface Announced extends Pick<Waiting, 'path' | 'about'> {
  /** A complete example. */
  readonly notice: object
}

/** Logs what the step waits for, and until when. */
export async function announceWaiting(context: StepContext, { path, about, notice }: Announced): Promise<void> {
  const until = addSeconds(context.deps.clock.now(), context.noticeTimeoutS).toISOString()
  // It contains the partner's ids and codes, which may be anything.
  const shown = Object.fromEntries(Object.entries(about).map(([name, value]) => [name, context.mask(value)]))
  const whole = context.mask(stringifyLossless(notice))
  await context.append({ kind: 'waiting', data: { path, until, about: shown, notice: whole } })
}

/** Once time is up: fails the step if the last notice was refused and not corrected. */
export async function failRefused(
  context: StepContext<'notice-accepted'>,
  watch: ReturnType<typeof watchNotices>,
): Promise<void> {
  const refused = watch.lastRefused()
  if (refused !== undefined) await context.require('notice-accepted', false, { expected: 'code 200', actual: refused })
}

const reasonIgnored = ({ wrong_path, path, reason: why }: ReceivedCall): LocalizedText => {
  const reason = why ?? ''
  return wrong_path ? localized('only-wrong-path', { path, reason }) : localized('only-unverified', { reason })
}

const FIELDS: ReadonlyMap<string, string> = new Map<Warning, string>([
  ['partner-id-missing', 'PartnerId'],
  ['body-partner-id-missing', 'partnerId'],
])

/** What the contract requires and this accepted notice lacks. */
const envelopeProblems = (warnings: readonly string[], stage: PartnerStage): Omit<Finding, 'id' | 'passed'>[] =>
  warnings.flatMap((warning) => {
    const path = FIELDS.get(warning)
    const problem = { level: strictness(stage), expected: localized('required'), actual: localized('missing') }
    return path === undefined ? [] : [{ path, ...problem }]
  })
