import { ACCOUNT_RETENTION } from '../account/store.ts'
import type { Retention } from '../db/retention.ts'
import { MTP_RETENTION } from '../mtp/store.ts'
import { OAUTH_RETENTION } from '../oauth/grant-store.ts'
import { CALL_RETENTION } from '../partner-calls/call-store.ts'
import { SANDBOX_RETENTION } from '../sandbox/session-store.ts'

/** What the purge deletes and when, as the owner of each table declares it. */
export const RETENTION: readonly Retention[] = [
  ...OAUTH_RETENTION,
  ...ACCOUNT_RETENTION,
  ...SANDBOX_RETENTION,
  ...MTP_RETENTION,
  ...CALL_RETENTION,
]
