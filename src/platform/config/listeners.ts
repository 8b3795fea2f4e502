import type { Config } from './index.ts'

/** An address that means every interface is reached on this machine by the loopback one. */
const REACHED_AT: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/** Where a service with these settings answers operators, for programs on its machine. */
export function operatorsAddress({
  HOST,
  PORT,
  ADMIN_HOST,
  ADMIN_PORT,
}: Pick<Config, 'HOST' | 'PORT' | 'ADMIN_HOST' | 'ADMIN_PORT'>): string {
  const [host, port] = ADMIN_PORT === undefined ? [HOST, PORT] : [ADMIN_HOST, ADMIN_PORT]
  const reached = REACHED_AT[host] ?? host
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`
}
