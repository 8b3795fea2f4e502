import { readFileSync } from 'node:fs'
import type { CheckSequence } from '../../platform/lib/failure.ts'
import { ROOT } from '../../platform/lib/root.ts'
import type { Locale } from '../../platform/lib/web/locale.ts'
import { OAUTH_CHECKS } from '../oauth/index.ts'

/** Finds the row of the check sequence (REFERENCE, "order of checks") that refused a request. */

export type Endpoint = 'A1' | 'A2' | 'A3' | 'A4' | 'A5'

export interface RefusingCheck {
  readonly row: number
  readonly check: string
}

/** A4 and A5. */
const RESOURCE: CheckSequence = {
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
  9: { check: 'the user has no phone number (A4)', failures: ['no_phone_number'] },
}

export const CHECK_SEQUENCES: Readonly<Record<Endpoint, CheckSequence>> = {
  ...OAUTH_CHECKS,
  A4: RESOURCE,
  A5: RESOURCE,
}

const CHINESE: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(new URL('views/locales/checks.zh-CN.json', ROOT), 'utf8'),
)

/** A check as text for a page; in the documents it is English Markdown. */
export const checkText = (check: string, locale: Locale): string =>
  ((locale === 'zh-CN' && CHINESE[check]) || check).replace(/ \(\[below\]\([^)]*\)\)/, '').replaceAll('`', '')

interface Refused {
  readonly endpoint: string
  readonly failure: string | null
  readonly detail: string | null
}

/** The row of its endpoint's table that refused it; null if there is none (a server error, the standard dialect). */
export function refusingCheckOf({ endpoint, failure, detail }: Refused): RefusingCheck | null {
  const sequence = Object.entries(CHECK_SEQUENCES).find(([name]) => name === endpoint)?.[1]
  if (!sequence) return null
  // A parameter in the body is missing from the query.
  const isMissing = failure === 'parameter_missing' || failure === 'parameters_in_body'
  const name = isMissing ? `parameter_missing ${detail}` : failure
  const found = Object.entries(sequence).find(([, { failures }]) => name !== null && failures.includes(name))
  return found ? { row: Number(found[0]), check: found[1].check } : null
}
