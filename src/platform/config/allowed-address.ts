import { BlockList, isIP } from 'node:net'

/** An entry of PARTNER_ADDRESS_ALLOW: a network or a host name, on one port or on every port that partners may use. */
export type AllowedAddress =
  | { readonly network: Network; readonly port: number | undefined }
  | { readonly host: string; readonly port: number | undefined }

export interface Network {
  readonly address: string
  readonly bits: number
  readonly family: 'ipv4' | 'ipv6'
}

const familyOf = (address: string): Network['family'] | undefined => {
  const version = isIP(address)
  return version === 0 ? undefined : version === 4 ? 'ipv4' : 'ipv6'
}

const addressBits = (family: Network['family']): number => (family === 'ipv4' ? 32 : 128)

export const isSingle = ({ bits, family }: Network): boolean => bits === addressBits(family)

/** `10.1.2.3`, `10.1.0.0/16`, `fd00::/8`; undefined for anything else. */
export function parseNetwork(text: string): Network | undefined {
  const [address = '', bits, ...rest] = text.split('/')
  const family = familyOf(address)
  if (family === undefined || address.includes('%') || rest.length > 0) return undefined
  const max = addressBits(family)
  if (bits !== undefined && (!/^\d{1,3}$/.test(bits) || Number(bits) > max)) return undefined
  return { address, bits: bits === undefined ? max : Number(bits), family }
}

/** The last label is not a number: URL parsers would take the whole for an address (`127.1`, `0x7f.1`). */
const HOST = /^(?!(?:.*\.)?(?:\d+|0x[0-9a-f]*)$)[a-z0-9_-]+(\.[a-z0-9_-]+)*$/
const LAST_PORT = 65_535

/** `host`, `host:port`, `address:port`, `network:port`, `[address]:port` or `[network]:port`; only IPv6 has brackets. */
export function parseAllowedAddress(entry: string): AllowedAddress | undefined {
  const whole = parseNetwork(entry)
  if (whole) return { network: whole, port: undefined }
  const [, bracketed, plain = '', digits] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d{1,5}))?$/.exec(entry) ?? []
  const port = digits === undefined ? undefined : Number(digits)
  if (port !== undefined && (port < 1 || port > LAST_PORT)) return undefined
  const network = parseNetwork(bracketed ?? plain)
  if (network) return (network.family === 'ipv6') === (bracketed !== undefined) ? { network, port } : undefined
  const host = plain.toLowerCase()
  return bracketed === undefined && HOST.test(host) ? { host, port } : undefined
}

export const isAllowedAddress = (value: unknown): value is AllowedAddress =>
  typeof value === 'object' && value !== null && ('network' in value || 'host' in value)

/** As `parseAllowedAddress` reads it. */
export function addressText(entry: AllowedAddress): string {
  const port = entry.port === undefined ? '' : `:${entry.port}`
  if ('host' in entry) return `${entry.host}${port}`
  const { address, bits, family } = entry.network
  const network = bits === addressBits(family) ? address : `${address}/${bits}`
  return family === 'ipv6' && port ? `[${network}]${port}` : `${network}${port}`
}

interface AllowSettings {
  readonly NODE_ENV?: string | undefined
  readonly PARTNER_ADDRESS_ALLOW?: readonly AllowedAddress[] | undefined
  readonly PARTNER_PORTS: readonly number[]
}

const USUAL_PORTS = [80, 443]

/** Whether partners may use this port without an entry that names it. */
export const isUsualPort = ({ NODE_ENV, PARTNER_PORTS }: AllowSettings, port: number): boolean =>
  (NODE_ENV !== 'production' && PARTNER_PORTS.length === 0) ||
  USUAL_PORTS.includes(port) ||
  PARTNER_PORTS.includes(port)

/** The entries that apply to this port. One without a port applies to every usual port. */
export const exceptionsAt = (settings: AllowSettings, port: number): AllowedAddress[] =>
  (settings.PARTNER_ADDRESS_ALLOW ?? []).filter(
    (entry) => entry.port === port || (entry.port === undefined && isUsualPort(settings, port)),
  )

export function listOfNetworks(networks: readonly Network[]): BlockList {
  const list = new BlockList()
  for (const { address, bits, family } of networks) list.addSubnet(address, bits, family)
  return list
}

export const namesHost = (entry: AllowedAddress, hostname: string): boolean =>
  'host' in entry && entry.host === hostname.toLowerCase().replace(/\.$/, '')

/** Whether an entry covers this URL, by its host name or by its literal address. */
export function isException(settings: AllowSettings, { hostname, port, protocol }: URL): boolean {
  const host = hostname.replace(/^\[|\]$/g, '')
  const entries = exceptionsAt(settings, Number(port) || (protocol === 'https:' ? 443 : 80))
  const family = familyOf(host)
  if (family === undefined) return entries.some((entry) => namesHost(entry, host))
  return listOfNetworks(entries.flatMap((entry) => ('network' in entry ? [entry.network] : []))).check(host, family)
}
