import { noSuchRun } from '../../certification/index.ts'
import type { Deps } from '../../deps.ts'
import { addSeconds } from '../../lib/clock.ts'
import { issueToken, type OpaqueToken, PREFIX, parseToken } from '../../lib/crypto/opaque-token.ts'
import { invalidRequest } from '../../lib/web/rescode.ts'

/** Seconds for which a link to a run can be opened. */
const LASTS_S = 7 * 86_400

interface OwnRun {
  readonly partnerId: bigint
  readonly runId: string
}

/** Whose run a key opens: it fits no other. */
const bearerOf = ({ partnerId, runId }: OwnRun): string => `${partnerId}/${runId}`

/** A link to a run. */
export interface ShareLink {
  readonly url: string
  /** ISO 8601: it opens nothing from then on. */
  readonly until: string
}

export const sharedPath = (run: OwnRun): string => `/sandbox/shared/${bearerOf(run)}`

/**
 * A link with which anybody can read a run's log for seven days, without a sign-in. It is signed and not stored: nobody
 * can take it back. `shown` is the step and the attempt that it shows first.
 */
export function shareLink({ keys, clock, config }: Deps, run: OwnRun, shown: Record<string, string>): ShareLink {
  const expiresAt = addSeconds(clock.now(), LASTS_S)
  const key = issueToken(keys, { prefix: PREFIX.sharedRun, routingKey: 0, expiresAt, bearer: bearerOf(run) })
  const query = new URLSearchParams({ key: key.text, ...shown })
  return { url: `${config.PUBLIC_URL}${sharedPath(run)}?${query}`, until: key.expiresAt.toISOString() }
}

/** Throws 404 for a key that is not of this run, and once it has expired. */
export function openShareKey({ keys, clock }: Deps, run: OwnRun, text: string): OpaqueToken {
  const key = parseToken(keys, PREFIX.sharedRun, text, bearerOf(run))
  if (!key) throw noSuchRun()
  if (key.expiresAt <= clock.now()) throw invalidRequest('this link has expired; ask for a new one', { status: 404 })
  return key
}
