import type { Deps } from '../../platform/deps.ts'
import { hashPassword } from '../../platform/lib/crypto/password.ts'
import { refuseWeakPassword } from '../../platform/lib/crypto/weak-password.ts'
import { lockPartner, showPartner } from '../partners/index.ts'
import { recordMemberEvent } from './change.ts'
import { MemberRefusal } from './errors.ts'
import { type OpenedLink, openMemberLink } from './link.ts'
import { deleteOtherLinks, spendLink } from './link-store.ts'
import type { MemberCredential } from './password.ts'
import * as store from './store.ts'

/**
 * Uses a link once: sets the password of whoever it was sent to, who joins by it if it is an invitation. The member's
 * sessions end, and all other links. Throws MemberRefusal, and WeakPassword, after which the link still works. Of simultaneous calls with one token exactly one succeeds.
 */
export async function useLink(deps: Deps, token: string, password: string): Promise<OpenedLink & MemberCredential> {
  const { partnerId, mail } = await openMemberLink(deps, token)
  const { client_id } = await showPartner(deps, partnerId)
  await refuseWeakPassword(password, mail, client_id)
  // Outside of the transaction: it takes a while, and may wait for its turn.
  const passwordHash = await deps.passwordSlots.run(() => hashPassword(password))
  return deps.db.tx(async (db) => {
    const inside: Deps = { ...deps, db, actor: { ...deps.actor, kind: 'partner' } }
    await lockPartner(inside, partnerId)
    const link = await openMemberLink(inside, token)
    const { linkId, memberId, purpose, role } = link
    const now = deps.clock.now()
    if (purpose === 'invitation' && role !== 'owner') await requireSomeOwner(inside, partnerId, now)
    if (!(await spendLink(db, linkId, now))) throw new MemberRefusal('link_used')
    const version = await store.setPassword(db, memberId, passwordHash, now)
    await deleteOtherLinks(db, memberId, linkId)
    const event = purpose === 'invitation' ? 'member_joined' : 'member_password_set'
    await recordMemberEvent(
      { ...inside, actor: { ...deps.actor, kind: 'partner', name: memberId } },
      event,
      partnerId,
      { member_id: memberId, role },
    )
    return { ...link, version }
  })
}

/** Somebody must be able to manage a partner whose clientSecret no longer signs in. */
async function requireSomeOwner({ db }: Deps, partnerId: bigint, now: Date): Promise<void> {
  if ((await store.countMembers(db, partnerId, now)).owners === 0) throw new MemberRefusal('no_owner')
}
