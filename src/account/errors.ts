import { invalidRequest, type RescodeError } from '../lib/rescode.ts'

/** The sign-in was not accepted: wrong passport or password, or (with `retryAt`) too many failures before it. */
export class SignInRefused extends Error {
  override readonly name = 'SignInRefused'
  readonly retryAt: Date | undefined

  constructor(retryAt?: Date) {
    super(retryAt ? 'too many failed sign-ins' : 'wrong passport or password')
    this.retryAt = retryAt
  }
}

export const noSuchUser = (): RescodeError => invalidRequest('no such user', { status: 404 })

export const alreadyTaken = (fields: Partial<Record<'passport' | 'user_id', boolean>>): RescodeError =>
  invalidRequest(
    Object.entries(fields)
      .filter(([, taken]) => taken)
      .map(([field]) => `${field} is already taken`)
      .join('; '),
  )
