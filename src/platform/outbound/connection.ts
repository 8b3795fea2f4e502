/** The connection of one call. The only file here that imports undici, so that it is loaded with the first call. */

import type { LookupAddress } from 'node:dns'
import { isIP, type LookupFunction, Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { buildConnector, Client, errors } from 'undici'
import type { CallLimits } from '../config/call-limits.ts'
import { fromEpochMilliseconds } from '../lib/clock.ts'
import { type AddressGuard, AddressRefused, PortRefused } from './address-guard.ts'
import { type ConnectPhase, HEADER_BYTES } from './call-failure.ts'

const CONTINUE = /^HTTP\/1\.[01] 100(?: [^\r\n]*)?\r\n(?:[^\r\n]+\r\n)*\r\n/
/** Maximum bytes of one `100 Continue`, which is parsed again with each chunk. */
const MAX_CONTINUE = 1_024
/** May still become a `100 Continue`: a prefix of its status line, or more. */
const PARTIAL_CONTINUE = /^HTTP\/1\.[01] 100[ \r]/
const STATUS_PREFIXES = ['HTTP/1.0 100', 'HTTP/1.1 100']

/** A bare line feed is not HTTP: no point in waiting for more. */
const BARE_LF = /(?:^|[^\r])\n/

const mayBecomeContinue = (text: string): boolean =>
  (PARTIAL_CONTINUE.test(text) && !BARE_LF.test(text)) || STATUS_PREFIXES.some((prefix) => prefix.startsWith(text))

/**
 * Skips every `100 Continue` before the response: clients must accept it unasked (RFC 9110 §15.2), and undici drops the
 * connection on it, though it handles other interim responses.
 */
function skipContinue(socket: Socket): void {
  const read = socket.read.bind(socket)
  let held = Buffer.alloc(0)
  let skipped = 0
  const readSkipping = (size?: number): Buffer | null => {
    const chunk: Buffer | null = read(size)
    if (chunk === null) return null
    held = Buffer.concat([held, chunk])
    for (;;) {
      const text = held.toString('latin1', 0, MAX_CONTINUE)
      const length = CONTINUE.exec(text)?.[0].length ?? 0
      if (length === 0 && mayBecomeContinue(text) && held.length < MAX_CONTINUE) return null
      skipped += length
      if (length === 0 || skipped > HEADER_BYTES) break
      held = held.subarray(length)
      if (held.length === 0) return null
    }
    socket.read = read
    return held
  }
  socket.read = readSkipping
}

/** Status lines, headers, interim responses and chunk sizes of an answer whose body is small. */
const FRAMING_BYTES = 4 * HEADER_BYTES

/**
 * Limits everything that a receiver sends: undici counts bodies and header fields, but no interim responses, reason
 * phrases and chunk sizes, which would keep this process busy. Chunks of five bytes, with as many around each, still
 * fit.
 */
function limitBytes(socket: Socket, bodyBytes: number): void {
  const read = socket.read.bind(socket)
  const most = 2 * bodyBytes + FRAMING_BYTES
  socket.read = (size?: number) => {
    // Without what is put back when the parser pauses.
    if (socket.bytesRead - socket.readableLength > most) socket.destroy(new errors.ResponseExceededMaxSizeError())
    return socket.destroyed ? null : read(size)
  }
}

interface ConnectionEvents {
  readonly onPhase: (phase: ConnectPhase) => void
  /** Connected; `certificateEnds` is null without TLS. */
  readonly onConnected: (certificateEnds: Date | null) => void
}

/** `valid_to` reads `May  5 06:11:34 2027 GMT`. */
function certificateEnd(socket: unknown): Date | null {
  if (!(socket instanceof TLSSocket)) return null
  const end = Date.parse(socket.getPeerCertificate().valid_to)
  return Number.isNaN(end) ? null : fromEpochMilliseconds(end)
}

export function openClient(
  origin: string,
  guard: AddressGuard,
  limits: CallLimits,
  { onPhase, onConnected }: ConnectionEvents,
): Client {
  const connect = guardedConnector(guard, limits.connectMs, onPhase)
  return new Client(origin, {
    connect: (options, callback) =>
      connect(options, (...result) => {
        if (result[0] === null) {
          limitBytes(result[1], limits.bytes)
          skipContinue(result[1])
          onConnected(certificateEnd(result[1]))
        }
        callback(...result)
      }),
    headersTimeout: limits.headersMs,
    // A slow trickle would never trigger this timeout; the limit on the whole call applies instead.
    bodyTimeout: 0,
    maxResponseSize: limits.bytes,
    maxHeaderSize: HEADER_BYTES,
  })
}

/** Returns allowed addresses only, so that the address checked is the address dialled. */
const guardedLookup =
  (guard: AddressGuard, port: number): LookupFunction =>
  (hostname, options, callback) => {
    const trusted = guard.trusts(hostname, port)
    const connect = (addresses: readonly LookupAddress[]): void => {
      const usable = addresses.filter(({ address }) => !guard.refuses(address, port, trusted))
      const [first] = usable
      if (first === undefined) callback(new AddressRefused(), [])
      else if (options.all) callback(null, usable)
      else callback(null, first.address, first.family)
    }
    guard.resolve(hostname, trusted).then(connect, (error: Error) => callback(error, []))
  }

/**
 * An undici connector that dials only what the guard allows, and reports each phase. Undici looks up no literal
 * addresses, so they are checked here; the URL parser has already normalised forms like `0x7f.1`.
 */
function guardedConnector(
  guard: AddressGuard,
  timeoutMs: number,
  onPhase: (phase: ConnectPhase) => void,
): buildConnector.connector {
  return (options, callback) => {
    const port = Number(options.port) || (options.protocol === 'https:' ? 443 : 80)
    const connect = buildConnector({
      timeout: timeoutMs,
      allowH2: false,
      lookup: guardedLookup(guard, port),
      // Node's 250 ms would give up each address on the other side of the world, or whose first packet was lost and is sent
      // again after a second. Node reads this before it knows how many addresses there are: of three, two are tried.
      autoSelectFamilyAttemptTimeout: Math.ceil(timeoutMs / 2),
    })
    const isLiteral = isIP(options.hostname) !== 0
    if (guard.refusesPort(port)) return callback(new PortRefused(), null)
    if (isLiteral && guard.refuses(options.hostname, port)) return callback(new AddressRefused(), null)
    onPhase(isLiteral ? 'connect' : 'dns')
    // Typed as void, but it returns the socket, whose events are the only way to tell the phases apart.
    const socket: unknown = connect(options, callback)
    if (!(socket instanceof Socket)) return
    socket.once('lookup', (error: Error | null) => {
      if (!error) onPhase('connect')
    })
    if (options.protocol === 'https:') socket.once('connect', () => onPhase('tls'))
  }
}
