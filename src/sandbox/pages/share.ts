import { noSuchRun } from '../../certification/index.ts'
import type { Deps } from '../../deps.ts'
import { addSeconds } from '../../lib/clock.ts'
import { issueToken, type OpaqueToken, PREFIX, parseToken } from '../../lib/crypto/opaque-token.ts'
import { invalidRequest } from '../../lib/web/rescode.ts'
import { timesWithdrawn, withdrawOnce } from '../session-store.ts'

/** Seconds for which a link to a run can be opened. */
const LASTS_S = 7 * 86_400

interface OwnRun {
  readonly partnerId: bigint
  readonly runId: string
}

const placeOf = ({ partnerId, runId }: OwnRun): string => `${partnerId}/${runId}`

/** Who holds a run's key, for the token: which run it opens. It fits no other, and none whose links have been withdrawn since it was made. */
async function holderOf({ db }: Deps, run: OwnRun): Promise<string> {
  const times = await timesWithdrawn(db, run.runId)
  return times === 0 ? placeOf(run) : `${placeOf(run)}/${times}`
}

/** A link to a run. */
export interface ShareLink {
  readonly url: string
  /** ISO 8601: it opens nothing from then on. */
  readonly until: string
}

export const sharedPath = (run: OwnRun): string => `/sandbox/shared/${placeOf(run)}`

/**
 * A link with which anybody can read a run's log for seven days, without a sign-in, unless it is withdrawn. It is signed and
 * not stored. `shown` is the step and the attempt that it shows first.
 */
export async function shareLink(deps: Deps, run: OwnRun, shown: Record<string, string> = {}): Promise<ShareLink> {
  const { keys, clock, config } = deps
  const expiresAt = addSeconds(clock.now(), LASTS_S)
  const boundTo = await holderOf(deps, run)
  const key = issueToken(keys, { prefix: PREFIX.sharedRun, routingKey: 0, expiresAt, boundTo })
  const query = new URLSearchParams({ key: key.text, ...shown })
  return { url: `${config.PUBLIC_URL}${sharedPath(run)}?${query}`, until: key.expiresAt.toISOString() }
}

/** Every link to a run that was made so far opens nothing from now on. */
export const withdrawLinks = async ({ db }: Deps, runId: string): Promise<void> => {
  await withdrawOnce(db, runId)
}

/** Throws 404 for a key that is not of this run, once it has expired and once it was withdrawn. */
export async function openShareKey(deps: Deps, run: OwnRun, text: string): Promise<OpaqueToken> {
  const { keys, clock } = deps
  const key = parseToken(keys, PREFIX.sharedRun, text, await holderOf(deps, run))
  if (!key) throw noSuchRun()
  if (key.expiresAt <= clock.now()) throw invalidRequest('this link has expired; ask for a new one', { status: 404 })
  return key
}
