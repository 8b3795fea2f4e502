import { BlockList, isIPv4, isIPv6, SocketAddress } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Log } from '../log.ts'

/** `203.0.113.9`, `203.0.113.9:443` (Azure's gateways), `2001:db8::1`, `[2001:db8::1]`, `[2001:db8::1]:443`. */
const FORMS = /^(?:([\d.]+)(?::\d{1,5})?|\[([\da-f:.]+)(?:%[^\]]*)?\](?::\d{1,5})?|([\da-f:.]+)(?:%.*)?)$/i
const MAPPED_IPV4 = '::ffff:'

/**
 * The normal form in which an address is counted, stored and shown: without port, brackets and zone, IPv6 compressed
 * and in lower case, IPv4-mapped IPv6 as IPv4. Undefined if it is not an address.
 */
export function normalAddress(text: string): string | undefined {
  if (isIPv4(text)) return text
  const [, plain, bracketed, bare] = FORMS.exec(text.trim()) ?? []
  const address = plain ?? bracketed ?? bare ?? ''
  if (isIPv4(address)) return bracketed === undefined ? address : undefined
  if (!isIPv6(address)) return undefined
  const shortest = new SocketAddress({ address, family: 'ipv6' }).address
  return shortest.startsWith(MAPPED_IPV4) && shortest.includes('.') ? shortest.slice(MAPPED_IPV4.length) : shortest
}

const NAMED: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
}

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIPv4(address) ? 'ipv4' : 'ipv6')
const BITS = { ipv4: 32, ipv6: 128 } as const

function networksOf(entries: readonly string[]): BlockList {
  const list = new BlockList()
  for (const entry of entries.flatMap((name) => NAMED[name] ?? name)) {
    const [given = '', bits] = entry.split('/')
    const address = normalAddress(given) ?? given
    const family = familyOf(address)
    const most = BITS[familyOf(given)]
    list.addSubnet(address, BITS[family] - (most - Number(bits ?? most)), family)
  }
  return list
}

const MAX_PROXIES = 20

/**
 * Gives each request its `ip`: the address of its connection or, if that is a trusted proxy, the last one in
 * X-Forwarded-For that is not. If an entry is no address (`unknown`), the proxy that sent it counts as the caller.
 * Fastify's own `trustProxy` returns entries verbatim, such as `203.0.113.9:40001`, with a changing port.
 */
export function registerCallerAddress(app: FastifyInstance, trusted: readonly string[], log: Log): void {
  const proxies = networksOf(trusted)
  const isProxy = (address: string): boolean => proxies.check(address, familyOf(address))
  const warned = new Set<string>()
  const warnOnce = (address: string, text: string): void => {
    if (!warned.has(text)) log.warn({ address }, text)
    warned.add(text)
  }

  app.decorateRequest('ip', {
    getter(this: FastifyRequest) {
      // Undefined once the connection is closed.
      const peer = normalAddress(this.raw.socket.remoteAddress ?? '') ?? 'unknown'
      const forwarded = forwardedFor(this)
      if (forwarded === undefined || trusted.length === 0 || peer === 'unknown') return peer
      let caller = peer
      for (const entry of forwarded.split(',').slice(-MAX_PROXIES).reverse()) {
        if (entry.trim() === '') continue
        if (!isProxy(caller)) break
        const next = normalAddress(entry)
        if (next === undefined) {
          warnOnce(caller, NO_ADDRESS)
          break
        }
        caller = next
      }
      return caller
    },
  })
  const text = trusted.length === 0 ? NO_PROXY : OTHER_PROXY
  app.addHook('onRequest', (request, _reply, done) => {
    if (!warned.has(text) && forwardedFor(request) !== undefined) {
      const peer = normalAddress(request.raw.socket.remoteAddress ?? '')
      if (peer !== undefined && !isProxy(peer)) warnOnce(peer, text)
    }
    done()
  })
}

const OF_A_PROXY = /^(?:forwarded|via|x-forwarded-.*|x-real-ip)$/

/** Whether a request came through a proxy, which adds such headers. */
export const cameByProxy = ({ headers }: Pick<FastifyRequest, 'headers'>): boolean =>
  Object.keys(headers).some((name) => OF_A_PROXY.test(name))

/** Node joins repeated headers of this name with commas. */
const forwardedFor = ({ raw }: FastifyRequest): string | undefined =>
  raw.headers['x-forwarded-for'] as string | undefined

const NO_PROXY =
  'a request came with X-Forwarded-For, but TRUST_PROXY is empty: if this service is behind a proxy, limits count everyone behind it as one caller; put its address into TRUST_PROXY'
const OTHER_PROXY =
  'a request came with X-Forwarded-For from an address that is not in TRUST_PROXY: if it is a proxy of yours, limits count everyone behind it as one caller; add its address'
const NO_ADDRESS =
  'a trusted proxy sent an X-Forwarded-For whose last entry is no address: limits count everyone who comes with such an entry as one caller, by the address of that proxy'
