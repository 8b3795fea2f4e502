import type { Deps } from '../deps.ts'
import { standardAnswer } from '../lib/failure.ts'
import { withAnswer } from '../oauth/index.ts'
import type { AnswerTarget, RedirectedFailure } from './authorize.ts'

/** What goes back to the client by way of the browser. */
export type AuthorizationAnswer =
  | { readonly mode: 'query'; readonly url: string }
  | { readonly mode: 'form_post'; readonly url: string; readonly fields: Readonly<Record<string, string>> }

/** With `state`, and with `iss` (RFC 9207) against answers of another server. */
function answerAt({ config }: Deps, target: AnswerTarget, content: Readonly<Record<string, string>>) {
  const { redirectUri, responseMode, state } = target
  const fields = { ...content, ...(state === undefined ? {} : { state }), iss: config.PUBLIC_URL }
  return responseMode === 'form_post'
    ? ({ mode: 'form_post', url: redirectUri, fields } as const)
    : ({ mode: 'query', url: withAnswer(redirectUri, fields) } as const)
}

export const codeAnswer = (deps: Deps, target: AnswerTarget, code: string): AuthorizationAnswer =>
  answerAt(deps, target, { code })

export function failureAnswer(deps: Deps, { failure, target }: RedirectedFailure): AuthorizationAnswer {
  const { error, description } = standardAnswer(failure)
  return answerAt(deps, target, { error, error_description: description })
}
