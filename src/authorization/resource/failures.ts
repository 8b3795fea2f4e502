import { type FailureRow, failureFactory, oauthError } from '../../platform/lib/failure.ts'
import { localized } from '../../platform/lib/localized-text.ts'

/** Every failure of A4 and A5 beyond those of parameters: the only place that knows rescodes. */

const UNUSABLE_TOKEN = oauthError('invalid_token', localized('token-unusable'), 401)
const INSUFFICIENT_SCOPE = oauthError('insufficient_scope', localized('token-lacks-scope'), 403)

const INVALID_TOKEN: FailureRow = { rescode: 20009, standard: UNUSABLE_TOKEN }

export const RESOURCE_FAILURES = {
  token_forged: { ...INVALID_TOKEN, fix: 'access_token' },
  token_unknown: { ...INVALID_TOKEN, fix: 'access_token' },
  token_revoked: { ...INVALID_TOKEN, fix: 'withdrawn' },
  /** Its grant has too many newer ones (ACCESS_TOKENS_PER_GRANT). As after expiry, a refresh gets another. */
  token_ended_early: { rescode: 20020, standard: UNUSABLE_TOKEN, fix: 'expired' },
  token_expired: { rescode: 20020, standard: UNUSABLE_TOKEN, fix: 'expired' },
  app_not_approved: { rescode: 20011, standard: UNUSABLE_TOKEN, fix: 'suspended' },
  app_lost_scope: { rescode: 20011, standard: INSUFFICIENT_SCOPE, fix: 'scope_not_held' },
  user_blocked: { rescode: 20016, standard: UNUSABLE_TOKEN, fix: 'blocked' },
  token_lacks_scope: { rescode: 20004, standard: INSUFFICIENT_SCOPE, fix: 'scope_not_held' },
  /** Not the caller's mistake, but the contract has no native status for 20013 other than 500 (400 only for a code). */
  no_phone_number: { rescode: 20013, fix: 'no_phone' },
} as const satisfies Readonly<Record<string, FailureRow>>

export const resourceFailure = failureFactory<keyof typeof RESOURCE_FAILURES>(RESOURCE_FAILURES)
