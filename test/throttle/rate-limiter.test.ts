import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openRateLimiter } from '../../src/platform/throttle/rate-limiter.ts'
import { openWorld, type World } from '../harness.ts'
import { duringOutage } from '../outage.ts'
import { until } from '../until.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())
beforeEach(() => world.pool.query('delete from rate_count'))

const RATE = { kind: 'test', most: 10, windowS: 60 }
const open = (bounds = {}) =>
  openRateLimiter(world.deps.db, world.deps.keys, world.app.sampledLog, { everyMs: 50, ...bounds })
const rows = async () => (await world.pool.query('select subject, uses, window_ends_at from rate_count')).rows
/** Waits until the database has this many uses of the only subject. */
const untilShared = (uses: number) => until(async () => (await rows())[0]?.uses >= uses)
type RateLimiter = ReturnType<typeof open>
const countTimes = (limiter: RateLimiter, times: number, subject = 'a') => {
  for (let time = 1; time < times; time++) limiter.count(RATE, subject)
  return limiter.count(RATE, subject)
}
/** Adds uses until those of the other process are known. */
async function untilExceeded(limiter: RateLimiter, subject = 'a'): Promise<boolean> {
  return until(() => limiter.count(RATE, subject).exceeded)
}

describe('a rate', () => {
  it('that several processes have used up may be greater than an int holds', async () => {
    const bytes = { kind: 'bytes', most: 1_000_000_000, windowS: 60 }
    for (let process = 0; process < 3; process++) {
      const limiter = open()
      limiter.count(bytes, 'a', 1_000_000_000)
      await limiter.close()
    }
    expect((await rows())[0]?.uses).toBe(2_147_483_647)
  })

  it('is counted at once, and starts anew when its window has ended', async () => {
    const limiter = open()
    const short = { ...RATE, windowS: 1 }
    expect(Array.from({ length: 12 }, () => limiter.count(short, 'short').exceeded).indexOf(true)).toBe(10)
    const { endsInMs } = limiter.count(short, 'short')
    expect(endsInMs).toBeLessThanOrEqual(1_000)
    // In the database the window ends later, since it begins with the first write.
    await until(() => !limiter.count(short, 'short').exceeded)
    await limiter.close()
  })

  it('includes the counts of other processes, separately for each kind and subject', async () => {
    const [one, other] = [open(), open()]
    expect(countTimes(one, 10).exceeded).toBe(false)
    await one.close()
    expect(other.count(RATE, 'a').exceeded).toBe(false)
    await untilShared(11)
    // With fewer than ten uses of its own, it must have learnt of the others. Pauses grow to save uses.
    let uses = 1
    while (!other.count(RATE, 'a').exceeded && uses < 9) {
      uses += 1
      await sleep(500 * uses)
    }
    expect(uses).toBeLessThan(9)
    expect(other.count({ ...RATE, kind: 'another' }, 'a').exceeded).toBe(false)
    expect(other.count(RATE, 'b').exceeded).toBe(false)
    await other.close()
  })

  it('writes one row per subject however often it is used, and no count beyond the limit', async () => {
    const limiter = open()
    for (let round = 0; round < 5; round++) {
      countTimes(limiter, 1_000)
      await sleep(60)
    }
    await limiter.close()
    expect((await rows()).map(({ uses }) => uses)).toEqual([11])
  })

  it('stores no address but a keyed hash of 32 bytes', async () => {
    const limiter = open()
    countTimes(limiter, 10, '203.0.113.7')
    await limiter.close()
    const [{ subject }] = await rows()
    expect(subject).toHaveLength(32)
    expect(subject.toString('latin1')).not.toContain('203')
  })

  it('costs no statement for subjects that use a fiftieth of it', async () => {
    const limiter = open()
    for (let n = 0; n < 1_000; n++) limiter.count({ ...RATE, most: 600 }, `address ${n}`)
    await limiter.close()
    expect(await rows()).toEqual([])
  })

  it('is bounded in memory, and evicted subjects are still known to the database', async () => {
    const limiter = open({ subjects: 100 })
    countTimes(limiter, 11, 'attacker')
    await untilShared(11)
    for (let n = 0; n < 1_000; n++) limiter.count(RATE, `other ${n}`)
    expect(limiter.count(RATE, 'attacker').uses).toBe(1)
    expect(await untilExceeded(limiter, 'attacker')).toBe(true)
    await limiter.close()
  })

  it('continues with its own counts while the database is unavailable, and shares them afterwards', async () => {
    const limiter = open()
    await world.pool.query('alter table rate_count rename to away')
    expect(Array.from({ length: 12 }, () => limiter.count(RATE, 'a').exceeded).indexOf(true)).toBe(10)
    await sleep(200)
    expect(limiter.count(RATE, 'a').exceeded).toBe(true)
    await world.pool.query('alter table away rename to rate_count')
    await sleep(300)
    await limiter.close()
    expect((await rows()).map(({ uses }) => uses)).toEqual([11])
  })

  it('is shared whole when the process ends, however many subjects there are', async () => {
    const limiter = open({ everyMs: 60_000, batch: 3 })
    for (let subject = 0; subject < 8; subject++) limiter.count(RATE, `subject ${subject}`)
    await limiter.close()
    expect(await rows()).toHaveLength(8)
  })

  it('is not shared twice if the answer of the database was lost, and a database that is away ends nothing', async () => {
    let sent = 0
    const { many, ...db } = world.deps.db
    const lost = duringOutage(world.deps, true).db
    const answerLost: typeof many = async (row, statement) => {
      if (sent++ > 0) return many(row, statement)
      await many(row, statement)
      return lost.many(row, statement)
    }
    const limiter = openRateLimiter({ ...db, many: answerLost }, world.deps.keys, world.app.sampledLog, { everyMs: 50 })
    countTimes(limiter, 2)
    await until(() => sent > 0)
    limiter.count(RATE, 'a')
    await limiter.close()
    expect((await rows()).map(({ uses }) => uses)).toEqual([3])
    const away = openRateLimiter(duringOutage(world.deps).db, world.deps.keys, world.app.sampledLog, {
      everyMs: 60_000,
    })
    limiter.count(RATE, 'b')
    await away.close()
  })

  it('is kept if its answer has come, and that of the tidying after it was lost', async () => {
    const { exec, ...db } = world.deps.db
    const lost = duringOutage(world.deps, true).db
    let tidied = 0
    const answerLost: typeof exec = async (statement) => (tidied++ > 0 ? exec(statement) : lost.exec(statement))
    const bounds = { everyMs: 20, tidyEveryMs: 0 }
    const limiter = openRateLimiter({ ...db, exec: answerLost }, world.deps.keys, world.app.sampledLog, bounds)
    countTimes(limiter, 2)
    await until(() => tidied > 1)
    expect(limiter.count(RATE, 'a').uses).toBe(3)
    await limiter.close()
    expect((await rows()).map(({ uses }) => uses)).toEqual([3])
  })

  it('lasts no longer than its window if the database’s clock was ahead', async () => {
    const limiter = open()
    countTimes(limiter, 2)
    await untilShared(2)
    await world.pool.query("update rate_count set window_ends_at = now() + interval '75 minutes'")
    countTimes(limiter, 1)
    await sleep(300)
    expect(limiter.count(RATE, 'a').endsInMs).toBeLessThanOrEqual(60_000)
    await limiter.close()
  })

  it('deletes windows that have ended', async () => {
    const limiter = open({ tidyEveryMs: 0 })
    await world.pool.query(
      'insert into rate_count select sha256(n::text::bytea), 1, now() from generate_series(1, 500) n',
    )
    countTimes(limiter, 2)
    await until(async () => (await rows()).length === 1)
    await limiter.close()
    expect((await rows()).map(({ uses }) => uses)).toEqual([2])
  })
})
