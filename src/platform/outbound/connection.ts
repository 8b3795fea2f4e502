import type { LookupAddress } from 'node:dns'
import { isIP, type LookupFunction, Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { buildConnector, Client } from 'undici'
import type { CallLimits } from '../config/call-limits.ts'
import { fromEpochMilliseconds } from '../lib/clock.ts'
import { type AddressGuard, AddressRefused, PortRefused } from './address-guard.ts'
import { type ConnectPhase, HEADER_BYTES } from './call-failure.ts'
import { skipContinue } from './skip-continue.ts'

/** The connection of one call. The only file here that needs undici, which is loaded with the first call. */

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

/** For one call. */
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
