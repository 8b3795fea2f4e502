import { setTimeout as sleep } from 'node:timers/promises'
import { addSeconds } from '../../platform/lib/clock.ts'
import type { OutputOf } from '../../platform/lib/json/input.ts'
import { stringifyLossless } from '../../platform/lib/json/lossless.ts'
import { type Detail, type LocalizedText, localized } from '../../platform/lib/localized-text.ts'
import { receivedSince } from '../../ticketing/mtp/index.ts'
import { WARNINGS } from '../../ticketing/mws/index.ts'
import type { PartnerStage } from '../../ticketing/partners/index.ts'
import { type Finding, strictness } from '../checks/index.ts'
import { AttemptOver } from './attempt-log.ts'
import type { Waiting } from './event.ts'
import type { StepContext } from './step-context.ts'

/** Waits, unless the attempt ends meanwhile. */
const pause = ({ signal }: StepContext, ms: number): Promise<void> =>
  sleep(ms, undefined, { signal, ref: false }).catch(() => {
    throw new AttemptOver()
  })

/** Asks again and again until the answer is true; false after `seconds`. */
export async function askUntil(
  context: StepContext,
  seconds: number,
  isThere: () => Promise<boolean>,
  everyMs = 1_000,
): Promise<boolean> {
  const { clock } = context.deps
  const end = addSeconds(clock.now(), seconds)
  for (;;) {
    if (await isThere()) return true
    if (clock.now() >= end) return false
    await pause(context, everyMs)
  }
}

type ReceivedCall = OutputOf<typeof receivedSince>[number]

/** A notice that a step waits for. */
interface ExpectedNotice {
  /** Below MTP_PATH_PREFIXES. */
  readonly path: string
  /** What a notice is about instead, if it is not the one; a refused one may name nothing that exists. */
  readonly concernsOther: (
    body: string,
    accepted: boolean,
  ) => LocalizedText | undefined | Promise<LocalizedText | undefined>
  /** What an accepted notice about the right thing does not say yet; undefined for the one that decides. */
  readonly stillMissing?: (body: string) => LocalizedText | undefined | Promise<LocalizedText | undefined>
  /** From when on it counts; else from the start of the attempt. A partner may send it before the person presses Start. */
  readonly since?: Date
}

/** What has come on the path of a notice so far. */
interface NoticeWatch {
  /** Writes into the log what has come since the last look; returns the first notice that decides, once there is one. */
  look(): Promise<ReceivedCall | undefined>
  /** Why the last notice about the right thing did not decide. */
  lastIncomplete(): LocalizedText | undefined
  /** The last call that does not count, because anybody may have sent it or its path does not exist; or what it is about instead. */
  lastIgnored(): LocalizedText | undefined
  /** Why the last one was refused, of those about the right thing. */
  lastRefused(): Detail | undefined
}

const LOOK_EVERY_MS = 200

/** The checks of waitForNotice; watchNotices makes the second one only. */
export const NOTICE_CHECKS = { 'notice-arrived': 'error', 'notice-accepted': 'error' } as const

/** Makes a failed check of what the last notice did not say. */
type OnTimeout = (incomplete: LocalizedText) => Promise<void>

/** Calls that do not decide and are written into the log; a live partner sends any number of them meanwhile. */
const MAX_OTHERS = 20

function logReceived(
  context: StepContext,
  { id, path, reason, verified, wrong_path }: ReceivedCall,
  found: LocalizedText | undefined,
): Promise<void> {
  const remark = found && { remark: context.maskText(found) }
  if (reason === null) return context.append({ kind: 'notice', data: { notice_id: id, path, ...remark } })
  const kind = wrong_path ? 'wrong-path' : verified ? 'rejected' : 'unverified'
  return context.append({ kind, data: { call_id: id, path, reason, ...remark } })
}

/** Watches for a notice that may come or not; the step looks by itself. */
export function watchNotices(
  context: StepContext<'notice-accepted'>,
  { path, concernsOther, stillMissing, since }: ExpectedNotice,
): NoticeWatch {
  const { deps, partner, startedAt } = context
  const seen = new Set<string>()
  let decided: ReceivedCall | undefined
  let [lastIncomplete, lastIgnored]: (LocalizedText | undefined)[] = []
  let lastRefused: Detail | undefined
  let others = 0

  /** Whether this call decides. */
  const take = async (call: ReceivedCall): Promise<boolean> => {
    if (!call.verified || call.wrong_path) {
      lastIgnored = reasonIgnored(call)
      if (++others <= MAX_OTHERS) await logReceived(context, call, undefined)
      return false
    }
    const isAccepted = call.reason === null
    const otherSubject = await concernsOther(call.body, isAccepted)
    if (otherSubject) {
      lastIgnored = localized('only-about', { about: context.maskText(otherSubject) })
      if (++others <= MAX_OTHERS) await logReceived(context, call, otherSubject)
      return false
    }
    if (!isAccepted) {
      lastRefused = call.reason ?? ''
      if (++others <= MAX_OTHERS) await logReceived(context, call, localized('refused-send-again'))
      return false
    }
    lastRefused = undefined
    const missing = await stillMissing?.(call.body)
    if (!missing || ++others <= MAX_OTHERS) await logReceived(context, call, missing)
    if (missing) lastIncomplete = missing
    return missing === undefined
  }

  const look = async () => {
    if (decided) return decided
    const times = { accepted: since ?? startedAt, refused: startedAt }
    const filter = { partnerId: partner.partner_id, path, ...times, seen: [...seen] }
    for (const call of await receivedSince(deps, filter)) {
      seen.add(call.id)
      if (!(await take(call))) continue
      decided = call
      await context.check('notice-accepted', true)
      for (const problem of envelopeProblems(call.warnings, partner.stage)) {
        await context.check('envelope', false, problem)
      }
      break
    }
    return decided
  }
  return {
    look,
    lastIncomplete: () => lastIncomplete,
    lastIgnored: () => lastIgnored,
    lastRefused: () => lastRefused,
  }
}

/**
 * Waits for the partner's notice, which the platform has accepted and acted on when this returns. The first right one
 * decides. One that was refused may be corrected and sent again as long as there is time; after that it fails the step
 * with the reason. One that anybody may have sent is only logged: nobody else must be able to end a partner's step. So
 * is one to a path that does not exist. `notice` is the whole one as it would be right. When time is over, `onTimeout`
 * may make a check of its own of what the last notice did not say.
 */
export async function waitForNotice(
  context: StepContext<keyof typeof NOTICE_CHECKS>,
  expected: ExpectedNotice & Pick<Waiting, 'about'> & { readonly notice: object; readonly onTimeout?: OnTimeout },
): Promise<ReceivedCall> {
  const { path, onTimeout } = expected
  await announceWaiting(context, expected)
  const watch = watchNotices(context, expected)
  let found: ReceivedCall | undefined
  const isThere = async () => {
    found = await watch.look()
    return found !== undefined
  }
  await askUntil(context, context.noticeTimeoutS, isThere, LOOK_EVERY_MS)
  if (!found) await failRefused(context, watch)
  const incomplete = watch.lastIncomplete()
  if (!found && incomplete) await onTimeout?.(incomplete)
  const details = { expected: `POST ${path}`, actual: found?.path ?? watch.lastIgnored() ?? localized('nothing') }
  await context.require('notice-arrived', found !== undefined, details)
  return found as ReceivedCall
}

/** Says in the log what the step waits for, and how long. */
export async function announceWaiting(
  context: StepContext,
  { path, about, notice }: Pick<ExpectedNotice, 'path'> & Pick<Waiting, 'about'> & { readonly notice: object },
): Promise<void> {
  const until = addSeconds(context.deps.clock.now(), context.noticeTimeoutS).toISOString()
  // Ids and codes of the partner are in it, and may be anything.
  const shown = Object.fromEntries(Object.entries(about).map(([name, value]) => [name, context.mask(value)]))
  const whole = context.mask(stringifyLossless(notice))
  await context.append({ kind: 'waiting', data: { path, until, about: shown, notice: whole } })
}

/** When time is over: a notice that was refused and not corrected fails the step. */
export async function failRefused(context: StepContext<'notice-accepted'>, watch: NoticeWatch): Promise<void> {
  const refused = watch.lastRefused()
  if (refused !== undefined) await context.require('notice-accepted', false, { expected: 'code 200', actual: refused })
}

const reasonIgnored = ({ wrong_path, path, reason: why }: ReceivedCall): LocalizedText => {
  const reason = why ?? ''
  return wrong_path ? localized('only-wrong-path', { path, reason }) : localized('only-unverified', { reason })
}

const FIELDS: ReadonlyMap<string, string> = new Map([
  [WARNINGS.partnerIdMissing.name, 'PartnerId'],
  [WARNINGS.bodyPartnerIdMissing.name, 'partnerId'],
])

/** What the contract requires of a notice, and this accepted one does not have. */
const envelopeProblems = (warnings: readonly string[], stage: PartnerStage): Omit<Finding, 'id' | 'passed'>[] =>
  warnings.flatMap((warning) => {
    const path = FIELDS.get(warning)
    const problem = { level: strictness(stage), expected: localized('required'), actual: localized('missing') }
    return path === undefined ? [] : [{ path, ...problem }]
  })
