import type { Detail, LocalizedText } from '../../../platform/lib/localized-text.ts'
import { maskedReason } from '../../../platform/lib/masked-reason.ts'
import type { Translate } from '../../../platform/lib/web/locale.ts'
import { ifFound } from '../../../platform/lib/web/rescode.ts'
import type { Outcome, RunDeps, RunEvent } from '../../certification/index.ts'
import type { CheckId, Finding } from '../../checks/index.ts'
import { anchorText } from '../docs/texts.ts'
import { checkText, detailText, interfaceName, localizedText, messageName, valueText } from '../texts.ts'
import { showEntries, showEntry, type TrafficEntry } from '../traffic/entry.ts'
import { noticeName } from '../traffic/problems.ts'
import { showMaskedEntry } from '../traffic/show-entry.ts'
import { type ShownText, shownIn } from '../traffic/text.ts'
import type { TrafficEntryParams } from '../traffic/wire.ts'

export type Tone = 'plain' | 'good' | 'bad' | 'warning'

/** A log line for a page; all texts are in the reader's language. */
export interface LogLine {
  readonly seq: number
  readonly kind: RunEvent['kind']
  readonly tone: Tone
  /** The tone in a word; empty for plain lines. */
  readonly word: string
  /** ISO 8601. */
  readonly at: string
  /** Time since the attempt began, such as `+0.31 s`. */
  readonly after: string
  readonly text: string
  /** Such as what was expected and what was received. */
  readonly facts: readonly (readonly [label: string, value: string])[]
  /** Anchor in the field reference. */
  readonly doc: string
  /** The target of `doc` in words. */
  readonly docText: string
  /** The call or notice that the line is about; null if it has been purged. */
  readonly exchange?: ShownExchange | null
  /** The exchange is shown unfolded. */
  readonly open: boolean
}

export interface LineContext {
  readonly deps: RunDeps
  readonly partnerId: bigint
  readonly t: Translate
  /** When the attempt began. */
  readonly startedAt: Date
  /**
   * The page is read without signing in: calls that did not complete a wait are masked, since a live partner's may be
   * about real customers.
   */
  readonly shared?: boolean
}

export async function logLines(context: LineContext, events: readonly RunEvent[]): Promise<LogLine[]> {
  const exchanges = await exchangesOf(context, events)
  return events.map((event) => {
    const after = Math.max(0, event.at.getTime() - context.startedAt.getTime()) / 1000
    const entry = entryOf(event)
    const exchange = entry ? (exchanges.get(entry.id) ?? null) : undefined
    return {
      seq: event.seq,
      kind: event.kind,
      tone: 'plain',
      word: '',
      at: event.at.toISOString(),
      after: `+${after.toFixed(2)} s`,
      facts: [],
      doc: '',
      docText: '',
      open: false,
      ...(exchange === undefined ? {} : { exchange }),
      ...contentOf(context, event, exchange),
    }
  })
}

type LineContent = Pick<LogLine, 'text'> & Partial<LogLine>

function contentOf(context: LineContext, event: RunEvent, exchange: LogLine['exchange']): LineContent {
  const { t } = context
  switch (event.kind) {
    case 'started':
      return { text: t('sandbox.log.started', { number: String(event.data.number) }) }
    case 'calling':
      return {
        text: t('sandbox.log.calling', { interface: interfaceName(event.data.interface, t), url: event.data.url }),
      }
    case 'call': {
      const failed = exchange?.answer === null
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
        ...outcome(event.data.outcome, t),
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

export function outcome(ended: Outcome, t: Translate): { tone: Tone; word: string } {
  if (ended === 'passed') return { tone: 'good', word: t('sandbox.log.passed') }
  if (ended === 'not_tested') return { tone: 'warning', word: t('sandbox.log.not_tested') }
  return ended === 'failed' ? bad(t) : { tone: 'warning', word: t('sandbox.log.interrupted') }
}

export function shownCheck(
  { id, passed, level = 'error', path, expected, actual, doc, problem }: Finding,
  t: Translate,
): LineContent {
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

function verdict(passed: boolean, level: 'error' | 'warning', t: Translate): Pick<LogLine, 'tone' | 'word'> {
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

const bodyOf = (body: ShownText, t: Translate): ShownText =>
  body.unreadable ? { ...body, notKept: t('console.traffic.unreadable') } : body

/** A request with its response, in either direction; secrets are masked. */
type ShownExchange = ReturnType<typeof exchangeOf>

const exchangeOf = (
  { kind, id, at, durationMs, failure, request, response, ...entry }: TrafficEntry,
  t: Translate,
) => ({
  /** Its page in Traffic. */
  href: `/sandbox/traffic/${kind}/${id}`,
  at: at.toISOString(),
  durationMs,
  request: { start: `${request.method} ${request.url}`, headers: request.headers ?? [], body: bodyOf(request.body, t) },
  answer: response
    ? { start: `HTTP ${response.status ?? 200}`, headers: response.headers ?? [], body: bodyOf(response.body, t) }
    : null,
  /** Why there is no response, or what is wrong with it. */
  failure: failure ? detailText(failure.detail, t) : null,
  /** The call had to be refused, and was. */
  refusedRightly: entry.outcome.name === 'refused-rightly',
  stringToSign: entry.stringToSign ?? null,
  curl: entry.curl ?? null,
})
