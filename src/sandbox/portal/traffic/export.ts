import { parsedUrl } from '../../../platform/lib/parsed-url.ts'
import type { NoticeDeps } from '../../../ticketing/mtp/index.ts'
import { keptText, type Message, showEntries, type TrafficEntry } from './entry.ts'
import { listTraffic } from './list.ts'
import type { TrafficQuery } from './wire.ts'

/** HAR 1.2, for browsers and HTTP tools; extensions are in fields that begin with `_`. */

const harHead = '{"log":{"version":"1.2","creator":{"name":"Gatehouse","version":"1"},"entries":[\n'
const harTail = '\n]}}\n'

const UNKNOWN_SIZE = -1
const JSON_TYPE = 'application/json'

/** `platformUrl`: only the paths of partners' calls are stored. */
function harEntry(entry: TrafficEntry, platformUrl: string): object {
  const { request, response, durationMs, at, failure } = entry
  const url = entry.direction === 'in' ? platformUrl + request.url : request.url
  const time = durationMs ?? 0
  return {
    startedDateTime: at.toISOString(),
    time,
    request: {
      ...{ method: request.method, url, httpVersion: 'HTTP/1.1', cookies: [], headers: headersOf(request) },
      queryString: queryOf(url),
      ...{ headersSize: UNKNOWN_SIZE, bodySize: Buffer.byteLength(request.body.text) },
      postData: { mimeType: typeOf(request), text: request.body.text, ...commentOf(request) },
    },
    response: {
      status: response?.status ?? 0,
      ...{ statusText: '', httpVersion: 'HTTP/1.1', cookies: [], headers: response ? headersOf(response) : [] },
      content: {
        size: Buffer.byteLength(response?.body.text ?? ''),
        mimeType: response ? typeOf(response) : '',
        text: response?.body.text ?? '',
        ...(response ? commentOf(response) : {}),
      },
      ...{ redirectURL: '', headersSize: UNKNOWN_SIZE, bodySize: UNKNOWN_SIZE },
    },
    cache: {},
    timings: { send: 0, wait: time, receive: 0 },
    _kind: entry.kind,
    _name: entry.name,
    _outcome: entry.outcome.name,
    ...(entry.cause === null ? {} : { _cause: entry.cause, _cause_ref: entry.cause_ref }),
    ...(failure ? { _failure: failure.detail } : {}),
  }
}

const headersOf = ({ headers = [] }: Message) => headers.map(([name, value]) => ({ name, value }))

const queryOf = (url: string) => [...(parsedUrl(url)?.searchParams ?? [])].map(([name, value]) => ({ name, value }))

const typeOf = ({ headers = [] }: Message): string =>
  headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? JSON_TYPE

const commentOf = ({ body }: Message) =>
  body.cutFrom === undefined ? {} : { comment: `the beginning of ${body.cutFrom} characters` }

export const EXPORT_FORMATS = { ndjson: 'application/x-ndjson; charset=utf-8', har: 'application/json; charset=utf-8' }
type ExportFormat = keyof typeof EXPORT_FORMATS

/** Limits of one export: entries, characters, and pages of the list that are read. */
const MAX_EXPORTED = { entries: 1_000, characters: 33_554_432, pages: 100 } as const

/** Streams a list, newest first and masked as on the pages, as NDJSON or as one HAR 1.2 document. */
export async function* exported(
  deps: NoticeDeps,
  partnerId: bigint,
  query: TrafficQuery,
  format: ExportFormat,
): AsyncGenerator<string> {
  const isHar = format === 'har'
  if (isHar) yield harHead
  let count = 0
  let characters = 0
  for await (const entry of entriesOf(deps, partnerId, query)) {
    const text = isHar
      ? `${count > 0 ? ',\n' : ''}${JSON.stringify(harEntry(entry, deps.config.PARTNER_URL))}`
      : `${JSON.stringify(exportedEntry(entry))}\n`
    characters += text.length
    if (characters > MAX_EXPORTED.characters) break
    yield text
    if (++count >= MAX_EXPORTED.entries) break
  }
  if (isHar) yield harTail
}

async function* entriesOf(deps: NoticeDeps, partnerId: bigint, query: TrafficQuery): AsyncGenerator<TrafficEntry> {
  let before = query.before
  for (let page = 0; page < MAX_EXPORTED.pages; page++) {
    const { lines, next } = await listTraffic(deps, partnerId, { ...query, after: undefined, before })
    const kept = lines.filter(({ left_out }) => left_out === null)
    const entries = new Map((await showEntries(deps, partnerId, kept, keptText)).map((entry) => [entry.id, entry]))
    for (const { id } of kept) {
      const entry = entries.get(id)
      // It may have been purged meanwhile.
      if (entry) yield entry
    }
    if (!next) return
    before = next
  }
}

/** Names as in the headless API; `body` is the text as received, `cut_from` its length if it was cut. */
export function exportedEntry(entry: TrafficEntry) {
  const { kind, id, direction, at, name, outcome, forged, verdict, verified, cause, cause_ref } = entry
  const { code, failure, mistakes, warnings, request, response } = entry
  return {
    ...{ kind, id, direction, at, name, order_id: entry.orderId, outcome: outcome.name, forged, verdict, verified },
    ...{ cause, cause_ref },
    ...{ code, duration_ms: entry.durationMs, failure, mistakes, warnings },
    request: { method: request.method, ...messageOf(request), url: request.url },
    response: response && { status: response.status, ...messageOf(response) },
  }
}

const messageOf = ({ headers, body }: Message) => ({
  headers,
  body: body.text,
  cut_from: body.cutFrom,
  decrypted: body.encrypted,
})
