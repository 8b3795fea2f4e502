import type { Config } from './index.ts'

/** Where programs on this machine reach a wildcard address. */
const LOOPBACK_FOR: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/** The URL at which programs on the same machine reach the operators' listener. */
export function operatorsAddress({
  HOST,
  PORT,
  ADMIN_HOST,
  ADMIN_PORT,
}: Pick<Config, 'HOST' | 'PORT' | 'ADMIN_HOST' | 'ADMIN_PORT'>): string {
  const [host, port] = ADMIN_PORT === undefined ? [HOST, PORT] : [ADMIN_HOST, ADMIN_PORT]
  const hostname = LOOPBACK_FOR[host] ?? host
  return `http://${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}`
}
