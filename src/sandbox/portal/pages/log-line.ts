import type { Tone } from '../../../platform/lib/action.ts'
import type { Detail, LocalizedText } from '../../../platform/lib/localized-text.ts'
import { maskedReason } from '../../../platform/lib/masked-reason.ts'
import type { Translate } from '../../../platform/lib/web/locale.ts'
import { ifFound } from '../../../platform/lib/web/rescode.ts'
import type { RunDeps, RunEvent } from '../../certification/index.ts'
import type { CheckId, Finding } from '../../checks/index.ts'
import { anchorText } from '../docs/texts.ts'
import { checkText, detailText, interfaceName, localizedText, messageName, valueText } from '../texts.ts'
import { showEntries, showEntry, shownIn, type TrafficEntry } from '../traffic/entry.ts'
import { noticeName } from '../traffic/problems.ts'
import { showMaskedEntry } from '../traffic/show-entry.ts'
import type { TrafficEntryParams } from '../traffic/wire.ts'
import { shownState } from './run-parts.ts'

/** A log line for a page; all texts are in the reader's language. */
export type LogLine = Awaited<ReturnType<typeof logLines>>[number]

export interface LineContext {
  readonly deps: RunDeps
  readonly partnerId: bigint
  readonly t: Translate
  /** When the attempt began. */
  readonly startedAt: Date
  /** Read without signing in: calls that did not complete a wait, perhaps about real customers, are masked. */
  readonly shared?: boolean
}

export async function logLines(context: LineContext, events: readonly RunEvent[]) {
  const exchanges = await exchangesOf(context, events)
  return events.map((event) => {
    const after = Math.max(0, event.at.getTime() - context.startedAt.getTime()) / 1000
    const entry = entryOf(event)
    const exchange = entry ? (exchanges.get(entry.id) ?? null) : undefined
    return {
      seq: event.seq,
      kind: event.kind,
      /** ISO 8601. */
      at: event.at.toISOString(),
      /** Time since the attempt began, such as `+0.31 s`. */
      after: `+${after.toFixed(2)} s`,
      /** The call or notice that the line is about; null if it has been purged. */
      ...(exchange === undefined ? {} : { exchange }),
      ...PLAIN,
      ...contentOf(context, event, exchange),
    }
  })
}

const PLAIN = {
  tone: 'plain' as Tone,
  /** The tone in a word; empty for plain lines. */
  word: '',
  /** Such as what was expected and what was received. */
  facts: [] as readonly (readonly [label: string, value: string])[],
  /** Anchor in the field reference, and its target in words. */
  doc: '',
  docText: '',
  /** The exchange is shown unfolded. */
  open: false,
}

type LineContent = Partial<typeof PLAIN> & { readonly text: string }

function contentOf(context: LineContext, event: RunEvent, exchange: ShownExchange | null | undefined): LineContent {
  const { t } = context
  switch (event.kind) {
    case 'started':
      return { text: t('sandbox.log.started', { number: String(event.data.number) }) }
    case 'calling':
      return {
        text: t('sandbox.log.calling', { interface: interfaceName(event.data.interface, t), url: event.data.url }),
      }
    case 'call': {
      const failed = exchange && !exchange.response
      const text = t('sandbox.log.call', { interface: interfaceName(event.data.interface, t) })
      return { text, ...(failed ? { ...bad(t), open: true } : {}) }
    }
    case 'fault':
      return { text: t('sandbox.log.fault', { fault: localizedText(event.data.fault, t) }) }
    case 'waiting':
      return { text: t('sandbox.log.waiting', { path: event.data.path, notice: noticeText(context, event.data.path) }) }
    case 'notice': {
      const { path, remark } = event.data
      return { text: t('sandbox.log.notice', { notice: noticeText(context, path) }) + remarkText(context, remark) }
    }
    case 'rejected':
      return {
        ...(event.data.remark ? verdict(false, 'warning', t) : { ...bad(t), open: true }),
        text: t('sandbox.log.rejected', refusalValues(context, event.data)) + remarkText(context, event.data.remark),
      }
    case 'unverified':
      return {
        ...{ tone: 'warning', word: t('sandbox.log.unverified') },
        text: t('sandbox.log.unverified_call', refusalValues(context, event.data)),
      }
    case 'wrong-path':
      return {
        ...{ tone: 'warning', word: t('sandbox.log.warning') },
        text: t('sandbox.log.wrong_path', refusalValues(context, event.data)),
      }
    case 'check':
      return shownCheck(maskedCheck(context, event.data), t)
    case 'ended':
      return {
        ...shownState(event.data.outcome, 0, t),
        text: event.data.stopped ? t('sandbox.log.stopped') : t('sandbox.log.ended'),
      }
  }
}

/** The name of the notice at a path, with any prefix. */
const noticeText = ({ deps, t }: LineContext, path: string): string => messageName(noticeName(deps, path) ?? path, t)

const refusalValues = (context: LineContext, { path, reason }: { readonly path: string; readonly reason: Detail }) => ({
  path,
  notice: noticeText(context, path),
  reason: aboutOther(context, reason),
})

const remarkText = (context: LineContext, remark: LocalizedText | undefined): string =>
  remark ? context.t('sandbox.log.still_waiting', { remark: aboutOther(context, remark) }) : ''

/** What is said about a call that did not complete a wait. */
const aboutOther = ({ shared, t }: LineContext, detail: Detail): string =>
  detailText(shared ? maskedReason(detail) : detail, t)

/** These checks fail with the reason of such a call. */
const CHECKS_OF_WAIT: readonly CheckId[] = ['notice-arrived', 'notice-accepted']

const maskedCheck = ({ shared }: LineContext, check: Finding): Finding =>
  shared && !check.passed && CHECKS_OF_WAIT.includes(check.id) && check.actual !== undefined
    ? { ...check, actual: maskedReason(check.actual) }
    : check

const bad = (t: Translate) => ({ tone: 'bad', word: t('sandbox.log.failed') }) as const

export function shownCheck(
  { id, passed, level = 'error', path, expected, actual, doc, problem }: Finding,
  t: Translate,
) {
  // States are explained only if they are wrong.
  const words = (detail: Detail) => (passed ? detailText(detail, t) : valueText(id, detail, t))
  const facts: [string, string][] = []
  if (path) facts.push([t('sandbox.log.path'), path])
  if (expected !== undefined) facts.push([t(problem ? 'sandbox.log.problem' : 'sandbox.log.expected'), words(expected)])
  if (actual !== undefined) facts.push([t('sandbox.log.actual'), words(actual)])
  return {
    ...verdict(passed, level, t),
    text: checkText(id, t, passed),
    facts,
    doc: doc ?? '',
    docText: doc ? anchorText(doc, t) : '',
  }
}

function verdict(passed: boolean, level: 'error' | 'warning', t: Translate): Pick<typeof PLAIN, 'tone' | 'word'> {
  if (passed) return { tone: 'good', word: t('sandbox.log.passed') }
  return level === 'warning' ? { tone: 'warning', word: t('sandbox.log.warning') } : bad(t)
}

/** The call or notice that a line is about. `isOther`: it did not complete a wait. */
function entryOf({ kind, data }: RunEvent): (TrafficEntryParams & { readonly isOther: boolean }) | undefined {
  switch (kind) {
    case 'call':
      return { kind, id: data.call_id, isOther: false }
    case 'notice':
      return { kind, id: data.notice_id, isOther: data.remark !== undefined }
    case 'rejected':
    case 'unverified':
    case 'wrong-path':
      return { kind: 'rejected', id: data.call_id, isOther: true }
    default:
      return undefined
  }
}

/** The exchanges of these lines by id, without those that have been purged. */
async function exchangesOf({ deps, partnerId, t, shared = false }: LineContext, events: readonly RunEvent[]) {
  const entries = events.map(entryOf).filter((entry) => entry !== undefined)
  const whole = entries.filter(({ isOther }) => !(shared && isOther))
  const masked = entries.filter(({ isOther }) => shared && isOther)
  const found = [
    ...(await showEntries(deps, partnerId, whole, shownIn(t))),
    ...(await Promise.all(masked.map((entry) => ifFound(showMaskedEntry(deps, partnerId, entry))))),
  ]
  return new Map(found.flatMap((entry) => (entry ? [[entry.id, exchangeOf(entry, t)]] : [])))
}

/** The exchange of a call; null once it has been purged. */
export async function findExchange(
  { deps, partnerId, t }: Omit<LineContext, 'startedAt'>,
  id: string,
): Promise<ShownExchange | null> {
  const entry = await ifFound(showEntry(deps, partnerId, { kind: 'call', id }, shownIn(t)))
  return entry ? exchangeOf(entry, t) : null
}

/** A request with its response, in either direction; secrets are masked. */
type ShownExchange = ReturnType<typeof exchangeOf>

/** `reason`: why there is no response, or what is wrong with it. */
const exchangeOf = (entry: TrafficEntry, t: Translate) => ({
  ...entry,
  reason: entry.failure ? detailText(entry.failure.detail, t) : null,
})
