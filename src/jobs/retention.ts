import type { Config } from '../config/index.ts'
import {
  type DeleteBatch,
  deleteAccessTokens,
  deleteCodes,
  deleteConsentDecisions,
  deleteGrants,
  deleteNotices,
  deletePartnerCalls,
  deletePartnerSessions,
  deleteRefreshTokens,
  deleteRejectedCalls,
  deleteSessions,
} from './purge-store.ts'

/** What becomes superfluous with time, and how long after its date (seconds) it is kept all the same. */
export interface Kept {
  readonly table: string
  readonly keptS: (config: Config) => number
  readonly deleteBatch: DeleteBatch
}

const DAY_S = 86_400

/**
 * Clocks of machines differ, and the answer to a repeated refresh is read from its tokens' rows for up to
 * 300 s (REFRESH_DUPLICATE_WINDOW_S): what is over stays for another hour.
 */
const MARGIN_S = 3_600
const LONGEST_REFRESH_S = 90 * DAY_S
/** The longest ACCESS_TOKEN_LIFETIME_S that can be set. */
const LONGEST_ACCESS_S = 365 * DAY_S

/**
 * Tokens, sessions and consent forms say themselves that they are expired, so their rows may go at once. A rotated refresh token is
 * kept until its end like any other: sent again it still revokes the grant.
 *
 * A code that was used and is sent again revokes its grant (DECISIONS "Decided about area A"), so codes, used or not, stay for as
 * long as a token can live that came of one: a refresh token of 90 days and an access token got with its last breath.
 *
 * A grant is what a user has allowed, and no other record says so. It stays longer than any token of it could live under
 * any setting, so no token ever loses its grant because a setting was changed: a year and 90 days from the consent,
 * withdrawn or not. Withdrawals, replays and refusals are in the audit log, which nothing here touches.
 *
 * A notice is remembered for 24 hours; the business keys that hold for ever are columns of orders and refunds. Like
 * refused calls it is kept 30 days for its partner to look at, and calls to partners too: they hold visitors' data.
 */
export const RETENTION: readonly Kept[] = [
  { table: 'access_token', keptS: () => MARGIN_S, deleteBatch: deleteAccessTokens },
  { table: 'refresh_token', keptS: () => MARGIN_S, deleteBatch: deleteRefreshTokens },
  {
    table: 'authorization_code',
    keptS: ({ ACCESS_TOKEN_LIFETIME_S }) => LONGEST_REFRESH_S + ACCESS_TOKEN_LIFETIME_S + MARGIN_S,
    deleteBatch: deleteCodes,
  },
  { table: 'consent_decision', keptS: () => MARGIN_S, deleteBatch: deleteConsentDecisions },
  { table: 'user_grant', keptS: () => LONGEST_REFRESH_S + LONGEST_ACCESS_S + MARGIN_S, deleteBatch: deleteGrants },
  { table: 'browser_session', keptS: () => MARGIN_S, deleteBatch: deleteSessions },
  { table: 'sandbox_session', keptS: () => MARGIN_S, deleteBatch: deletePartnerSessions },
  { table: 'notice', keptS: () => 30 * DAY_S, deleteBatch: deleteNotices },
  { table: 'rejected_call', keptS: () => 30 * DAY_S, deleteBatch: deleteRejectedCalls },
  { table: 'partner_call', keptS: () => 30 * DAY_S, deleteBatch: deletePartnerCalls },
]
