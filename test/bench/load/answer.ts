import type { Expectation } from './ask.ts'
import type { Prepared } from './list.ts'

export interface Answer {
  readonly status: number
  readonly body: string
}

const HEAD_END = '\r\n\r\n'

/** Parses the response in `bytes`; undefined while incomplete. Supports only Content-Length, as no contestant uses chunks. */
export function readAnswer(bytes: Buffer): Answer | undefined {
  const end = bytes.indexOf(HEAD_END)
  if (end < 0) return undefined
  const head = bytes.toString('latin1', 0, end)
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
  if (length === undefined) throw new Error(`an answer without Content-Length:\n${head}`)
  const bodyStart = end + HEAD_END.length
  const bodyEnd = bodyStart + Number(length)
  if (bytes.length < bodyEnd) return undefined
  if (bytes.length > bodyEnd) throw new Error('more bytes than one answer')
  return { status: Number(head.slice(9, 12)), body: bytes.toString('utf8', bodyStart, bodyEnd) }
}

/** Checks the responses of one turn, and that no access token is issued twice. */
export function answerChecker() {
  const seen = new Set<string>()

  function problemOfTokens(body: string, expected: Expectation & { kind: 'tokens' }): string | undefined {
    const answer = JSON.parse(body) as { rescode?: number; data?: Record<string, unknown> }
    const set = (expected.enveloped ? answer.rescode === 0 && answer.data : answer) || {}
    const { access_token, refresh_token, expires_in, scope, id_token } = set as Record<string, unknown>
    if (typeof access_token !== 'string' || access_token.length < 20) return 'no access token'
    if (seen.has(access_token)) return 'an access token that was handed out before'
    seen.add(access_token)
    if (typeof expires_in !== 'number' || expires_in < 1) return 'no expires_in'
    if (typeof refresh_token !== 'string' || refresh_token.length < 20) return 'no refresh token'
    if (expected.refreshToken !== undefined && refresh_token !== expected.refreshToken) return 'another refresh token'
    if (expected.idToken && !/^[\w-]{20,}\.[\w-]{50,}\.[\w-]{80,}$/.test(String(id_token))) return 'no id_token'
    return scope === expected.scope ? undefined : 'another scope'
  }

  function problemOf({ status, body }: Answer, expected: Expectation): string | undefined {
    // 503 is fine too: a busy machine may hash fewer passwords than arrive, and rejects those that waited for QUEUE_WAIT_MS.
    if (expected.kind === 'beside') return status === expected.status || status === 503 ? undefined : `status ${status}`
    if (status !== 200) return `status ${status}`
    if (expected.kind === 'text') return body === expected.text ? undefined : `not the expected ${expected.text}`
    if (expected.kind === 'tokens') return problemOfTokens(body, expected)
    const answer = JSON.parse(body) as Record<string, unknown>
    const wrong = Object.entries(expected.fields).find(([name, value]) => answer[name] !== value)
    return wrong && `${wrong[0]} is not ${JSON.stringify(wrong[1])}`
  }

  return {
    /** Throws, which fails the whole run, if the response is not the expected one. */
    check(answer: Answer, { expect, request }: Prepared): void {
      const problem = problemOf(answer, expect)
      if (!problem) return
      const [, path] = /^\S+ ([^ ?]+)/.exec(request) ?? []
      throw new Error(`a wrong answer of ${path}: ${problem}\nit was: ${answer.body}`)
    },
    /** Access tokens issued so far, oldest first. */
    tokens: (): readonly string[] => [...seen],
  }
}
