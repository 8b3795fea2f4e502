import type { Deps } from '../../platform/deps.ts'
import { addSeconds, DAY_S } from '../../platform/lib/clock.ts'
import { issueToken, type OpaqueToken, PREFIX, parseToken } from '../../platform/lib/crypto/opaque-token.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { invalidRequest } from '../../platform/lib/web/rescode.ts'
import { noSuchRun, type OneRun } from '../certification/index.ts'
import { timesWithdrawn, withdrawOnce } from './session-store.ts'

/** Seconds for which a link to a run can be opened. */
const LASTS_S = 7 * DAY_S

const runKey = ({ partnerId, runId }: OneRun): string => `${partnerId}/${runId}`

/** What a link's token is bound to: its run, and how often links to that run were withdrawn. Another time ends the token. */
async function holderOf({ db }: Deps, run: OneRun): Promise<string> {
  const times = await timesWithdrawn(db, run.runId)
  return times === 0 ? runKey(run) : `${runKey(run)}/${times}`
}

export const sharedPath = (run: OneRun): string => `/sandbox/shared/${runKey(run)}`

/**
 * A link with which anybody can read a run's log for seven days, without a sign-in, unless it is withdrawn. It is signed and
 * not stored. `shown` is the step and the attempt that it shows first; from `until` (ISO 8601) on it opens nothing.
 */
export async function shareLink(deps: Deps, run: OneRun, shown: Record<string, string> = {}) {
  const { keys, clock, config } = deps
  const expiresAt = addSeconds(clock.now(), LASTS_S)
  const boundTo = await holderOf(deps, run)
  const key = issueToken(keys, { prefix: PREFIX.sharedRun, routingKey: 0, expiresAt, boundTo })
  const query = new URLSearchParams({ key: key.text, ...shown })
  return { url: `${config.PUBLIC_URL}${sharedPath(run)}?${query}`, until: key.expiresAt.toISOString() }
}

/** From now on the links to the run that were made before open nothing. */
export const withdrawLinks = async ({ db }: Deps, runId: string): Promise<void> => {
  await withdrawOnce(db, runId)
}

/** Throws 404 for a key that is not of this run, once it has expired and once it was withdrawn. */
export async function openShareKey(deps: Deps, run: OneRun, text: string): Promise<OpaqueToken> {
  const { keys, clock } = deps
  const key = parseToken(keys, PREFIX.sharedRun, text, await holderOf(deps, run))
  if (!key) throw noSuchRun()
  if (key.expiresAt <= clock.now()) throw invalidRequest(localized('link-expired'), { status: 404 })
  return key
}
