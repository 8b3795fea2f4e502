import type { Deps } from '../../platform/deps.ts'
import { oauthErrorOf } from '../../platform/lib/failure.ts'
import { isLoopbackHost } from '../../platform/lib/web/web-url.ts'
import { withResponseParameters } from '../oauth/index.ts'
import type { MicroApp } from '../registry/index.ts'
import type { RedirectedFailure, ResponseTarget } from './authorize.ts'

/** What goes back to the client by way of the browser. */
export type AuthorizationResponse =
  | { readonly mode: 'query'; readonly url: string }
  | { readonly mode: 'form_post'; readonly url: string; readonly fields: Readonly<Record<string, string>> }

/** With `state`, and with `iss` (RFC 9207) against responses of another server. */
function responseAt({ config }: Deps, target: ResponseTarget, content: Readonly<Record<string, string>>) {
  const { redirectUri, responseMode, state } = target
  const fields = { ...content, ...(state === undefined ? {} : { state }), iss: config.PUBLIC_URL }
  return responseMode === 'form_post'
    ? ({ mode: 'form_post', url: redirectUri, fields } as const)
    : ({ mode: 'query', url: withResponseParameters(redirectUri, fields) } as const)
}

export const codeResponse = (deps: Deps, target: ResponseTarget, code: string): AuthorizationResponse =>
  responseAt(deps, target, { code })

export function errorResponse(deps: Deps, { failure, target }: RedirectedFailure): AuthorizationResponse {
  const { error, description } = oauthErrorOf(failure)
  return responseAt(deps, target, { error, error_description: description })
}

/** An http URI of the loopback interface, with what stands before and after its port (RFC 8252 §7.3). */
const LOOPBACK = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]))(?::\d{1,5})?((?:[/?].*)?)$/

const withoutPort = (uri: string): string | undefined => {
  const [, host, rest] = LOOPBACK.exec(uri) ?? []
  return host === undefined ? undefined : `${host}${rest}`
}

/**
 * Whether the URI is registered word for word. Of a native app on the loopback interface the port may be any: it is known
 * only once the app listens.
 */
export function isRegistered(registered: readonly string[], uri: string): boolean {
  if (!URL.canParse(uri)) return false
  const native = withoutPort(uri)
  return registered.includes(uri) || (native !== undefined && registered.some((one) => withoutPort(one) === native))
}

/** Whether answers may go there: registered, and not over plain http where the app must not. */
export const isRedirectUri = ({ redirect_uris, http_allowed }: MicroApp, uri: string): boolean =>
  isRegistered(redirect_uris, uri) && (http_allowed || isSafe(new URL(uri)))

const isSafe = ({ protocol, hostname }: URL): boolean => protocol === 'https:' || isLoopbackHost(hostname)
