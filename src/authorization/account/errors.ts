import { InvalidInput } from '../../platform/lib/json/input.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { invalidRequest, type RescodeError } from '../../platform/lib/web/rescode.ts'
import { SignInRefused } from '../../platform/throttle/index.ts'
import type { Credential } from './store.ts'

/** Too many wrong codes today; `retryAt` says until when. */
export class CodesUsedUp extends SignInRefused {}

/** Passport and password are right, but a second factor must be given, or added, before a session is opened. */
export class SecondStepNeeded extends Error {
  override readonly name = 'SecondStepNeeded'
  readonly credential: Credential

  constructor(credential: Credential) {
    super('a second factor is needed')
    this.credential = credential
  }
}

/** Since the first step the password was changed, or the person's sessions were ended, or the person was erased. */
export class SecondStepVoid extends Error {
  override readonly name = 'SecondStepVoid'
}

/** The password cannot be set: the link cannot be used, or the session has ended. */
export class PasswordRefused extends Error {
  override readonly name = 'PasswordRefused'
  readonly reason: 'link_invalid' | 'link_expired' | 'link_used' | 'signed_out'

  constructor(reason: PasswordRefused['reason']) {
    super(reason)
    this.reason = reason
  }
}

export const noSuchSession = (): RescodeError => invalidRequest(localized('no-session'), { status: 404 })

export const noSuchUser = (): RescodeError => invalidRequest(localized('no-user'), { status: 404 })

/** Bad input: names each field whose value another user has. */
export class AlreadyTaken extends InvalidInput {
  constructor(taken: { passport: boolean; user_id: boolean }) {
    super(
      (['passport', 'user_id'] as const)
        .filter((field) => taken[field])
        .map((field) => ({ field, problem: localized(field === 'user_id' ? 'taken-in-cid' : 'already-taken') })),
    )
  }
}
