import { MOUNT } from '../../../platform/config/mounts.ts'
import type { Deps } from '../../../platform/deps.ts'
import { fromEpochSeconds, secondsUntil } from '../../../platform/lib/clock.ts'
import { prettyJson } from '../../../platform/lib/json/lossless.ts'
import { PATH } from '../../../ticketing/mws-wire/index.ts'
import { findPartner } from '../../../ticketing/partners/index.ts'
import type { RunEvent } from '../../certification/index.ts'
import { docsLink } from '../docs/anchor.ts'
import { NOTICES } from '../docs/notices.ts'
import { noticeCurl, noticeUrls } from '../notice-curl.ts'
import { type DemoHelp, demoHelp } from './demo-help.ts'
import type { LogLine } from './log-line.ts'
import type { ShownLog } from './shown-log.ts'

/** What a step waits for: the partner's call. */
export interface ShownWaiting {
  readonly path: string
  /** The endpoint's URL under every prefix. */
  readonly urls: readonly string[]
  readonly about: readonly (readonly [field: string, value: string])[]
  readonly secondsLeft: number
  /** `4:59` */
  readonly left: string
  readonly docs: string
  /** The whole notice, indented; null where it is not known. */
  readonly notice: string | null
  /** It as a shell script that signs it with $CLIENT_SECRET. */
  readonly curl: string | null
  readonly demo: DemoHelp | null
  /** Calls that have come meanwhile, with why the step still waits: the last accepted one, and the last one of all. */
  readonly came: readonly LogLine[]
}

/** Calls of the partner, after which a step may still wait. */
const INCOMING: readonly RunEvent['kind'][] = ['notice', 'rejected', 'unverified', 'wrong-path']

/** While a step waits for late tickets it asks for them too. */
const ASKING: readonly RunEvent['kind'][] = ['calling', 'call']
const isOverAfter = (event: RunEvent, path: string): boolean => {
  if (INCOMING.includes(event.kind)) return false
  if (path !== MOUNT + PATH.pay) return true
  return event.kind === 'check' ? event.data.id === 'order-state' : !ASKING.includes(event.kind)
}

/** What the attempt waits for after these lines; null when it is not the partner's turn. */
export async function waitingIn(
  deps: Deps,
  partnerId: bigint,
  events: readonly RunEvent[],
  log: ShownLog | null,
): Promise<ShownWaiting | null> {
  const at = events.findLastIndex(({ kind }) => kind === 'waiting')
  const last = events[at]
  if (last?.kind !== 'waiting') return null
  if (events.slice(at + 1).some((event) => isOverAfter(event, last.data.path))) return null
  const { path, until, about, notice: body } = last.data
  const partner = await findPartner(deps, partnerId)
  const secondsLeft = secondsUntil(fromEpochSeconds(Date.parse(until) / 1000), deps.clock.now())
  const notice = NOTICES.find((candidate) => candidate.path === path)?.name
  return {
    path,
    urls: noticeUrls(deps, path),
    about: Object.entries(about),
    secondsLeft,
    left: `${Math.floor(secondsLeft / 60)}:${String(secondsLeft % 60).padStart(2, '0')}`,
    notice: body === undefined ? null : (prettyJson(body) ?? body),
    curl: (partner && noticeCurl(deps, partner, last.data)) ?? null,
    docs: notice ? docsLink(notice, 'notice', '') : '/sandbox/docs',
    demo: partner ? demoHelp(deps, partner, last.data) : null,
    came: lastCalls(log, last.seq),
  }
}

function lastCalls(log: ShownLog | null, since: number): LogLine[] {
  const lines = log?.lines.filter((line): line is LogLine => 'kind' in line) ?? []
  const calls = lines.filter(({ kind, seq }) => seq > since && INCOMING.includes(kind))
  const last = [calls.findLast(({ kind }) => kind === 'notice'), calls.at(-1)]
  return [...new Set(last.filter((line) => line !== undefined))]
}
