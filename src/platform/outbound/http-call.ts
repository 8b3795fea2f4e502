import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { type CallLimits, PARTNER_LIMITS } from '../config/call-limits.ts'
import type { LocalizedText } from '../lib/localized-text.ts'
import { parsedUrl } from '../lib/parsed-url.ts'
import { type AddressGuard, AddressRefused } from './address-guard.ts'
import { type CallFailure, type ConnectPhase, exactReason } from './call-failure.ts'

const NEVER_SENT: readonly CallFailure[] = ['address', 'dns', 'connect', 'tls']

/** Milliseconds from the start of the call; null for phases not reached. */
export interface CallTimings {
  readonly connected: number | null
  readonly headers: number | null
  readonly total: number
}

class CallProgress {
  readonly #start = performance.now()
  /** What the connection is waiting for; null once connected. */
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

/** No complete HTTP response. The message has kind and system code, never an address or a header. */
export class HttpCallError extends Error {
  override readonly name = 'HttpCallError'
  readonly failure: CallFailure
  readonly timings: CallTimings
  /** Whether the partner may have received the request; if false, a retry is safe. */
  readonly maybeReceived: boolean
  /** Error code of the system or library: `ECONNREFUSED`, `CERT_HAS_EXPIRED`. */
  readonly code: string | undefined
  /** Details of the failure, as a clause: `the response is larger than 1 MiB`. */
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
  /** When the server certificate expires; null without TLS. */
  readonly certificateEnds: Date | null
}

/** Repeated headers are joined into one list (RFC 9110 §5.3), as when a program and its proxy both set one. */
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

/** Undefined unless it is an http or https URL without user name and password. */
function callableUrl(text: string): URL | undefined {
  const url = parsedUrl(text)
  const isCallable = url !== undefined && /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
  return isCallable ? url : undefined
}

interface HttpGet {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

export interface HttpRequest extends HttpGet {
  readonly body: string
  /** For who needs only the status: the answer's body is dropped, and may be too large, too slow or cut off. */
  readonly statusOnly?: boolean
  /** Closes the connection right after the request is sent, to simulate a lost response. */
  readonly hangUp?: boolean
  /** Milliseconds between the two halves of the body, to simulate a slow sender. */
  readonly pauseMs?: number
}

async function* inHalves(bytes: Buffer, pauseMs: number): AsyncGenerator<Buffer> {
  yield bytes.subarray(0, bytes.length / 2)
  await sleep(pauseMs)
  yield bytes.subarray(bytes.length / 2)
}

/** How long a receiver whose body does not matter may take to send it; hung up on at once, many would give up their work. */
const DROPPED_WITHIN_MS = 2_000
const MAX_PIECES = 1_024

/** Joins the pieces now and then: a million chunks of one byte would otherwise hold a hundred times their size. */
async function bodyOf(stream: Readable): Promise<Buffer> {
  let pieces: Buffer[] = []
  stream.on('data', (piece: Buffer) => {
    if (pieces.push(piece) === MAX_PIECES) pieces = [Buffer.concat(pieces)]
  })
  await finished(stream)
  return Buffer.concat(pieces)
}

/** Milliseconds after connecting: by then the request has been sent, and few are answered yet. */
const HANG_UP_MS = 100
const HUNG_UP = 'hung up on purpose'

/**
 * One POST on a connection of its own: a kept-alive one might close meanwhile, and nobody would know whether it
 * arrived. Throws HttpCallError unless a complete HTTP response arrives.
 */
export const post = (request: HttpRequest, guard: AddressGuard, limits = PARTNER_LIMITS): Promise<HttpAnswer> =>
  send('POST', request, guard, limits)

/** One GET, otherwise like `post`. */
export const get = (request: HttpGet, guard: AddressGuard, limits: CallLimits): Promise<HttpAnswer> =>
  send('GET', request, guard, limits)

async function send(
  method: 'GET' | 'POST',
  request: HttpGet & Partial<HttpRequest>,
  guard: AddressGuard,
  limits: CallLimits,
): Promise<HttpAnswer> {
  const { openClient } = await import('./connection.ts') // loads undici, so not at start-up
  const progress = new CallProgress()
  const url = callableUrl(request.url)
  if (url === undefined) throw new HttpCallError('address', progress.timings(), limits)
  // Not AbortSignal.any or AbortSignal.timeout: Node 20 garbage-collects them (lib/within.ts), and the call would never
  // end.
  const abort = new AbortController()
  const hungUp = () => new HttpCallError('broken', progress.timings(), limits, HUNG_UP)
  const onPhase = (phase: ConnectPhase) => {
    progress.phase = phase
  }
  const onConnected = (certificateEnds: Date | null) => {
    progress.connectionMade(certificateEnds)
    if (request.hangUp) setTimeout(() => abort.abort(hungUp()), HANG_UP_MS)
  }
  const tooLong = () => abort.abort(new DOMException('the call took too long', 'TimeoutError'))
  let timer = setTimeout(tooLong, limits.totalMs)
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
      signal: abort.signal,
    })
    if (request.hangUp) throw hungUp()
    progress.headers = progress.elapsed()
    if (request.statusOnly) {
      clearTimeout(timer)
      timer = setTimeout(tooLong, DROPPED_WITHIN_MS)
    }
    const body = await bodyOf(answer.body).catch((error: unknown) => {
      if (request.statusOnly) return Buffer.alloc(0)
      throw error
    })
    const [headers, { certificateEnds }] = [joined(answer.headers), progress]
    return { status: answer.statusCode, headers, body, timings: progress.timings(), certificateEnds }
  } catch (error) {
    if (error instanceof HttpCallError) throw error
    throw new HttpCallError(failureOf(error, progress.phase), progress.timings(), limits, codeOf(error))
  } finally {
    clearTimeout(timer)
    // The response is complete or abandoned; ignore whatever the connection still reports.
    client.destroy().catch(() => {})
  }
}
