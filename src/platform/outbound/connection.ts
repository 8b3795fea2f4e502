/** The connection of one call. The only file here that needs undici, which is loaded with the first call. */

import type { LookupAddress } from 'node:dns'
import { isIP, type LookupFunction, Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { buildConnector, Client } from 'undici'
import type { CallLimits } from '../config/call-limits.ts'
import { fromEpochMilliseconds } from '../lib/clock.ts'
import { type AddressGuard, AddressRefused, PortRefused } from './address-guard.ts'
import { type ConnectPhase, HEADER_BYTES } from './call-failure.ts'

const CONTINUE = /^HTTP\/1\.[01] 100(?: [^\r\n]*)?\r\n(?:[^\r\n]+\r\n)*\r\n/
/** Bytes of one `100 Continue`: it is looked at anew with each piece that arrives. */
const LONGEST_CONTINUE = 1_024
/** What may still become a `100 Continue`: the beginning of its first line, or all of that. */
const BEGUN_CONTINUE = /^HTTP\/1\.[01] 100[ \r]/
const BEGINNINGS = ['HTTP/1.0 100', 'HTTP/1.1 100']

/** A line feed by itself is no HTTP, and none of it is worth waiting for. */
const LONE_FEED = /(?:^|[^\r])\n/

const mayBecomeContinue = (text: string): boolean =>
  (BEGUN_CONTINUE.test(text) && !LONE_FEED.test(text)) || BEGINNINGS.some((beginning) => beginning.startsWith(text))

/**
 * Passes over each `100 Continue` before the answer. Some servers send it to every POST, and a client has to read it
 * though it has not asked (RFC 9110 §15.2); undici gives up the connection there, and reads other interim answers.
 */
function skipContinue(socket: Socket): void {
  const read = socket.read.bind(socket)
  let held = Buffer.alloc(0)
  let skipped = 0
  const readOn = (size?: number): Buffer | null => {
    const chunk: Buffer | null = read(size)
    if (chunk === null) return null
    held = Buffer.concat([held, chunk])
    for (;;) {
      const text = held.toString('latin1', 0, LONGEST_CONTINUE)
      const length = CONTINUE.exec(text)?.[0].length ?? 0
      if (length === 0 && mayBecomeContinue(text) && held.length < LONGEST_CONTINUE) return null
      skipped += length
      if (length === 0 || skipped > HEADER_BYTES) break
      held = held.subarray(length)
      if (held.length === 0) return null
    }
    socket.read = read
    return held
  }
  socket.read = readOn
}

/** Progress of a connection. */
interface ConnectionEvents {
  readonly onPhase: (phase: ConnectPhase) => void
  /** Connected; `certificateEnds` is null without TLS. */
  readonly onConnected: (certificateEnds: Date | null) => void
}

/** OpenSSL writes `May  5 06:11:34 2027 GMT`. */
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
          skipContinue(result[1])
          onConnected(certificateEnd(result[1]))
        }
        callback(...result)
      }),
    headersTimeout: limits.headersMs,
    // A drip of bytes would never end this one; the limit of the whole call does.
    bodyTimeout: 0,
    maxResponseSize: limits.bytes,
    maxHeaderSize: HEADER_BYTES,
  })
}

/** Passes on only allowed addresses, so the address that was checked is the one that is dialled. */
const guardedLookup =
  (guard: AddressGuard, port: number): LookupFunction =>
  (hostname, options, callback) => {
    const connect = (addresses: readonly LookupAddress[]): void => {
      const trusted = guard.trusts(hostname, port)
      const usable = addresses.filter(({ address }) => !guard.refuses(address, port, trusted))
      const [first] = usable
      if (first === undefined) callback(new AddressRefused(), [])
      else if (options.all) callback(null, usable)
      else callback(null, first.address, first.family)
    }
    guard.resolve(hostname).then(connect, (error: Error) => callback(error, []))
  }

/**
 * An undici connector that dials only what the guard lets through, and tells which phase begins. Literal addresses never
 * reach a lookup (trap 13), so they are checked here; the URL parser has turned `0x7f.1` and the like into plain ones.
 */
function guardedConnector(
  guard: AddressGuard,
  timeoutMs: number,
  onPhase: (phase: ConnectPhase) => void,
): buildConnector.connector {
  return (options, callback) => {
    const port = Number(options.port) || (options.protocol === 'https:' ? 443 : 80)
    const connect = buildConnector({ timeout: timeoutMs, allowH2: false, lookup: guardedLookup(guard, port) })
    const isLiteral = isIP(options.hostname) !== 0
    if (guard.refusesPort(port)) return callback(new PortRefused(), null)
    if (isLiteral && guard.refuses(options.hostname, port)) return callback(new AddressRefused(), null)
    onPhase(isLiteral ? 'connect' : 'dns')
    // undici's types say void; it is the socket, and only its events tell the phases apart.
    const socket: unknown = connect(options, callback)
    if (!(socket instanceof Socket)) return
    socket.once('lookup', (error: Error | null) => {
      if (!error) onPhase('connect')
    })
    if (options.protocol === 'https:') socket.once('connect', () => onPhase('tls'))
  }
}
