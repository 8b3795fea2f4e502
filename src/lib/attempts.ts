import { isIPv6 } from 'node:net'
import { hmacSha256 } from './digest.ts'
import type { Keys } from './keys.ts'

/**
 * What failures are counted by, as the only form of it that is stored. Kinds keep a passport, an app_key and a clientId
 * (`partner`) of the same spelling apart.
 */
export const attemptSubject = (
  keys: Keys,
  kind: 'passport' | 'address' | 'client' | 'partner' | 'rejected' | 'replay' | 'preflight' | 'start',
  value: string,
): Buffer => hmacSha256(keys.storage, `${kind}\n${value}`)

/**
 * The network that one household or machine guesses from: an IPv4 address, or the first 64 bits of an IPv6 address,
 * because every customer is given that many addresses to change between.
 */
export function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped) return mapped
  const [text = ''] = address.split('%')
  if (!isIPv6(text)) return address
  const [head = '', tail] = text.split('::')
  const groups = (part: string) => part.split(':').filter((group) => group !== '')
  const last = groups(tail ?? '')
  const all =
    tail === undefined
      ? groups(head)
      : [...groups(head), ...Array(8 - groups(head).length - last.length).fill('0'), ...last]
  const prefix = all.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16))
  return `${prefix.join(':')}::/64`
}
