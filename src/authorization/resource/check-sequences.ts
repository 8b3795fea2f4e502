import type { CheckSequence } from '../../platform/lib/failure.ts'
import { OAUTH_CHECKS } from '../oauth/index.ts'

/** The order of checks of A4 and A5, as in src/authorization/oauth/check-sequences.ts. */

const A5 = {
  1: { check: 'not POST', failures: ['method_not_allowed'] },
  2: {
    check: 'access_token missing or empty',
    failures: ['parameter_missing access_token', ...OAUTH_CHECKS.A2[2].failures],
  },
  3: { check: 'malformed, unknown, or a refresh token', failures: ['token_forged', 'token_unknown'] },
  4: {
    check: 'expired, or ended early because its grant has many newer ones',
    failures: ['token_expired', 'token_ended_early'],
  },
  5: { check: 'revoked', failures: ['token_revoked'] },
  6: {
    check: 'app deleted or suspended since, or has lost this scope since',
    failures: ['app_not_approved', 'app_lost_scope'],
  },
  7: { check: 'user blocked', failures: ['user_blocked'] },
  8: { check: 'token lacks the scope', failures: ['token_lacks_scope'] },
} satisfies CheckSequence

const A4 = {
  ...A5,
  9: { check: 'the user has no phone number (A4)', failures: ['no_phone_number'] },
} satisfies CheckSequence

export const RESOURCE_CHECKS = { A4, A5 }
