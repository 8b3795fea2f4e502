import { isIPv4, isIPv6 } from 'node:net'

/** Addresses are `request.ip`, already normalised (lib/web/caller-address.ts). */

/** The eight groups of an IPv6 address as numbers; undefined for any other address. */
function groupsOf(address: string): number[] | undefined {
  if (!isIPv6(address)) return undefined
  const [head = '', tail] = address.split('::')
  const groups = (part: string) => part.split(':').filter((group) => group !== '')
  const trailing = groups(tail ?? '')
  const all =
    tail === undefined
      ? groups(head)
      : [...groups(head), ...Array(8 - groups(head).length - trailing.length).fill('0'), ...trailing]
  return all.map((group) => Number.parseInt(group, 16))
}

const prefixOf = (groups: readonly number[], count: number): string =>
  groups
    .slice(0, count)
    .map((group) => group.toString(16))
    .join(':')

/** One household or machine: an IPv4 address, or the IPv6 /64 that every customer gets. */
export function networkOf(address: string): string {
  const groups = groupsOf(address)
  return groups ? `${prefixOf(groups, 4)}::/64` : address
}

/** A site can switch between 65,536 networks (/64), so it is limited too, to this multiple of one network. */
export const SITE_FACTOR = 16

/** The /48 of an IPv6 address, which providers assign to one site; undefined for IPv4. */
export function siteOf(address: string): string | undefined {
  const groups = groupsOf(address)
  return groups && `${prefixOf(groups, 3)}::/48`
}

/** Neighbouring addresses that one attacker may control: a /24 of IPv4, a /64 of IPv6. */
export function subnetOf(address: string): string {
  const network = networkOf(address)
  return isIPv4(network) ? network.replace(/\d+$/, '0/24') : network
}
