import { recordAudit } from '../../platform/audit/index.ts'
import type { Deps } from '../../platform/deps.ts'
import { type EndedThere, UpstreamFailure } from '../upstream/index.ts'
import { spendChallenge } from './passkey-store.ts'
import { deleteUpstreamSessions } from './upstream-store.ts'

/**
 * Ends the sessions here that began with one of the provider's which is over. Of simultaneous calls with one token exactly one
 * succeeds; the others throw UpstreamFailure. Returns how many there were.
 */
export const endFromUpstream = (deps: Deps, { sub, sid, hash, expiresAt }: EndedThere): Promise<number> =>
  deps.db.tx(async (db) => {
    if ((await spendChallenge(db, hash, expiresAt)) === 0) throw new UpstreamFailure('untrusted', 'it was used before')
    const ended = await deleteUpstreamSessions(db, { sub, sid })
    const people = new Map(ended.map((session) => [`${session.cid}/${session.userId}`, session]))
    for (const person of people.values()) {
      const sessions = ended.filter(({ cid, userId }) => cid === person.cid && userId === person.userId).length
      const detail = { by: 'provider', sessions }
      await recordAudit({ ...deps, db }, { event: 'user_sessions_ended', ...person, detail })
    }
    return ended.length
  })
