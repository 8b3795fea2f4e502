import { type FailureRow, refusals } from '../lib/failure.ts'

/** Every way in which A4 and A5 refuse beyond those of parameters (DECISIONS "Errors of area A"): the only place that knows a rescode. */

const INVALID_TOKEN: FailureRow = { rescode: 20009 }
const ACCESS_DENIED: FailureRow = { rescode: 20011 }

export const RESOURCE_FAILURES = {
  token_forged: INVALID_TOKEN,
  token_unknown: INVALID_TOKEN,
  token_revoked: INVALID_TOKEN,
  token_expired: { rescode: 20020 },
  app_not_approved: ACCESS_DENIED,
  app_lost_scope: ACCESS_DENIED,
  user_blocked: { rescode: 20016 },
  token_lacks_scope: { rescode: 20004 },
  /** No caller's mistake, but the contract gives 20013 no native status but 500 (400 only for a code). */
  no_phone_number: { rescode: 20013 },
} as const satisfies Readonly<Record<string, FailureRow>>

export const refuse = refusals<keyof typeof RESOURCE_FAILURES>(RESOURCE_FAILURES)
