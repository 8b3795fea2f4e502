import type { Deps } from '../../platform/deps.ts'
import { oauthErrorOf } from '../../platform/lib/failure.ts'
import { withResponseParameters } from '../oauth/index.ts'
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
