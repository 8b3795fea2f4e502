import type { Deps } from '../../../platform/deps.ts'
import { fromEpochSeconds, secondsUntil } from '../../../platform/lib/clock.ts'
import { prettyJson } from '../../../platform/lib/json/lossless.ts'
import { shellQuoted } from '../../../platform/lib/shell-quoted.ts'
import { ENDPOINTS } from '../../../ticketing/mws-wire/index.ts'
import { findPartner, type PartnerWithSecrets } from '../../../ticketing/partners/index.ts'
import type { RunEvent, Waiting } from '../../certification/index.ts'
import { demoActionFor, isDemo } from '../demo-partner.ts'
import { docsLink, NOTICES } from '../docs/notices.ts'
import { noticeCurl, noticeUrls } from '../traffic/curl.ts'
import type { LogLine } from './log-line.ts'
import type { ShownLog } from './shown-log.ts'

/**
 * How to do the demo partner's part of a step: in its back office, or by a call to its control API. Null for other
 * partners, and if a seller runs their own program as the demo partner: they have to send the notice themselves.
 */
export function demoHelp(deps: Pick<Deps, 'config'>, partner: PartnerWithSecrets, waiting: Waiting) {
  const action = demoActionFor(waiting)
  if (!isDemo(deps, partner) || partner.base_url === null || !action) return null
  const { hostname, port } = new URL(partner.base_url)
  if (hostname !== '127.0.0.1' || port !== String(deps.config.DEMO_PARTNER_PORT)) return null
  const office = `http://localhost:${port}`
  const body = shellQuoted(JSON.stringify(action.input))
  const curl = `curl -X POST ${office}/control/${action.name} -H 'Content-Type: application/json' -d ${body}`
  return { office, curl }
}

/** Calls from the partner, after which a step may still be waiting. */
const INCOMING: readonly RunEvent['kind'][] = ['notice', 'rejected', 'unverified', 'wrong-path']

/** A step that waits for a pay notice also queries the order. */
const QUERYING: readonly RunEvent['kind'][] = ['calling', 'call']
const isOverAfter = (event: RunEvent, path: string): boolean => {
  if (INCOMING.includes(event.kind)) return false
  if (path !== ENDPOINTS.pay) return true
  return event.kind === 'check' ? event.data.id === 'order-state' : !QUERYING.includes(event.kind)
}

/** What the attempt is waiting for after these lines; null if it is not the partner's turn. */
export async function waitingIn(deps: Deps, partnerId: bigint, events: readonly RunEvent[], log: ShownLog | null) {
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
    /** The endpoint's URL under every prefix. */
    urls: noticeUrls(deps, path),
    /** Any status will do; the notice below has one. */
    about: Object.entries(about).filter(([field]) => field !== 'status'),
    secondsLeft,
    /** `4:59` */
    left: `${Math.floor(secondsLeft / 60)}:${String(secondsLeft % 60).padStart(2, '0')}`,
    /** The complete notice, indented; null if unknown. */
    notice: body === undefined ? null : (prettyJson(body) ?? body),
    /** A shell script that sends it, signed with $CLIENT_SECRET. */
    curl: (partner && noticeCurl(deps, partner, last.data)) ?? null,
    docs: notice ? docsLink(notice, 'notice', '') : '/sandbox/docs',
    demo: partner ? demoHelp(deps, partner, last.data) : null,
    /** The last accepted call and the last call of all since then, with why the step is still waiting. */
    received: lastCalls(log, last.seq),
  }
}

function lastCalls(log: ShownLog | null, since: number): LogLine[] {
  const lines = log?.lines.filter((line): line is LogLine => 'kind' in line) ?? []
  const calls = lines.filter(({ kind, seq }) => seq > since && INCOMING.includes(kind))
  const last = [calls.findLast(({ kind }) => kind === 'notice'), calls.at(-1)]
  return [...new Set(last.filter((line) => line !== undefined))]
}
