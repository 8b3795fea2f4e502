import { echo, type Failure, invalidRequest, RescodeError } from '../lib/web/rescode.ts'

/** Every way in which A1–A3 refuse (decisions, section 1). `detail` goes to the log only. */

export const missing = (name: string): RescodeError => invalidRequest(`${name} is missing`)

export const badClientCredentials = (message?: string): RescodeError =>
  new RescodeError(20001, message ? { message: `Bad client credentials: ${message}` } : {})

export const malformedBasic = (): RescodeError => new RescodeError(20002, { detail: 'malformed Authorization: Basic' })

export const insufficientScope = (detail: string): RescodeError => new RescodeError(20004, { detail })

export const conflictingCredentials = (): RescodeError =>
  new RescodeError(20005, { detail: 'query and Authorization: Basic differ' })

export const invalidGrant = (detail: string): RescodeError => new RescodeError(20006, { detail })

export const invalidScope = (which: string): RescodeError => new RescodeError(20008, { what: echo(which) || '(empty)' })

export const redirectMismatch = (): RescodeError => new RescodeError(20012)

/** One text for unknown, used, expired and foreign codes; native status 400, since the fault is the caller's. */
export const invalidCode = (code: string, detail: string): RescodeError =>
  new RescodeError(20013, {
    message: `Invalid authorization code: ${echo(code)}`,
    nativeStatus: 400,
    detail,
  })

export const appNotTrusted = (detail: string): RescodeError => new RescodeError(20014, { detail })

export const userNotTrusted = (): RescodeError => new RescodeError(20016, { detail: 'the user is blocked' })

export const unsupportedGrantType = (what: string): RescodeError => new RescodeError(20017, { what: echo(what) })

export const unsupportedResponseType = (what: string): RescodeError => new RescodeError(20018, { what: echo(what) })

export const expiredRefreshToken = (): RescodeError => new RescodeError(20021)

export const unusableForm = (why: string, failure: Failure = {}): RescodeError =>
  invalidRequest(`the consent form ${why}; go back to the app and start again`, failure)

export const foreignForm = (): RescodeError => unusableForm('came from another site', { detail: 'another origin' })
