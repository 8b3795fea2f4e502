import type { Problem } from '../../platform/lib/web/rescode.ts'
import { isLoopbackHost } from '../../platform/lib/web/web-url.ts'
import type { Partner } from './wire.ts'

const PLAIN =
  'is plain http: what is sent there, orders and visitors included, can be read and changed on the way; use https'

/** Warnings about URLs of a partner that are called over a network without TLS. Such URLs are accepted. */
export function urlWarnings({
  base_url,
  interface_urls,
  contacts,
}: Pick<Partner, 'base_url' | 'interface_urls' | 'contacts'>): Problem[] {
  const urls: [string, string | null | undefined][] = [
    ['base_url', base_url],
    ...Object.entries(interface_urls).map(([name, url]): [string, string] => [`interface_urls.${name}`, url]),
    ...Object.entries(contacts).map(([role, who]): [string, string | null] => [
      `contacts.${role}.webhook_url`,
      who?.webhook_url ?? null,
    ]),
  ]
  return urls.flatMap(([field, url]) => (url && isPlain(url) ? [{ field, problem: PLAIN }] : []))
}

const isPlain = (text: string): boolean => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url?.protocol === 'http:' && !isLoopbackHost(url.hostname)
}
