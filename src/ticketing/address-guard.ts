import { lookup as resolve } from 'node:dns'
import { BlockList, isIP, type LookupFunction, Socket } from 'node:net'
import { buildConnector } from 'undici'

/** The partner's URL leads to an address that the platform does not call. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused'
}

/** IANA's special-purpose IPv4 blocks, multicast and reserved space: nothing that a partner on the Internet has. */
const SPECIAL_V4 = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.31.196.0/24', '192.52.193.0/24', '192.88.99.0/24', '192.168.0.0/16', '192.175.48.0/24'],
  ...['198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
]

/**
 * Of IPv6 only global unicast is called. Everything else lies outside of it: unspecified, loopback, IPv4-mapped and
 * -compatible, NAT64 (64:ff9b::), unique local, link-local, site-local, multicast, discard, SRv6.
 */
const GLOBAL_V6 = ['2000::/3']

/** And of global unicast not these: protocol assignments with Teredo and ORCHID, documentation, 6to4. */
const SPECIAL_V6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']

const familyOf = (address: string): 'ipv4' | 'ipv6' | undefined => {
  const version = isIP(address)
  return version === 0 ? undefined : version === 4 ? 'ipv4' : 'ipv6'
}

/** Null for what is neither an address nor a network. */
function parseNetwork(entry: string): { address: string; bits: number; family: 'ipv4' | 'ipv6' } | null {
  const [address = '', bits, ...rest] = entry.split('/')
  const family = familyOf(address)
  if (family === undefined || address.includes('%') || rest.length > 0) return null
  const most = family === 'ipv4' ? 32 : 128
  if (bits !== undefined && (!/^\d{1,3}$/.test(bits) || Number(bits) > most)) return null
  return { address, bits: bits === undefined ? most : Number(bits), family }
}

function networks(entries: readonly string[]): BlockList {
  const list = new BlockList()
  for (const entry of entries) {
    const network = parseNetwork(entry)
    if (network !== null) list.addSubnet(network.address, network.bits, network.family)
  }
  return list
}

const specialV4 = networks(SPECIAL_V4)
const globalV6 = networks(GLOBAL_V6)
const specialV6 = networks(SPECIAL_V6)

const isPublic = (address: string, family: 'ipv4' | 'ipv6'): boolean =>
  family === 'ipv4'
    ? !specialV4.check(address, family)
    : globalV6.check(address, family) && !specialV6.check(address, family)

const HOST = /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/

/** Whether an entry of PARTNER_ADDRESS_ALLOW can be read: an address, a network (`10.1.0.0/16`) or a host name. */
export const isAllowEntry = (entry: string): boolean =>
  parseNetwork(entry) !== null || (HOST.test(entry.toLowerCase()) && /[a-z]/i.test(entry) && !entry.includes('/'))

export interface AddressGuard {
  /** Whether an IP address must not be called; anything that is no plain IP address must not. */
  refuses(address: string): boolean
  /** Whether a host name is allowed by name, wherever it leads. */
  trusts(hostname: string): boolean
}

/** A guard with the exceptions of PARTNER_ADDRESS_ALLOW. */
export function addressGuard(allow: readonly string[]): AddressGuard {
  const allowed = networks(allow)
  const hosts = new Set(allow.filter((entry) => parseNetwork(entry) === null).map((entry) => entry.toLowerCase()))
  return {
    refuses: (address) => {
      const family = familyOf(address)
      if (family === undefined || address.includes('%')) return true
      return !allowed.check(address, family) && !isPublic(address, family)
    },
    trusts: (hostname) => hosts.has(hostname.toLowerCase().replace(/\.$/, '')),
  }
}

/** Resolves like dns.lookup but lets only addresses through that may be called, so what was checked is what is dialled. */
const guardedLookup =
  (guard: AddressGuard): LookupFunction =>
  (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, [])
      const usable = guard.trusts(hostname) ? addresses : addresses.filter(({ address }) => !guard.refuses(address))
      const [first] = usable
      if (first === undefined) return callback(new AddressRefused(), [])
      return options.all ? callback(null, usable) : callback(null, first.address, first.family)
    })
  }

/** What a connection is waiting for. */
export type ConnectPhase = 'dns' | 'connect' | 'tls'

/**
 * An undici connector that dials only what the guard lets through, and tells which phase begins. Literal addresses never
 * reach a lookup (traps 13), so they are checked here; the URL parser has turned `0x7f.1` and the like into plain ones.
 */
export function guardedConnector(
  guard: AddressGuard,
  timeoutMs: number,
  onPhase: (phase: ConnectPhase) => void,
): buildConnector.connector {
  const connect = buildConnector({ timeout: timeoutMs, allowH2: false, lookup: guardedLookup(guard) })
  return (options, callback) => {
    const isLiteral = isIP(options.hostname) !== 0
    if (isLiteral && guard.refuses(options.hostname)) return callback(new AddressRefused(), null)
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
