import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { type CallLimits, PARTNER_LIMITS } from '../config/call-limits.ts'
import type { LocalizedText } from '../lib/localized-text.ts'
import { parsedUrl } from '../lib/parsed-url.ts'
import { type AddressGuard, AddressRefused } from './address-guard.ts'
import { type CallFailure, type ConnectPhase, exactReason } from './call-failure.ts'

const NEVER_SENT: readonly CallFailure[] = ['address', 'dns', 'connect', 'tls']

/** Milliseconds from the start of the call; null for what it did not come to. */
export interface CallTimings {
  readonly connected: number | null
  readonly headers: number | null
  readonly total: number
}

/** How far a call has come. */
class CallProgress {
  readonly #start = performance.now()
  /** What the connection waits for; null once connected. */
  phase: ConnectPhase | null = 'dns'
  connected: number | null = null
  headers: number | null = null
  certificateEnds: Date | null = null

  connectionMade(certificateEnds: Date | null): void {
    this.phase = null
    this.connected = this.elapsed()
    this.certificateEnds = certificateEnds
  }

  elapsed(): number {
    return Math.round(performance.now() - this.#start)
  }

  timings(): CallTimings {
    return { connected: this.connected, headers: this.headers, total: this.elapsed() }
  }
}

/** A call without an HTTP answer. The message names kind and system code, never an address or a header. */
export class HttpCallError extends Error {
  override readonly name = 'HttpCallError'
  readonly failure: CallFailure
  readonly timings: CallTimings
  /** Whether the partner may have got the request; false makes a repetition safe. */
  readonly maybeReceived: boolean
  /** The system's or the library's name for the cause: `ECONNREFUSED`, `CERT_HAS_EXPIRED`. */
  readonly code: string | undefined
  /** Says more than the failure, as a clause: `the response is larger than 1 MiB`. */
  readonly reason: LocalizedText | undefined

  constructor(failure: CallFailure, timings: CallTimings, limits: CallLimits, code?: string) {
    super(code === undefined ? failure : `${failure} (${code})`)
    this.failure = failure
    this.timings = timings
    this.code = code
    this.reason = exactReason({ failure, code, isAnswered: timings.headers !== null }, limits)
    this.maybeReceived = !NEVER_SENT.includes(failure)
  }
}

export interface HttpAnswer {
  /** Any status; redirects are not followed. */
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  readonly timings: CallTimings
  /** When the certificate of the other side ends; null without TLS. */
  readonly certificateEnds: Date | null
}

/** A header that came several times is one list (RFC 9110 §5.3), as when a program and the proxy before it both set it. */
const joined = (headers: Readonly<Record<string, string | string[] | undefined>>): HttpAnswer['headers'] =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value ?? ''].flat().join(', ')]))

const TOO_LARGE = ['UND_ERR_RES_EXCEEDED_MAX_SIZE', 'UND_ERR_HEADERS_OVERFLOW']
const TIMED_OUT = ['UND_ERR_HEADERS_TIMEOUT', 'TimeoutError']

const codeOf = (error: unknown): string | undefined => {
  if (!(error instanceof Error)) return undefined
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name
}

function failureOf(error: unknown, phase: ConnectPhase | null): CallFailure {
  if (error instanceof AddressRefused) return 'address'
  if (phase !== null) return phase
  const code = codeOf(error) ?? ''
  if (TOO_LARGE.includes(code)) return 'too-large'
  return TIMED_OUT.includes(code) ? 'timeout' : 'broken'
}

/** Undefined for text that is not a plain http or https URL: URLs with a user name or password are refused. */
function callableUrl(text: string): URL | undefined {
  const url = parsedUrl(text)
  const plain = url !== undefined && /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
  return plain ? url : undefined
}

interface HttpGet {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

export interface HttpRequest extends HttpGet {
  readonly body: string
  /** The connection is closed right after the request was sent, whatever is answered: the answer is lost on the way. */
  readonly hangUp?: boolean
  /** Milliseconds between the two halves of the body, as a slow sender has them. */
  readonly pauseMs?: number
}

async function* inHalves(bytes: Buffer, pauseMs: number): AsyncGenerator<Buffer> {
  yield bytes.subarray(0, bytes.length / 2)
  await sleep(pauseMs)
  yield bytes.subarray(bytes.length / 2)
}

/** Milliseconds from the connection to its end: the request has left by then, and few have been answered. */
const HANG_UP_MS = 100
const HUNG_UP = 'hung up on purpose'

/**
 * One POST on a connection of its own: a kept-alive one might close during a request, and then it would be unknown
 * whether the request arrived. Throws HttpCallError unless a complete HTTP response arrived.
 */
export const post = (request: HttpRequest, guard: AddressGuard, limits = PARTNER_LIMITS): Promise<HttpAnswer> =>
  send('POST', request, guard, limits)

/** One GET, otherwise as `post`. */
export const get = (request: HttpGet, guard: AddressGuard, limits: CallLimits): Promise<HttpAnswer> =>
  send('GET', request, guard, limits)

async function send(
  method: 'GET' | 'POST',
  request: HttpGet & Partial<HttpRequest>,
  guard: AddressGuard,
  limits: CallLimits,
): Promise<HttpAnswer> {
  const { openClient } = await import('./connection.ts') // which loads undici: not at every start
  const progress = new CallProgress()
  const url = callableUrl(request.url)
  if (url === undefined) throw new HttpCallError('address', progress.timings(), limits)
  // Not by AbortSignal.any and AbortSignal.timeout: Node 20 collects them (lib/within.ts), and nothing would end the call.
  const over = new AbortController()
  const hungUp = () => new HttpCallError('broken', progress.timings(), limits, HUNG_UP)
  const onPhase = (phase: ConnectPhase) => {
    progress.phase = phase
  }
  const onConnected = (certificateEnds: Date | null) => {
    progress.connectionMade(certificateEnds)
    if (request.hangUp) setTimeout(() => over.abort(hungUp()), HANG_UP_MS)
  }
  const timer = setTimeout(() => over.abort(new DOMException('the call took too long', 'TimeoutError')), limits.totalMs)
  const { pauseMs = 0 } = request
  const slowly = pauseMs > 0 ? Buffer.from(request.body ?? '') : undefined
  const client = openClient(url.origin, guard, limits, { onPhase, onConnected })
  try {
    const answer = await client.request({
      method,
      path: url.pathname + url.search,
      headers: {
        'accept-encoding': 'identity',
        ...request.headers,
        ...(slowly && { 'content-length': `${slowly.length}` }),
      },
      ...(request.body === undefined ? {} : { body: slowly ? Readable.from(inHalves(slowly, pauseMs)) : request.body }),
      signal: over.signal,
    })
    if (request.hangUp) throw hungUp()
    progress.headers = progress.elapsed()
    const body = Buffer.from(await answer.body.arrayBuffer())
    const [headers, { certificateEnds }] = [joined(answer.headers), progress]
    return { status: answer.statusCode, headers, body, timings: progress.timings(), certificateEnds }
  } catch (error) {
    if (error instanceof HttpCallError) throw error
    throw new HttpCallError(failureOf(error, progress.phase), progress.timings(), limits, codeOf(error))
  } finally {
    clearTimeout(timer)
    // The response is complete or given up; later events of the connection are ignored.
    client.destroy().catch(() => {})
  }
}
