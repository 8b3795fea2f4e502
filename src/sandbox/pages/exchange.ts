import type { Deps } from '../../deps.ts'
import { beijingTime } from '../../lib/beijing.ts'
import { prettyJson } from '../../lib/pretty-json.ts'
import { stringToSign } from '../../lib/signing.ts'
import { type CallRecord, findCall } from '../../ticketing/call-store.ts'
import { interfaceNamed } from '../../ticketing/interfaces/index.ts'
import { shownFailure } from '../reachability.ts'
import { findHeard, type Heard } from './exchange-store.ts'

/** A request or an answer as a page shows it. */
export interface Message {
  /** `POST https://…` or `HTTP 200`. */
  readonly start: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** JSON on indented lines with its numbers as written; anything else as it came. */
  readonly body: string
  /** Characters that are not shown. */
  readonly cut: number
}

/** One request with its answer, in either direction; secrets were masked before it was kept. */
export interface Exchange {
  readonly title: string
  /** `yyyy-MM-dd HH:mm:ss` in Beijing. */
  readonly at: string
  readonly durationMs: number | null
  readonly request: Message
  /** Null when there was none. */
  readonly answer: Message | null
  /** Why there was none. */
  readonly failure: string | null
  readonly stringToSign: string | null
  readonly curl: string | null
}

/** More than any honest answer has; a page with a megabyte of it helps nobody. */
const MOST_SHOWN = 60_000

function message(start: string, headers: object | null, text: string): Message {
  const body = prettyJson(text) ?? text
  const lines = Object.entries(headers ?? {}).map(([name, value]) => [name, String(value)] as const)
  return { start, headers: lines, body: body.slice(0, MOST_SHOWN), cut: Math.max(0, body.length - MOST_SHOWN) }
}

/** A call of ours; undefined once it has been purged. */
export async function findCallExchange(deps: Deps, partnerId: bigint, callId: string): Promise<Exchange | undefined> {
  const call = await findCall(deps.db, partnerId, callId)
  return call && callExchange(deps, call)
}

function callExchange({ config }: Deps, call: CallRecord): Exchange {
  const { http_status: status, failure, failure_detail: detail } = call
  return {
    title: interfaceNamed(call.interface)?.title ?? call.interface,
    at: beijingTime(call.started_at),
    durationMs: call.duration_ms,
    request: message(`POST ${call.url}`, call.request_headers, call.request_body),
    answer: status === null ? null : message(`HTTP ${status}`, call.response_headers, call.response_body ?? ''),
    failure: failure === null ? null : shownFailure(config, { kind: failure, detail: detail ?? failure }).detail,
    stringToSign: signedText(call),
    curl: null,
  }
}

/** What the signature of a call of ours covers. */
function signedText({ url, request_headers }: CallRecord): string | null {
  const { Date: date } = request_headers as Record<string, string>
  return date && URL.canParse(url) ? stringToSign({ method: 'POST', path: new URL(url).pathname, date }) : null
}

/** A call of the partner's, accepted or refused; undefined once it has been purged. */
export async function findHeardExchange({ db }: Deps, partnerId: bigint, id: string): Promise<Exchange | undefined> {
  const heard = await findHeard(db, partnerId, id)
  return heard && heardExchange(heard)
}

const heardExchange = ({ path, received_at, headers, body, answer }: Heard): Exchange => ({
  title: path,
  at: beijingTime(received_at),
  durationMs: null,
  request: message(`POST ${path}`, headers, body),
  answer: message('HTTP 200', null, answer),
  failure: null,
  stringToSign: null,
  curl: null,
})
