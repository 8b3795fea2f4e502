import { parsedUrl } from '../../../platform/lib/parsed-url.ts'
import type { TrafficEntry } from './entry.ts'

/** HAR 1.2, as browsers and tools for HTTP open it; what it has no field for is in fields that begin with `_`. */

export const harHead = '{"log":{"version":"1.2","creator":{"name":"Gatehouse","version":"1"},"entries":[\n'
export const harTail = '\n]}}\n'

type Message = Pick<TrafficEntry['request'], 'headers' | 'body'>

const UNKNOWN_SIZE = -1
const JSON_TYPE = 'application/json'

/** `platformUrl` is where partners call: of their calls only the path is kept. */
export function harEntry(entry: TrafficEntry, platformUrl: string): object {
  const { request, response, durationMs, at, failure } = entry
  const url = entry.direction === 'in' ? platformUrl + request.url : request.url
  const time = durationMs ?? 0
  return {
    startedDateTime: at.toISOString(),
    time,
    request: {
      ...{ method: 'POST', url, httpVersion: 'HTTP/1.1', cookies: [], headers: headersOf(request) },
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
