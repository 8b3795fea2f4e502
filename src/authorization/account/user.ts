import { recordAudit } from '../../platform/audit/index.ts'
import { pageNamed } from '../../platform/db/page.ts'
import type { UserRowKey } from '../../platform/db/personal-rows.ts'
import type { Db } from '../../platform/db/sql.ts'
import { type Deps, inPersonTransaction, inTransaction } from '../../platform/deps.ts'
import { hashPassword } from '../../platform/lib/crypto/password.ts'
import { refuseWeakInput } from '../../platform/lib/crypto/weak-password.ts'
import { operation } from '../../platform/lib/json/input.ts'
import { findByPassport, findByPhone, listUsers as usersOf } from './bulk-store.ts'
import { AlreadyTaken, noSuchUser } from './errors.ts'
import { tellPerson } from './person-mail.ts'
import { changePassport } from './profile.ts'
import { deleteChange, deletePicture, setPhone, updateProfile } from './profile-store.ts'
import * as store from './store.ts'
import {
  lastDigits,
  maskedUser,
  newUser,
  rowKeyOf,
  showUserInput,
  type User,
  type UserKey,
  userChanges,
  userFilter,
} from './wire.ts'

/** Creates a user. An existing passport or (cid, user_id) is bad input (20007), reported by field. */
export const createUser = operation(newUser, async (deps: Deps, { password, ...input }): Promise<User> => {
  const user = { ...input, created_at: deps.clock.now() }
  const key = rowKeyOf(user)
  await refuseWeakInput(password, user.passport)
  const passwordHash = await hashPassword(password)
  await inPersonTransaction(deps, key.routingKey, async (inside, db) => {
    const taken = await store.isPassportTaken(db, user.passport)
    const isNew = (await store.insertProfile(db, key, user)) > 0
    if (taken || !isNew) throw new AlreadyTaken({ passport: taken, user_id: !isNew })
    const inserted = await store.insertCredential(db, key, store.storedPassport(user.passport), passwordHash)
    if (inserted === 0) throw new AlreadyTaken({ passport: true, user_id: false })
    await recordEvent(inside, key, 'user_created')
  })
  return user
})

/**
 * Returns the user, masked. A passport in use is bad input (20007). If the passport was a mail address, the change is
 * announced to the old one. Throws 20007 (404).
 */
export const updateUser = operation(
  userChanges,
  (deps: Deps, { cid, user_id, passport, phone_number, ...profile }): Promise<User> =>
    inTransaction(deps, async (inside, db) => {
      const key = rowKeyOf({ cid, user_id })
      await lockExistingUser(db, key)
      const before = await existingUser(db, key)
      const given = Object.entries({ passport, phone_number, ...profile }).filter(([, value]) => value !== undefined)
      const fields = given.flatMap(([name, value]) => (value === before[name as keyof User] ? [] : [name]))
      const after = { ...before, ...Object.fromEntries(given) }
      if (fields.length === 0) return maskedUser(before)
      await updateProfile(db, key, after, deps.clock.now())
      if (fields.includes('big_avatar_url')) await deletePicture(db, key)
      if (fields.includes('phone_number')) {
        await setPhone(db, key, after.phone_number, deps.clock.now())
        await deleteChange(db, key, 'phone')
      }
      if (fields.includes('passport')) {
        const changed = await changePassport(inside, key, after.passport, () => tellPerson(inside, key, 'mail_changed'))
        if (changed === 'taken') throw new AlreadyTaken({ passport: true, user_id: false })
      }
      await recordAudit(inside, { event: 'user_updated', ...key, detail: { fields } })
      return maskedUser(after)
    }),
)

export const listUsers = operation(userFilter, (deps: Deps, filter) => pageNamed('users', usersOf(deps.db, filter)))

/** One user, masked unless there is a reason, which is recorded in the audit log. Throws 20007 (404). */
export const showUser = operation(
  showUserInput,
  (deps: Deps, { cid, user_id, reason }): Promise<User> =>
    inTransaction(deps, async (inside, db) => {
      const key = rowKeyOf({ cid, user_id })
      const found = await existingUser(db, key)
      if (reason === undefined) return maskedUser(found)
      await recordAudit(inside, { event: 'personal_data_read', ...key, detail: { reason } })
      return found
    }),
)

/** Bars the user from every flow (20016). Browser sessions stay, so that the person learns why. Throws 20007 (404). */
export const blockUser = (deps: Deps, key: UserKey): Promise<User> => setStatus(deps, key, 'blocked')

export const unblockUser = (deps: Deps, key: UserKey): Promise<User> => setStatus(deps, key, 'active')

/** Ends sessions, grants, codes, tokens, consents: every read compares with `valid_from`. Throws 20007 (404). */
export const endSessionsOfUser = (deps: Deps, user: UserKey): Promise<UserKey & { valid_from: Date }> =>
  inTransaction(deps, async (inside, db) => {
    const key = rowKeyOf(user)
    await lockExistingUser(db, key)
    const now = deps.clock.now() // after waiting for the lock
    const valid_from = (await store.setUserValidFrom(db, key, now)) ?? now
    await recordEvent(inside, key, 'user_sessions_ended')
    return { cid: user.cid, user_id: user.user_id, valid_from }
  })

/** Throws 20007 (404). */
export async function existingUser(db: Db, key: UserRowKey): Promise<User> {
  const found = await store.findUser(db, key)
  if (!found) throw noSuchUser()
  return found
}

/** Locks until the end of the caller's transaction. Throws 20007 (404). */
export async function lockExistingUser(db: Db, key: UserRowKey): Promise<void> {
  if (!(await store.lockUser(db, key))) throw noSuchUser()
}

/** Number of valid browser sessions. Throws 20007 (404). */
export async function countSessionsOfUser({ db, clock }: Deps, user: UserKey): Promise<number> {
  const sessions = await store.countSessions(db, rowKeyOf(user), clock.now())
  if (sessions === undefined) throw noSuchUser()
  return sessions
}

const setStatus = (deps: Deps, user: UserKey, status: User['status']): Promise<User> =>
  inTransaction(deps, async (inside, db) => {
    const key = rowKeyOf(user)
    const changed = await store.setStatus(db, key, status)
    if (!changed) throw noSuchUser()
    await recordEvent(inside, key, status === 'blocked' ? 'user_blocked' : 'user_unblocked')
    return changed
  })

const recordEvent = (deps: Deps, key: UserRowKey, event: `user_${string}`) => recordAudit(deps, { event, ...key })

/** Users with this passport or phone number (with or without +); numbers are masked up to the last four digits. */
export async function findUsers({ db }: Deps, text: string, limit: number) {
  if (text.includes('\0')) return []
  const digits = text.replace(/^\+/, '')
  const byPhone = /^\d{5,20}$/.test(digits) ? await findByPhone(db, [digits, `+${digits}`], limit) : []
  const found = [...(await findByPassport(db, text)), ...byPhone]
  const unique = new Map(found.map((person) => [`${person.cid} ${person.user_id}`, person]))
  return [...unique.values()].map(({ phone_number, ...person }) => ({
    ...person,
    phone_number: phone_number === null ? null : lastDigits(phone_number, 4),
  }))
}
