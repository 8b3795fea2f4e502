import { type BlockList, isIP } from 'node:net'
import {
  exceptionsAt,
  isSingle,
  isUsualPort,
  listOfNetworks,
  namesHost,
  parseNetwork,
} from '../config/allowed-address.ts'
import type { Config } from '../config/index.ts'
import type { Deps } from '../deps.ts'
import { type HostResolver, hostResolver } from './resolve-host.ts'

/** The URL resolves to an address that is not allowed. */
export class AddressRefused extends Error {
  override readonly name: string = 'AddressRefused'
}

/** The port of the URL is not allowed. */
export class PortRefused extends AddressRefused {
  override readonly name: string = 'PortRefused'
}

/** IANA's special-purpose IPv4 blocks, multicast and reserved space: no partner on the Internet has such an address. */
const SPECIAL_V4 = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.31.196.0/24', '192.52.193.0/24', '192.88.99.0/24', '192.168.0.0/16', '192.175.48.0/24'],
  ...['198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
]

/** Only global unicast IPv6 is allowed: no loopback, IPv4-mapped, NAT64 (64:ff9b::), unique local or link-local. */
const GLOBAL_V6 = ['2000::/3']

/** Excluded parts of global unicast: protocol assignments with Teredo and ORCHID, documentation, 6to4. */
const SPECIAL_V6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']

function networks(texts: readonly string[]): BlockList {
  return listOfNetworks(
    texts.map((text) => {
      const network = parseNetwork(text)
      if (!network) throw new Error(`not a network: ${text}`)
      return network
    }),
  )
}

/**
 * Cloud metadata services, which hand out a machine's credentials: link-local (most), Azure's host agent, which has a
 * public address, Alibaba, Oracle's older one, AWS and Google over IPv6. Exceptions for whole networks do not cover
 * them: an operator must list the exact address.
 */
const METADATA = [
  ...['169.254.0.0/16', '168.63.129.16', '100.100.100.200', '192.0.0.192'],
  ...['fe80::/10', 'fd00:ec2::/32', 'fd20:ce::254'],
]

const specialV4 = networks(SPECIAL_V4)
const globalV6 = networks(GLOBAL_V6)
const specialV6 = networks(SPECIAL_V6)
const metadata = networks(METADATA)

const isPublic = (address: string, family: 'ipv4' | 'ipv6'): boolean =>
  family === 'ipv4'
    ? !specialV4.check(address, family)
    : globalV6.check(address, family) && !specialV6.check(address, family)

export type AddressGuard = ReturnType<typeof addressGuard>

type GuardSettings = Pick<Config, 'NODE_ENV' | 'PARTNER_ADDRESS_ALLOW' | 'PARTNER_PORTS'>

/** The guard for these settings; made once per process. */
export function addressGuard(settings: GuardSettings, resolve: HostResolver = hostResolver()) {
  const isUsual = (port: number): boolean => isUsualPort(settings, port)
  const exceptions = (port: number) => exceptionsAt(settings, port)
  return {
    /**
     * Whether this IP address must not be called on this port; true for anything that is not a plain IP address.
     * `trusted`: the host name is allowed by name, so any address will do except those of metadata services.
     */
    refuses: (address: string, port: number, trusted = false): boolean => {
      const version = isIP(address)
      if (version === 0 || address.includes('%')) return true
      const family = version === 4 ? 'ipv4' : 'ipv6'
      const allowed = exceptions(port).flatMap((entry) => ('network' in entry ? [entry.network] : []))
      if (metadata.check(address, family)) return !listOfNetworks(allowed.filter(isSingle)).check(address, family)
      if (trusted || listOfNetworks(allowed).check(address, family)) return false
      return !isUsual(port) || !isPublic(address, family)
    },
    /** Whether a host name is allowed by name on this port. */
    trusts: (hostname: string, port: number): boolean => exceptions(port).some((entry) => namesHost(entry, hostname)),
    /** Whether this port is refused for every address. */
    refusesPort: (port: number): boolean => !isUsual(port) && exceptions(port).length === 0,
    resolve,
  }
}

/** For operations that send something to an address chosen by somebody else. */
export interface OutboundDeps extends Deps {
  readonly calls: { readonly guard: AddressGuard }
}
