import { ACCOUNT_RETENTION } from '../account/index.ts'
import type { Retention } from '../db/retention.ts'
import { NOTICE_RETENTION } from '../mtp/index.ts'
import { REJECTED_CALL_RETENTION } from '../mws/index.ts'
import { OAUTH_RETENTION } from '../oauth/index.ts'
import { CALL_RETENTION } from '../partner-calls/index.ts'
import { SANDBOX_RETENTION } from '../sandbox/index.ts'

/** What the purge deletes and when, as the owner of each table declares it. */
export const RETENTION: readonly Retention[] = [
  ...OAUTH_RETENTION,
  ...ACCOUNT_RETENTION,
  ...SANDBOX_RETENTION,
  ...NOTICE_RETENTION,
  ...REJECTED_CALL_RETENTION,
  ...CALL_RETENTION,
]
