import { recordByPerson } from '../../platform/audit/index.ts'
import { pageNamed } from '../../platform/db/page.ts'
import { keysOfShard } from '../../platform/db/shards.ts'
import { type Deps, inPersonTransaction } from '../../platform/deps.ts'
import { addSeconds, DAY_S } from '../../platform/lib/clock.ts'
import { keepsConnection } from '../../platform/lib/database-errors.ts'
import { operation } from '../../platform/lib/json/input.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { invalidRequest } from '../../platform/lib/web/rescode.ts'
import {
  ACCOUNT_MESSAGES,
  lockUser,
  OWN_SESSIONS,
  rowKeyOf,
  type SignedIn,
  showUser,
  type UserKey,
} from '../account/index.ts'
import { eraseUser } from './person-data.ts'
import * as store from './store.ts'

const GRACE_DAYS = 14
/** How long a run lasts, of an hour until the next. */
const BUDGET_S = 1_800
const PAGE = 100
const FAILURES_SHOWN = 20
const STATEMENT_S = 60

/** For blocked people an operator decides: the OpenID provider could send a deleted person again, as a new user. */
export const deletionMode = ({ config }: Deps, { status }: Pick<SignedIn, 'status'>) =>
  config.ACCOUNT_DELETION === 'after-14-days' && status === 'blocked' ? 'request' : config.ACCOUNT_DELETION

/** Requests deletion of the account: an operator confirms by erasing it, or it happens after GRACE_DAYS. */
export const requestDeletion = (deps: Deps, person: SignedIn): Promise<void> =>
  inPersonTransaction(deps, person.routingKey, async (inside, db) => {
    const mode = deletionMode(deps, person)
    if (mode === 'off') throw invalidRequest(localized('no-deletion'), { status: 404 })
    const now = deps.clock.now()
    const dueAt = mode === 'after-14-days' ? addSeconds(now, GRACE_DAYS * DAY_S) : null
    if (!(await OWN_SESSIONS.lock(inside, person)) || (await store.insertRequest(db, person, now, dueAt)) === 0) return
    await recordByPerson(inside, person, 'user_deletion_requested')
    await ACCOUNT_MESSAGES.tell(inside, person, 'deletion_requested')
  })

export const cancelDeletion = (deps: Deps, person: SignedIn): Promise<void> =>
  inPersonTransaction(deps, person.routingKey, async (inside, db) => {
    // Waits for an erasure in progress.
    if (!(await OWN_SESSIONS.lock(inside, person)) || (await store.deleteRequest(db, person)) === 0) return
    await recordByPerson(inside, person, 'user_deletion_cancelled')
  })

/** What this person asked for; undefined if they have not, or have cancelled it. */
export const deletionOf = ({ db }: Deps, user: UserKey) => store.requestOf(db, rowKeyOf(user))

export const listDeletionRequests = operation(store.deletionFilter, ({ db }: Deps, page) =>
  pageNamed('requests', store.listRequests(db, page)),
)

interface Erasures {
  erased: number
  failed: number
  /** Some of the errors. */
  readonly failures: unknown[]
}

/**
 * Erases people whose grace period is over, unless the setting now leaves it to operators. One transaction per person,
 * shards in parallel, so that an unavailable shard does not hold up the others. Ends when each has been tried once, or
 * after BUDGET_S; failures are retried by the next run, after all others that are due now.
 */
export async function eraseDue(deps: Deps, signal: AbortSignal): Promise<Erasures> {
  const done: Erasures = { erased: 0, failed: 0, failures: [] }
  if (deps.config.ACCOUNT_DELETION !== 'after-14-days') return done
  const { length } = deps.db.shards()
  await Promise.all(Array.from({ length }, (_, place) => eraseDueIn(deps, keysOfShard(place, length), signal, done)))
  return done
}

/** Checked again under the lock: the request may have been cancelled, or cancelled and renewed. */
const isDue = (request: store.DeletionRequest | undefined, now: Date): boolean =>
  request !== undefined && request.due_at !== null && request.due_at <= now

async function eraseDueIn(deps: Deps, keys: store.DueRequests['keys'], signal: AbortSignal, done: Erasures) {
  try {
    for await (const key of duePeople(deps, keys, signal)) {
      try {
        if (await eraseIfDue(deps, key)) done.erased++
      } catch (error) {
        await postpone(deps, key)
        done.failed++
        if (done.failures.length < FAILURES_SHOWN) done.failures.push(error)
      }
    }
  } catch (error) {
    done.failed++
    done.failures.push(error)
  }
}

/** Behind all that are due now: some that keep failing would use up every run. Throws if the shard is unavailable. */
async function postpone({ db, clock }: Deps, key: UserKey): Promise<void> {
  const now = clock.now()
  await store.postponeRequest(db, rowKeyOf(key), now, addSeconds(now, 1)).catch((error: unknown) => {
    if (!keepsConnection(error)) throw error
  })
}

async function* duePeople({ db, clock }: Deps, keys: store.DueRequests['keys'], signal: AbortSignal) {
  const end = performance.now() + BUDGET_S * 1_000
  const now = clock.now()
  let after: store.DeletionRequest | undefined
  do {
    const page = await store.dueRequests(db, { keys, now, limit: PAGE, after })
    after = page.length === PAGE ? page.at(-1) : undefined
    for (const { cid, user_id } of page) {
      if (signal.aborted || performance.now() > end) return
      yield { cid, user_id }
    }
  } while (after)
}

/** False if the person is gone, has cancelled, or is blocked. */
const eraseIfDue = (deps: Deps, { cid, user_id }: UserKey): Promise<boolean> => {
  const key = rowKeyOf({ cid, user_id })
  return deps.db.of(key.routingKey).slowTx(STATEMENT_S, async (db) => {
    if (!(await lockUser(db, key)) || !isDue(await store.requestOf(db, key), deps.clock.now())) return false
    const { status } = await showUser({ ...deps, db }, { cid, user_id })
    if (status === 'blocked') await store.leaveToOperators(db, key)
    else await eraseUser({ ...deps, db, actor: { kind: 'job', name: 'erase-due' } }, { cid, user_id })
    return status !== 'blocked'
  })
}
