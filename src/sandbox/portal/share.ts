import type { Deps } from '../../platform/deps.ts'
import { addSeconds, DAY_S } from '../../platform/lib/clock.ts'
import { issueToken, type OpaqueToken, PREFIX, parseToken } from '../../platform/lib/crypto/opaque-token.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { invalidRequest } from '../../platform/lib/web/rescode.ts'
import { newestRemoval } from '../../ticketing/members/index.ts'
import { noSuchRun, type RunRef } from '../certification/index.ts'
import { timesWithdrawn, withdrawOnce } from './session-store.ts'

/** Lifetime of a shared link. */
const LINK_LIFETIME_S = 7 * DAY_S

const runKey = ({ partnerId, runId }: RunRef): string => `${partnerId}/${runId}`

/**
 * What tokens are bound to: the run, the number of withdrawals, and the newest removal of a member, who may have made
 * links that nobody else knows of. Each change of these invalidates earlier ones.
 */
async function tokenBinding(deps: Deps, run: RunRef): Promise<string> {
  const times = await timesWithdrawn(deps.db, run.runId)
  const removal = await newestRemoval(deps.db, run.partnerId)
  return [runKey(run), ...(times === 0 ? [] : [times]), ...(removal ? [removal.toISOString()] : [])].join('/')
}

export const sharedPath = (run: RunRef): string => `/sandbox/shared/${runKey(run)}`

/**
 * A link by which anybody can read a run's log without signing in, until it expires (`until`, ISO 8601) or is
 * withdrawn. It is signed, not stored. `shown`: the step and attempt that it opens with.
 */
export async function shareLink(deps: Deps, run: RunRef, shown: Record<string, string> = {}) {
  const { keys, clock, config } = deps
  const expiresAt = addSeconds(clock.now(), LINK_LIFETIME_S)
  const boundTo = await tokenBinding(deps, run)
  const key = issueToken(keys, { prefix: PREFIX.sharedRun, routingKey: 0, expiresAt, boundTo })
  const query = new URLSearchParams({ key: key.text, ...shown })
  return { url: `${config.PUBLIC_URL}${sharedPath(run)}?${query}`, until: key.expiresAt.toISOString() }
}

/** Invalidates all links to the run made so far. */
export const withdrawLinks = async ({ db }: Deps, runId: string): Promise<void> => {
  await withdrawOnce(db, runId)
}

/** Throws 404 for a key of another run, and for one that has expired or was withdrawn. */
export async function openShareKey(deps: Deps, run: RunRef, text: string): Promise<OpaqueToken> {
  const { keys, clock } = deps
  const key = parseToken(keys, PREFIX.sharedRun, text, await tokenBinding(deps, run))
  if (!key) throw noSuchRun()
  if (key.expiresAt <= clock.now()) throw invalidRequest(localized('link-expired'), { status: 404 })
  return key
}
