import { isIPv4 } from 'node:net'
import { availableParallelism } from 'node:os'
import { z } from 'zod'
import { parsedUrl } from '../lib/parsed-url.ts'
import { jsonOf } from '../lib/read-or.ts'
import { normalAddress } from '../lib/web/caller-address.ts'
import { type AllowedAddress, parseAllowedAddress, parseNetwork } from './allowed-address.ts'
import { prefixProblem } from './mounts.ts'

/** Number() would read blank text as 0. */
const numeric = z.string().transform((text) => (text.trim() === '' ? Number.NaN : Number(text)))

export function decimal(from: number, to: number) {
  const problem = `must be a number from ${from} to ${to}`
  return numeric.pipe(z.number(problem).min(from, problem).max(to, problem))
}

export const whole = (from: number, to: number, otherwise = 'must be a whole number') =>
  numeric.pipe(
    z
      .number(otherwise)
      .int(otherwise)
      .min(from, { error: `must be at least ${from}`, abort: true })
      .max(to, { error: `must be at most ${to}`, abort: true }),
  )

const MAX_PROCESSES = 64

/** How many processes: a number, or `auto`, one for each core. */
export const processes = z.preprocess(
  (given) => (given === 'auto' ? String(Math.min(availableParallelism(), MAX_PROCESSES)) : given),
  whole(1, MAX_PROCESSES, 'must be a whole number, or auto'),
)

/** One of these texts: `must be a, b or c`. */
export const choice = <const Values extends readonly string[]>(...values: Values) =>
  z.enum(values, `must be ${values.join(', ').replace(/, ([^,]*)$/, ' or $1')}`)

export const onOff = choice('on', 'off').transform((value) => value === 'on')

const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// address', abort: true })

/** What a URL has besides scheme, host and port. A bare `?` or `#` counts too. */
const extraPartsOf = (text: string): string[] => {
  const { username, password, pathname } = new URL(text)
  const [address = '', ...fragment] = text.split('#')
  return [
    ...(username || password ? ['a user name or password'] : []),
    ...(pathname === '/' ? [] : ['a path']),
    ...(address.includes('?') ? ['a query'] : []),
    ...(fragment.length > 0 ? ['a fragment'] : []),
  ]
}

const urlWithout = (allowed: readonly string[], problem: string) =>
  httpUrl.superRefine((text, context) => {
    const parts = extraPartsOf(text).filter((part) => !allowed.includes(part))
    if (parts.length > 0) context.addIssue({ code: 'custom', message: `${problem} ${parts.join(' and ')}` })
  })

/** An origin, normalized as browsers write it: scheme and host in lower case, no default port. */
export const originUrl = urlWithout(
  [],
  'must be scheme, host and port alone, such as https://gate.example: it has',
).transform((text) => new URL(text).origin)

/** A URL to which paths are appended. */
export const baseUrl = urlWithout(['a path'], 'must not have').transform((url) => url.replace(/\/+$/, ''))

/** An unescaped character of a password that ends the authority early, so that what precedes it would become the host. */
function strayInPassword(text: string): string | undefined {
  const [, authority = '', rest = ''] = /^[a-z]+:\/\/([^/?#]*)(.*)$/is.exec(text) ?? []
  if (rest.includes('#')) return '#'
  const [path = '', query = ''] = rest.split('?', 2)
  if (path.includes('@')) return '/'
  return !authority.includes('@') && path === '' && /^[^=]*@/.test(query) ? '?' : undefined
}

/** DATABASE_URL may hold a password, so messages repeat none of it. */
export const databaseUrl = z.string().superRefine((text, context) => {
  const add = (message: string) => context.addIssue({ code: 'custom', message })
  if (!/^postgres(ql)?:\/\//i.test(text)) return add('must be a postgres:// address')
  const stray = strayInPassword(text)
  if (stray)
    return add(`has a ${stray} where none may be: in a user name or password write ${encodeURIComponent(stray)}`)
  if (!parsedUrl(text)) add('must be a postgres:// address, with special characters percent-encoded')
})

export const list = z.string().transform((text) =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== ''),
)

/** Entries of SECRET_KEYS_OLD are secrets, so messages name none. A key that contains a comma needs the JSON list. */
export const oldKeys = z
  .string()
  .transform((text) => (text.trimStart().startsWith('[') ? jsonOf(text) : list.parse(text)))
  .pipe(
    z
      .array(z.string().min(32, 'must be keys of at least 32 characters each'), 'must be a list of keys')
      .max(5, 'must have at most 5 keys'),
  )

/** Each bad entry of PARTNER_ADDRESS_ALLOW is named: none is a secret. */
export const allowedAddresses = list.transform((entries, context): AllowedAddress[] =>
  entries.flatMap((entry) => {
    const parsed = parseAllowedAddress(entry)
    if (parsed) return parsed
    context.addIssue({
      code: 'custom',
      message: `has "${entry.slice(0, 80)}", which is not a host, address or network: write partner.internal, 10.1.2.3, 10.1.0.0/16 or [fd00::1], each with or without :port`,
    })
    return []
  }),
)

/** Each bad entry of MTP_PATH_PREFIXES is named. */
export const pathPrefixes = list.superRefine((entries, context) => {
  for (const entry of entries) {
    const message = prefixProblem(entry, entries)
    if (message !== undefined) context.addIssue({ code: 'custom', message })
  }
})

const port = whole(1, 65_535)
export const ports = list
  .refine((items) => items.every((item) => port.safeParse(item).success), 'must be ports, separated by commas')
  .transform((items) => items.map(Number))

/** RFC 9116 wants URIs, and https rather than http. No whitespace, since each becomes a line of its own. */
const CONTACT = /^(?:mailto:[^\s@,]+@[^\s@,]+|https:\/\/[^\s,]+)$/
export const contactUris = list.refine(
  (items) => items.every((item) => CONTACT.test(item)),
  'must be mailto: or https: addresses, separated by commas',
)

/** Whether TRUST_PROXY accepts this address, network or named range (src/platform/lib/web/caller-address.ts). */
export function isNetwork(text: string): boolean {
  if (['loopback', 'linklocal', 'uniquelocal'].includes(text)) return true
  const network = parseNetwork(text)
  if (!network) return false
  // In an IPv4-mapped IPv6 address the first 96 bits are fixed.
  const isMapped = network.family === 'ipv6' && isIPv4(normalAddress(network.address) ?? '')
  return network.bits >= (isMapped ? 97 : 1)
}

/**
 * Reads `smtp(s)://user:password@host:port`, user and password percent-encoded; undefined for anything else. `secure`: TLS
 * from the start, not by STARTTLS.
 */
export function parseSmtpUrl(text: string) {
  const url = parsedUrl(text)
  if (!url || !/^smtps?:$/.test(url.protocol) || url.hostname === '') return undefined
  if (!['', '/'].includes(url.pathname) || url.search !== '' || url.hash !== '') return undefined
  const secure = url.protocol === 'smtps:'
  try {
    const [user, pass] = [decodeURIComponent(url.username), decodeURIComponent(url.password)]
    return {
      host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
      port: url.port === '' ? (secure ? 465 : 587) : Number(url.port),
      secure,
      auth: user === '' ? undefined : { user, pass },
    }
  } catch {
    return undefined
  }
}

/** `a@b.example` or `Name <a@b.example>`: one sender, without anything that mail headers read differently. */
export const MAIL_SENDER = /^([^<>"@,;:\p{Cc}]+ <[^<>\s@,;]+@[^<>\s@,;]+>|[^<>\s@,;:]+@[^<>\s@,;]+)$/u
