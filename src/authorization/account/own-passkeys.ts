import type { UserRowKey } from '../../platform/db/personal-rows.ts'
import type { Deps } from '../../platform/deps.ts'
import * as store from './passkey-store.ts'
import { deleteOtherSessions } from './password-store.ts'
import { recordChange } from './person-mail.ts'
import { lockSignedIn, type SignedIn } from './session.ts'

/** What people do about the passkeys that they have. */

export const ownPasskeys = ({ db }: Deps, key: UserRowKey) => store.passkeysOf(db, key)

export const renameOwnPasskey = ({ db }: Deps, key: UserRowKey, passkeyId: string, name: string) =>
  store.renamePasskey(db, key, passkeyId, name)

/** The person removes one of their passkeys. All other sessions end: whoever has the device may have opened one with it. */
export const removeOwnPasskey = (deps: Deps, session: SignedIn, passkeyId: string): Promise<void> =>
  deps.db.of(session.routingKey).tx(async (db) => {
    if (!(await lockSignedIn({ ...deps, db }, session))) return
    if ((await store.deletePasskey(db, session, passkeyId)) === 0) return
    await deleteOtherSessions(db, session, session.sessionHash)
    await recordChange({ ...deps, db }, session, 'passkey_removed')
  })
