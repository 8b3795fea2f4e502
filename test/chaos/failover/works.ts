import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { enqueue } from '../../../src/platform/db/jobs-store.ts'
import type { Db } from '../../../src/platform/db/sql.ts'
import { Overloaded } from '../../../src/platform/lib/concurrency-limit.ts'
import { DatabaseUnavailable } from '../../../src/platform/lib/database-errors.ts'
import { exchangeAsks, rotateAsks } from '../../bench/asks.ts'
import type { FilledWorld } from '../../bench/fixtures/world.ts'
import type { Ask } from '../../bench/load/ask.ts'
import { type Call, call, type Outcome } from '../calls.ts'
import { noticeCalls, userInfoCalls } from '../works.ts'

/** A kind of work: how to send it, and how to check afterwards whether acknowledged data was lost. */
export interface Work {
  readonly name: string
  /** `acknowledged` identifies the data that must be found again. */
  send(): Promise<Sent>
  /** Those of the names whose data is lost. */
  lost(names: readonly string[]): Promise<readonly string[]>
}

interface Sent {
  readonly outcome: Outcome
  readonly acknowledged?: string | undefined
}

const PATIENCE_MS = 30_000
const USER_INFO = '/oauth/v2/api/resource/get_userinfo?access_token='
const CHECKED_AT_ONCE = 50
/** Look-ups are retried for this long, as a refused one says nothing about a loss. */
const LOOK_UP_MS = 60_000
/** A user of the demo. */
const PERSON = { cid: 1, userId: '10001' }

/** Gives the person who receives the mails of the jobs an address. */
export const preparePerson = ({ pool }: FilledWorld): Promise<unknown> =>
  pool.query(`update user_credential set passport = 'failover@example.com' where cid = $1 and user_id = $2`, [
    PERSON.cid,
    PERSON.userId,
  ])

export async function failoverWorks(
  port: number,
  world: FilledWorld,
  db: Db,
  mailFolder: string,
  most: number,
): Promise<Work[]> {
  return [
    reads(port, world),
    tokens('exchange', port, await exchangeAsks(world, 'gatehouse', most)),
    tokens('refresh', port, await rotateAsks(world, 'gatehouse', most)),
    await notices(port, world, most),
    jobs(db, mailFolder),
  ]
}

const rescodeOf = ({ status, text = '' }: Outcome): unknown => (status === 200 ? JSON.parse(text).rescode : undefined)

function reads(port: number, world: FilledWorld): Work {
  const next = userInfoCalls(world)
  return {
    name: 'A5',
    send: async () => {
      const outcome = await call(port, next(), PATIENCE_MS)
      return { outcome, acknowledged: rescodeOf(outcome) === 0 ? '' : undefined }
    },
    lost: async () => [],
  }
}

/** Acknowledged tokens must still work at A5. */
function tokens(name: string, port: number, asks: readonly Ask[]): Work {
  let sent = 0
  const send = async (): Promise<Sent> => {
    const { target } = asks[sent++ % asks.length] as Ask
    const outcome = await call(port, { method: 'POST', target, headers: { 'Content-Length': '0' } }, PATIENCE_MS)
    return {
      outcome,
      acknowledged: rescodeOf(outcome) === 0 ? JSON.parse(outcome.text ?? '').data.access_token : undefined,
    }
  }
  const isLost = async (token: string): Promise<boolean> => {
    const read: Call = { method: 'POST', target: USER_INFO + token, headers: { 'Content-Length': '0' } }
    for (const end = performance.now() + LOOK_UP_MS; performance.now() < end; ) {
      const outcome = await call(port, read, PATIENCE_MS)
      if (outcome.status === 200) return rescodeOf(outcome) !== 0
    }
    throw new Error(`whether a token of ${name} is there was not answered within ${LOOK_UP_MS / 1000} s`)
  }
  const lost = async (names: readonly string[]): Promise<string[]> => {
    const found: string[] = []
    for (let from = 0; from < names.length; from += CHECKED_AT_ONCE) {
      const some = names.slice(from, from + CHECKED_AT_ONCE)
      const isGone = await Promise.all(some.map(isLost))
      found.push(...some.filter((_, index) => isGone[index]))
    }
    return found
  }
  return { name, send, lost }
}

async function notices(port: number, world: FilledWorld, most: number): Promise<Work> {
  const next = await noticeCalls(world, most)
  return {
    name: 'notices',
    send: async () => {
      const notice = next()
      const outcome = await call(port, notice, PATIENCE_MS)
      const done = outcome.status === 200 && JSON.parse(outcome.text ?? '').code === 200
      return { outcome, acknowledged: done ? JSON.parse(notice.body ?? '').body.orderId : undefined }
    },
    lost: async (orderIds) => {
      const { rows } = await world.pool.query(
        `select order_id::text from voucher where order_id = any ($1) and state = 'unused'`,
        [orderIds],
      )
      return rows.map(({ order_id }) => order_id)
    },
  }
}

const LOOK_EVERY_MS = 250
const JOBS_PATIENCE_MS = 120_000

/** Whether the service would answer this error with 503. */
const isAnswered503 = (error: unknown): boolean => error instanceof DatabaseUnavailable || error instanceof Overloaded

/** Jobs queued like the service does, for its worker: each writes a mail. */
function jobs(db: Db, mailFolder: string): Work {
  const isMissing = (mailId: string) => !existsSync(join(mailFolder, `${mailId}.eml`))
  return {
    name: 'jobs',
    send: async () => {
      const began = performance.now()
      const mailId = randomUUID()
      const outcomeOf = (status: number): Outcome => ({ status, ms: performance.now() - began, retryAfter: '1' })
      const mail = { mailId, ...PERSON, kind: 'password_changed', at: new Date() }
      return enqueue(db, 'send-person-mail', mail).then(
        () => ({ outcome: outcomeOf(200), acknowledged: mailId }),
        (error) => ({ outcome: outcomeOf(isAnswered503(error) ? 503 : 500) }),
      )
    },
    lost: async (mailIds) => {
      let missing = mailIds.filter(isMissing)
      for (const end = performance.now() + JOBS_PATIENCE_MS; missing.length > 0 && performance.now() < end; ) {
        await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
        missing = missing.filter(isMissing)
      }
      return missing
    },
  }
}
