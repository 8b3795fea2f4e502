import { isIPv4, isIPv6 } from 'node:net'

/** Addresses here are those of `request.ip`, in their normal form (lib/web/caller-address.ts). */

/** The eight groups of an IPv6 address as numbers; undefined for any other address. */
function groupsOf(address: string): number[] | undefined {
  if (!isIPv6(address)) return undefined
  const [head = '', tail] = address.split('::')
  const groups = (part: string) => part.split(':').filter((group) => group !== '')
  const last = groups(tail ?? '')
  const all =
    tail === undefined
      ? groups(head)
      : [...groups(head), ...Array(8 - groups(head).length - last.length).fill('0'), ...last]
  return all.map((group) => Number.parseInt(group, 16))
}

const prefixOf = (groups: readonly number[], count: number): string =>
  groups
    .slice(0, count)
    .map((group) => group.toString(16))
    .join(':')

/** What one household or machine guesses from: an IPv4 address, or 64 bits of IPv6, given to every customer. */
export function networkOf(address: string): string {
  const groups = groupsOf(address)
  return groups ? `${prefixOf(groups, 4)}::/64` : address
}

/** How much more than one network (/64) the whole site (/48) of an IPv6 address may do: it can change between 65,536. */
export const SITE_FACTOR = 16

/** The first 48 bits of an IPv6 address, which providers give to one site; undefined for an IPv4 address. */
export function siteOf(address: string): string | undefined {
  const groups = groupsOf(address)
  return groups && `${prefixOf(groups, 3)}::/48`
}

/** The addresses that one attacker has at hand next to each other: /24 of IPv4, /64 of IPv6. */
export function subnetOf(address: string): string {
  const network = networkOf(address)
  return isIPv4(network) ? network.replace(/\d+$/, '0/24') : network
}
