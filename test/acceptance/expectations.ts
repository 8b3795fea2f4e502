import { expect } from 'vitest'
import { envelopeOf } from './client.ts'
import { type Answer, header } from './http.ts'

/** A copy of the error table: native status and message by rescode (REFERENCE "Errors of area A"). */
export const ERROR_TABLE: Readonly<Record<number, readonly [nativeStatus: number, message: RegExp]>> = {
  20001: [401, /^Bad client credentials/],
  20002: [401, /^Client authentication failed$/],
  20003: [403, /^Request forbidden$/],
  20004: [403, /^Insufficient scope$/],
  20005: [401, /^Invalid client$/],
  20006: [400, /^Invalid grant$/],
  20007: [400, /^Invalid request: ./],
  20008: [400, /^Invalid scope: ./],
  20009: [401, /^Invalid access token$/],
  20010: [405, /^Method not allowed$/],
  20011: [403, /^Access denied$/],
  20012: [400, /^Redirect URI mismatch$/],
  20013: [500, /^(Server error$|Invalid authorization code: )/],
  20014: [401, /^Micro-application not yet trusted$/],
  20015: [401, /^Unauthorized$/],
  20016: [401, /^User not yet trusted$/],
  20017: [400, /^Unsupported grant type: .*; use authorization_code or refresh_token$/],
  20018: [400, /^Unsupported response type: .*; use code$/],
  20019: [400, /^User denied authorization$/],
  20020: [401, /^Access token expired$/],
  20021: [400, /^Invalid refresh token \(expired\)$/],
}

type StatusMode = '200' | 'native'

export interface Failure {
  readonly rescode: number
  readonly mode?: StatusMode
  /** Expected of the message in addition to the table. */
  readonly message?: RegExp | string
  /** Statuses that do not depend on the mode: 404, 405, 429, 500, 503. */
  readonly status?: number
  readonly nativeStatus?: number
}

export function expectedStatus({ rescode, mode = '200', status, nativeStatus }: Failure): number {
  if (status) return status
  if (mode === '200') return 200
  return nativeStatus ?? ERROR_TABLE[rescode]?.[0] ?? 0
}

/** Headers of every answer of area A (REFERENCE "Answers of area A"). */
export function expectHeaders(answer: Answer): void {
  expect(header(answer, 'cache-control')).toBe('no-store')
  expect(header(answer, 'referrer-policy')).toBe('no-referrer')
  expect(header(answer, 'x-content-type-options')).toBe('nosniff')
  expect(header(answer, 'x-request-id')).not.toBe('')
  const cors = Object.keys(answer.headers).filter((name) => name.startsWith('access-control-'))
  expect(cors, 'no CORS headers in area A').toEqual([])
}

export function expectJson(answer: Answer): void {
  expectHeaders(answer)
  expect(header(answer, 'content-type').toLowerCase()).toBe('application/json; charset=utf-8')
}

export function expectFailure(answer: Answer, failure: Failure): void {
  const { rescode, data } = envelopeOf(answer)
  expect(rescode, answer.text.slice(0, 500)).toBe(failure.rescode)
  expect(data.message).toMatch(ERROR_TABLE[failure.rescode]?.[1] ?? /never/)
  if (failure.message) expect(data.message).toMatch(failure.message)
  expect(answer.status, answer.text.slice(0, 500)).toBe(expectedStatus(failure))
  expectJson(answer)
}
