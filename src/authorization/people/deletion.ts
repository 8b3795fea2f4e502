import { z } from 'zod'
import { recordByPerson } from '../../platform/audit/index.ts'
import { momentKey, pageInput, pageNamed } from '../../platform/db/page.ts'
import { keysOfShard } from '../../platform/db/shards.ts'
import { type Deps, inPersonTransaction } from '../../platform/deps.ts'
import { addSeconds, DAY_S } from '../../platform/lib/clock.ts'
import { keepsConnection } from '../../platform/lib/database-errors.ts'
import { operation } from '../../platform/lib/json/input.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { invalidRequest } from '../../platform/lib/web/rescode.ts'
import { ACCOUNT_MESSAGES, lockUser, rowKeyOf, type SignedIn, showUser } from '../account/index.ts'
import * as store from './deletion-store.ts'
import { eraseUser } from './erase.ts'

const DAYS_TO_THINK = 14
const AT_ONCE = 100
const ERASED_WITHIN_S = 60

/**
 * How an account is deleted that this person asks to be: of somebody who is blocked an operator decides in any case. A block
 * goes with the account, and whom the OpenID provider sends again gets a new one.
 */
export const deletionMode = ({ config }: Deps, { status }: Pick<SignedIn, 'status'>) =>
  config.ACCOUNT_DELETION === 'after-14-days' && status === 'blocked' ? 'request' : config.ACCOUNT_DELETION

/** The person asks for the deletion of the account: an operator confirms it by erasing them, or it happens after 14 days. */
export const requestDeletion = (deps: Deps, person: SignedIn): Promise<void> =>
  inPersonTransaction(deps, person.routingKey, async (inside, db) => {
    const mode = deletionMode(deps, person)
    if (mode === 'off') throw invalidRequest(localized('no-deletion'), { status: 404 })
    const now = deps.clock.now()
    const dueAt = mode === 'after-14-days' ? addSeconds(now, DAYS_TO_THINK * DAY_S) : null
    if (!(await lockUser(db, person)) || (await store.insertRequest(db, person, now, dueAt)) === 0) return
    await recordByPerson(inside, person, 'user_deletion_requested')
    await ACCOUNT_MESSAGES.tell(inside, person, 'deletion_requested')
  })

/** The person keeps the account. */
export const cancelDeletion = (deps: Deps, person: SignedIn): Promise<void> =>
  inPersonTransaction(deps, person.routingKey, async (inside, db) => {
    await lockUser(db, person) // whoever is being erased by now is erased
    if ((await store.deleteRequest(db, person)) === 0) return
    await recordByPerson(inside, person, 'user_deletion_cancelled')
  })

export const deletionOf = ({ db }: Deps, person: SignedIn): Promise<store.DeletionRequest | undefined> =>
  store.requestOf(db, person)

const deletionFilter = z.strictObject(pageInput(z.tuple([momentKey, z.int32(), z.string()])))

/** A page of those who asked for the deletion of their account, oldest first. */
export const listDeletionRequests = operation(deletionFilter, ({ db }: Deps, page) =>
  pageNamed('requests', store.listRequests(db, page)),
)

/**
 * Erases those whose time is over, as operators do: in each shard one after the other, each in a transaction of its own, so
 * that a shard that is away holds up no other. Who could not be erased is tried again by the next run. Nobody, where the setting
 * leaves it to operators by now.
 */
export async function eraseDue(deps: Deps, signal: AbortSignal) {
  if (deps.config.ACCOUNT_DELETION !== 'after-14-days') return { erased: 0, failures: [] }
  const { length } = deps.db.shards()
  const each = Array.from({ length }, (_, place) => eraseDueOf(deps, keysOfShard(place, length), signal))
  const all = await Promise.all(each)
  return { erased: all.reduce((sum, { erased }) => sum + erased, 0), failures: all.flatMap(({ failures }) => failures) }
}

/** The person may have changed their mind a moment ago, and then once more. */
const isDue = (request: store.DeletionRequest | undefined, now: Date): boolean =>
  request !== undefined && request.due_at !== null && request.due_at <= now

async function eraseDueOf(deps: Deps, keys: ReturnType<typeof keysOfShard>, signal: AbortSignal) {
  const failures: unknown[] = []
  let erased = 0
  const due = await store.dueRequests(deps.db, keys, deps.clock.now(), AT_ONCE).catch((error: unknown) => {
    failures.push(error)
    return []
  })
  for (const { cid, user_id } of due) {
    if (signal.aborted) break
    const key = rowKeyOf({ cid, user_id })
    try {
      await deps.db.of(key.routingKey).slowTx(ERASED_WITHIN_S, async (db) => {
        if (!(await lockUser(db, key)) || !isDue(await store.requestOf(db, key), deps.clock.now())) return
        const { status } = await showUser({ ...deps, db }, { cid, user_id })
        if (status === 'blocked') return void (await store.leaveToOperators(db, key))
        await eraseUser({ ...deps, db, actor: { kind: 'job', name: 'erase-due' } }, { cid, user_id })
        erased++
      })
    } catch (error) {
      failures.push(error)
      if (!keepsConnection(error)) break // it is away: the others would fail as well
    }
  }
  return { erased, failures }
}
