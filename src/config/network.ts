import { isIP } from 'node:net'

/**
 * Whether fastify's trustProxy takes this address, network or name of networks; it would complain of anything else
 * without the setting's name.
 */
export function isNetwork(text: string): boolean {
  if (['loopback', 'linklocal', 'uniquelocal'].includes(text)) return true
  const [address = '', bits] = text.split('/', 2)
  const longest = { 0: 0, 4: 32, 6: 128 }[isIP(address)] ?? 0
  return longest > 0 && (bits === undefined || (/^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= longest))
}
