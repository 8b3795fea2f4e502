import { randomBytes } from 'node:crypto'
import { recordAudit } from '../../platform/audit/index.ts'
import type { Deps } from '../../platform/deps.ts'
import { ConcurrencyLimit } from '../../platform/lib/concurrency-limit.ts'
import { hashPassword } from '../../platform/lib/crypto/password.ts'
import * as bulk from './bulk-store.ts'
import { deletePasskeys } from './factor-store.ts'
import { deleteFactor } from './factors.ts'
import { deleteOtherSessions, endLinks, insertCredential, insertProfile, lockUser, storedPassport } from './store.ts'
import { rowKeyOf } from './wire.ts'

/** Test users of one app, created by its developers; no other app accepts them. */

/** Reserved for them: no system of the platform uses it. */
const TEST_CID = 0

/** Cases that apps must handle: long names, other scripts, no phone number. */
const PEOPLE = [
  { name: 'Test Alice', gender: '2', avatar: 'avatar-alice.svg', phone: true },
  { name: 'Test Bob', gender: '1', avatar: 'avatar-bob.svg', phone: true },
  { name: '测试用户王小明', gender: '1', avatar: 'avatar-bob.svg', phone: true },
  { name: 'Test Maximiliane Alexandra von Hohenstein-Ostermann', gender: '0', avatar: 'avatar-alice.svg', phone: true },
  { name: 'Test Without Phone', gender: '0', avatar: 'avatar-mallory.svg', phone: false },
] as const

/** Called before the transaction: hashing queues for a slot, and would hold a database connection meanwhile. */
async function newPassword({ passwordSlots }: Deps) {
  const password = randomBytes(12).toString('base64url')
  return { password, passwordHash: await passwordSlots.run(() => hashPassword(password)) }
}

/** Creates the test users of an app, all with this password. In the caller's transaction. */
async function make(deps: Deps, appKey: string, passwordHash: string): Promise<void> {
  const { db, clock, config } = deps
  const now = clock.now()
  const name = randomBytes(4).toString('hex')
  for (const [index, person] of PEOPLE.entries()) {
    const userId = `test-${name}-${index + 1}`
    const key = rowKeyOf({ cid: TEST_CID, user_id: userId })
    const profile = {
      name: person.name,
      gender: person.gender,
      big_avatar_url: `${config.PUBLIC_URL}/assets/${person.avatar}`,
      phone_number: person.phone ? `+999${String(randomBytes(4).readUInt32BE() % 10 ** 8).padStart(8, '0')}` : null,
      status: 'active' as const,
      created_at: now,
    }
    const made = await insertProfile(db, key, profile)
    if (made === 0 || (await insertCredential(db, key, storedPassport(userId), passwordHash)) === 0)
      throw new Error(`${userId} exists`) // of another app, which would lose it
    await bulk.setTestOf(db, key, appKey)
  }
  await recordAudit(deps, { event: 'app_test_users_made', appKey, detail: { test_users: PEOPLE.length } })
}

/** In the caller's transaction. They are locked first: a concurrent sign-in with the old password ends or is refused. */
async function renewPassword(deps: Deps, appKey: string, passwordHash: string): Promise<void> {
  const { db, clock } = deps
  const people = (await bulk.listTestUsers(db, appKey)).map(rowKeyOf)
  for (const key of people) await lockUser(db, key)
  await bulk.setTestPassword(db, appKey, passwordHash)
  for (const key of people) {
    await deleteFactor(db, key)
    await deletePasskeys(db, key)
    await endLinks(db, key, clock.now())
    await deleteOtherSessions(db, key, null)
  }
  await recordAudit(deps, { event: 'app_test_password_renewed', appKey })
}

/** One at a time, so that passwordSlots and the database stay free for people who sign in. */
const slots = (): ConcurrencyLimit => new ConcurrencyLimit({ name: 'test users', most: 1, length: 20, waitMs: 3_000 })

export const TEST_USERS = { slots, newPassword, make, list: bulk.listTestUsers, renewPassword }
