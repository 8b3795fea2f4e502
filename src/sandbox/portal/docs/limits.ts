import { PARTNER_LIMITS } from '../../../platform/config/call-limits.ts'
import type { Config } from '../../../platform/config/index.ts'
import { ASK_AGAIN_IN_S } from '../../../ticketing/orders/index.ts'
import { BREAKER } from '../../../ticketing/partner-reach/index.ts'
import { ANSWER_SLOW_MS } from '../../checks/index.ts'

const SECOND_MS = 1_000
const MEBIBYTE = 1_048_576

/** The limits that the reference names, as text: times are seconds. */
export function docsLimits({ MTP_CLOCK_SKEW_S }: Pick<Config, 'MTP_CLOCK_SKEW_S'>): Readonly<Record<string, string>> {
  const { connectMs, headersMs, totalMs, bytes } = PARTNER_LIMITS
  return {
    connect: String(connectMs / SECOND_MS),
    headers: String(headersMs / SECOND_MS),
    total: String(totalMs / SECOND_MS),
    slow: String(ANSWER_SLOW_MS / SECOND_MS),
    mebibytes: String(bytes / MEBIBYTE),
    failures: String(BREAKER.failures),
    rest: String(BREAKER.openS),
    ask: String(ASK_AGAIN_IN_S),
    skew: String(MTP_CLOCK_SKEW_S),
  }
}
