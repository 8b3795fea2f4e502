import { InvalidInput } from '../../platform/lib/json/input.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { invalidRequest, type RescodeError } from '../../platform/lib/web/rescode.ts'
import type { Credential } from './store.ts'

/** The sign-in was not accepted: wrong passport or password, or (with `retryAt`) too many failures before it. */
export class SignInRefused extends Error {
  override readonly name = 'SignInRefused'
  readonly retryAt: Date | undefined

  constructor(retryAt?: Date) {
    super(retryAt ? 'too many failed sign-ins' : 'wrong passport or password')
    this.retryAt = retryAt
  }
}

/** Too many wrong codes in a day, until `retryAt`. */
export class CodesUsedUp extends SignInRefused {}

/** Passport and password were right; a second factor is needed, or has to be added, before there is a session. */
export class SecondStepNeeded extends Error {
  override readonly name = 'SecondStepNeeded'
  readonly credential: Credential

  constructor(credential: Credential) {
    super('a second factor is needed')
    this.credential = credential
  }
}

/** A link to a new password cannot be used. */
export class PasswordRefused extends Error {
  override readonly name = 'PasswordRefused'
  readonly reason: 'link_invalid' | 'link_expired' | 'link_used'

  constructor(reason: PasswordRefused['reason']) {
    super(reason)
    this.reason = reason
  }
}

export const noSuchSession = (): RescodeError => invalidRequest(localized('no-session'), { status: 404 })

export const noSuchUser = (): RescodeError => invalidRequest(localized('no-user'), { status: 404 })

/** Bad input: each of these fields that another user has. */
export class AlreadyTaken extends InvalidInput {
  constructor(taken: { passport: boolean; user_id: boolean }) {
    super(
      (['passport', 'user_id'] as const)
        .filter((field) => taken[field])
        .map((field) => ({ field, problem: localized(field === 'user_id' ? 'taken-in-cid' : 'already-taken') })),
    )
  }
}
