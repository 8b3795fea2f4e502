import { parsedUrl } from '../../platform/lib/parsed-url.ts'
import { isLoopbackHost } from '../../platform/lib/web/web-url.ts'
import type { MicroApp } from '../registry/index.ts'

/** An http URI of the loopback interface, with what stands before and after its port (RFC 8252 §7.3). */
const LOOPBACK = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]))(?::\d{1,5})?((?:[/?].*)?)$/

const withoutPort = (uri: string): string | undefined => {
  const [, host, rest] = LOOPBACK.exec(uri) ?? []
  return host === undefined ? undefined : `${host}${rest}`
}

/**
 * Whether the URI is registered, word for word; of a native app on loopback the port may be any, which is known only
 * once it listens.
 */
export function isRegistered(registered: readonly string[], uri: string): boolean {
  if (!parsedUrl(uri)) return false
  const native = withoutPort(uri)
  return registered.includes(uri) || (native !== undefined && registered.some((one) => withoutPort(one) === native))
}

/** Whether answers may go there: registered, and not over plain http where the app must not. */
export const isRedirectUri = ({ redirect_uris, http_allowed }: MicroApp, uri: string): boolean =>
  isRegistered(redirect_uris, uri) && (http_allowed || isSafe(new URL(uri)))

const isSafe = ({ protocol, hostname }: URL): boolean => protocol === 'https:' || isLoopbackHost(hostname)
