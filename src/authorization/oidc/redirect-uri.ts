import { parsedUrl } from '../../platform/lib/parsed-url.ts'
import { isLoopbackHost } from '../../platform/lib/web/web-url.ts'
import type { MicroApp } from '../registry/index.ts'

/** An http URI of the loopback interface, split around its port (RFC 8252 §7.3). */
const LOOPBACK = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]))(?::\d{1,5})?((?:[/?].*)?)$/

const withoutPort = (uri: string): string | undefined => {
  const [, host, rest] = LOOPBACK.exec(uri) ?? []
  return host === undefined ? undefined : `${host}${rest}`
}

/** Word for word, but on loopback with any port: a native app learns it only once it listens. */
export function isRegistered(registered: readonly string[], uri: string): boolean {
  if (!parsedUrl(uri)) return false
  const native = withoutPort(uri)
  return registered.includes(uri) || (native !== undefined && registered.some((known) => withoutPort(known) === native))
}

/** Whether the URI is registered, and not plain http if the app may not use that. */
export const isRedirectUri = ({ redirect_uris, http_allowed }: MicroApp, uri: string): boolean =>
  isRegistered(redirect_uris, uri) && (http_allowed || isSafe(new URL(uri)))

const isSafe = ({ protocol, hostname }: URL): boolean => protocol === 'https:' || isLoopbackHost(hostname)
