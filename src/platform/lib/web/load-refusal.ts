import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Metrics } from '../metrics.ts'
import { wantsPage } from './accept.ts'
import type { AreaB } from './bad-request.ts'
import { normalAddress } from './caller-address.ts'
import { failureEnvelope, JSON_TYPE, NO_STORE_HEADERS } from './envelope.ts'
import { HSTS_HEADER } from './https-only.ts'
import { chooseLocale } from './locale.ts'
import { STANDARD_HEADERS, standardErrorOf } from './oauth-response.ts'
import { busyPage } from './page.ts'
import type { Refuse } from './request-limit.ts'
import { FAILED } from './request-meter.ts'
import { parseQuery, queryOf } from './request-target.ts'
import { unavailable } from './rescode.ts'

type Headers = Readonly<Record<string, string>>

const STANDARD = /^\/(?:oauth2|\.well-known)(?:[/?]|$)/
const PARTNER_ID = /^\d{1,19}$/

const failure = unavailable()
const ENVELOPE = JSON.stringify(failureEnvelope(failure))
const STANDARD_ERROR = JSON.stringify(standardErrorOf(503))

/** Echoes the partnerId that the caller sent, which reveals nothing. */
function areaBEnvelope({ headers }: IncomingMessage, code: 300 | 400): string {
  const given = String(headers.partnerid ?? '')
  const partnerId = PARTNER_ID.test(given) ? given : ''
  return JSON.stringify({ code, describe: 'the platform cannot respond now; try again later', partnerId })
}

/** Answers a request refused for load before routing: 503 in the format of its area, with as little work as possible. */
export function refuseForLoad(app: FastifyInstance, publicUrl: string, metrics: Metrics, areaBCode: AreaB): Refuse {
  const meter = metrics.requests.route('', '(refused for load)')
  const always: Headers = { ...failure.failure.headers, ...(publicUrl.startsWith('https:') ? HSTS_HEADER : {}) }
  const page = busyPage(app)
  // Alternating names and values, which Node writes without further processing.
  const flat = (headers: Headers): string[] =>
    Object.entries({ ...headers, ...always, 'Content-Type': JSON_TYPE }).flat()
  const areaB = flat({ 'Cache-Control': 'no-store' })
  const standard = flat(STANDARD_HEADERS)
  const areaA = flat(NO_STORE_HEADERS)
  const jsonFor = (request: IncomingMessage): [body: string, headers: string[]] => {
    const { url = '' } = request
    const code = areaBCode(url)
    if (code !== undefined) return [areaBEnvelope(request, code), areaB]
    return STANDARD.test(url) ? [STANDARD_ERROR, standard] : [ENVELOPE, areaA]
  }

  const sendPage = async (request: IncomingMessage, response: ServerResponse, own: Headers, id: string) => {
    const asked = parseQuery(queryOf(request.url ?? '')).values.get('ui_locales')
    const locale = chooseLocale({ asked, acceptLanguage: request.headers['accept-language'] })
    const html = await page(request, response, locale, id)
    response.writeHead(503, { ...always, ...own }).end(html)
  }

  return (request, response, why, closes) => {
    meter.count(FAILED, undefined)
    meter.countCode(failure.rescode)
    const { remoteAddress = '' } = request.socket
    const fields = () => ({ address: normalAddress(remoteAddress) })
    app.sampledLog.write({ level: 'warn', kind: why, message: why, fields })
    const id = randomUUID()
    const { url = '', headers } = request
    if (wantsPage(url, headers.accept) && areaBCode(url) === undefined) {
      const own = { 'X-Request-Id': id, ...(closes ? { Connection: 'close' } : {}) }
      sendPage(request, response, own, id).catch(() => response.destroy())
      return
    }
    const [body, fixed] = jsonFor(request)
    const own = ['X-Request-Id', id, 'Content-Length', String(Buffer.byteLength(body))]
    response.writeHead(503, [...fixed, ...own, ...(closes ? ['Connection', 'close'] : [])]).end(body)
  }
}

/** Logs one line a minute about connections that are closed because nobody reads their answers. */
export const noteUnread =
  ({ sampledLog }: FastifyInstance) =>
  ({ remoteAddress = '' }: Socket): void => {
    const message = 'a client does not read its answers; its connection is closed'
    const fields = () => ({ address: normalAddress(remoteAddress) })
    sampledLog.write({ level: 'warn', kind: message, message, fields })
  }
