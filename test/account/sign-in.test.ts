import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { findSession } from '../../src/authorization/account/session.ts'
import { type SignInInput, signIn } from '../../src/authorization/account/sign-in.ts'
import { blockUser, createUser } from '../../src/authorization/account/user.ts'
import { addSeconds } from '../../src/platform/lib/clock.ts'
import { deriveKeys } from '../../src/platform/lib/crypto/keys.ts'
import { hashing, hashPassword, OWASP, verifyPassword } from '../../src/platform/lib/crypto/password.ts'
import { rememberDevice } from '../../src/platform/throttle/device.ts'
import { SignInRefused, signInLimits } from '../../src/platform/throttle/sign-in.ts'
import { MANY_CONNECTIONS, openWorld, type World } from '../harness.ts'
import { until } from '../until.ts'
import { ALICE, BOB } from './people.ts'

let world: World
beforeAll(async () => {
  hashing.cost = OWASP // the real cost, as tests below measure processor time
  world = await openWorld({
    ...MANY_CONNECTIONS,
    SIGN_IN_FAILURES_PER_PASSPORT: '3',
    SIGN_IN_FAILURES_PER_PASSPORT_ANYWHERE: '7',
    SIGN_IN_FAILURES_PER_ADDRESS: '8',
  })
  await createUser(world.deps, ALICE)
  await createUser(world.deps, BOB)
})
afterAll(() => world.close())
beforeEach(() => world.pool.query('delete from failed_attempt'))

const RIGHT = { passport: 'alice', password: 'alice-password', address: '203.0.113.1' }
const WRONG = { ...RIGHT, password: 'wrong-password' }
const ALICE_PASSPORT = { kind: 'passport', name: 'alice' } as const

/** 'in', 'wrong' or 'limited'. */
async function outcome(input: SignInInput): Promise<string> {
  try {
    await signIn(world.deps, input)
    return 'in'
  } catch (error) {
    if (!(error instanceof SignInRefused)) throw error
    return error.retryAt ? 'limited' : 'wrong'
  }
}

const outcomes = async (inputs: SignInInput[]): Promise<string[]> => {
  const all: string[] = []
  for (const input of inputs) all.push(await outcome(input))
  return all
}

describe('signing in', () => {
  it('opens a session and ends the previous one', async () => {
    const first = await signIn(world.deps, RIGHT)
    const second = await signIn(world.deps, { ...RIGHT, formerSession: first })
    expect(second).not.toBe(first)
    expect(await findSession(world.deps, first)).toBeNull()
    expect(await findSession(world.deps, second)).toMatchObject({ cid: 1, userId: '10001' })
  })

  it('works for a blocked user, whom the later flows inform', async () => {
    await blockUser(world.deps, { cid: BOB.cid, user_id: BOB.user_id })
    const id = await signIn(world.deps, { ...RIGHT, passport: 'bob', password: 'bob-password' })
    expect(await findSession(world.deps, id)).toMatchObject({ status: 'blocked' })
  })

  it('does not distinguish an unknown passport from a wrong password, by message or by processor time', async () => {
    const unknown = { ...RIGHT, passport: 'nobody' }
    await expect(signIn(world.deps, unknown)).rejects.toEqual(new SignInRefused())
    await expect(signIn(world.deps, WRONG)).rejects.toEqual(new SignInRefused())
    const passwordHash = await hashPassword('anything at all')
    expect(passwordHash).toContain('$argon2id$v=19$m=19456,t=2,p=1$')
    // Processor time of this process alone, so that other load on the machine does not count.
    const work = async (hash: string | undefined) => {
      const spent: number[] = []
      for (let run = 0; run < 8; run++) {
        const before = process.cpuUsage()
        expect(await verifyPassword(hash, 'a guess')).toBe(false)
        const { user, system } = process.cpuUsage(before)
        spent.push(user + system)
      }
      return Math.min(...spent)
    }
    const ratio = (await work(undefined)) / (await work(passwordHash))
    expect(ratio).toBeGreaterThan(0.3)
    expect(ratio).toBeLessThan(3)
  })

  it('records a failure in the history and the audit log concurrently, so that a known passport takes no longer', async () => {
    const kept = async () => {
      const { rows } = await world.pool.query("select count(*)::int as n from sign_in where outcome = 'failed'")
      return rows[0].n as number
    }
    const before = await kept()
    const holder = await world.pool.connect()
    await holder.query('begin')
    await holder.query('lock table audit_event in exclusive mode')
    const refused = outcome(WRONG)
    const found = await Promise.race([until(async () => (await kept()) > before), sleep(5_000, false)])
    await holder.query('rollback')
    holder.release()
    expect([await refused, found]).toEqual(['wrong', true])
  })

  it('hashes no more concurrent guesses than the limit allows', async () => {
    const spentBy = async (work: () => Promise<unknown>) => {
      const before = process.cpuUsage()
      await work()
      return process.cpuUsage(before).user
    }
    const hash = await hashPassword('anything at all')
    const twenty = await spentBy(async () => {
      for (let run = 0; run < 20; run++) await verifyPassword(hash, 'a guess')
    })
    const passport = 'flooded'
    const flood = () =>
      Promise.all(Array.from({ length: 100 }, () => signIn(world.deps, { ...WRONG, passport }).catch(() => {})))
    const spent = await spentBy(flood)
    expect(spent, `${spent} µs of processor time; 20 hashes take ${twenty} µs`).toBeLessThan(twenty * 2)
  })

  it('is refused, even with the right password, after too many failures of a passport from one network', async () => {
    expect(await outcomes([WRONG, WRONG, WRONG, WRONG, RIGHT])).toEqual([
      'wrong',
      'wrong',
      'wrong',
      'limited',
      'limited',
    ])
    const nearby = { ...RIGHT, address: '203.0.113.250' }
    await expect(signIn(world.deps, nearby)).rejects.toEqual(new SignInRefused(addSeconds(world.clock.now(), 900)))
    world.clock.advance(899)
    expect(await outcome(RIGHT)).toBe('limited')
    world.clock.advance(1)
    expect(await outcomes([WRONG, RIGHT])).toEqual(['wrong', 'in'])
  })

  it('still works for the owner on another network while a stranger guesses', async () => {
    expect((await outcomes(Array(20).fill(WRONG))).at(-1)).toBe('limited')
    expect(await outcome({ ...RIGHT, address: '198.51.100.1' })).toBe('in')
    expect(await outcome(RIGHT)).toBe('limited')
  })

  it('is refused everywhere but in a known browser after too many failures of a passport from many networks', async () => {
    const device = rememberDevice(world.deps, ALICE_PASSPORT, undefined)
    const guesses = Array.from({ length: 9 }, (_, index) => ({ ...WRONG, address: `198.51.${index}.1` }))
    expect(await outcomes(guesses)).toEqual([...Array(7).fill('wrong'), 'limited', 'limited'])
    const owner = { ...RIGHT, address: '192.0.2.1' }
    expect(await outcomes([owner, { ...owner, device }])).toEqual(['limited', 'in'])
    // A known browser's failures are limited too; beyond that it is treated like any other.
    const mistaken = { ...owner, password: 'wrong-password', device }
    expect(await outcomes([mistaken, mistaken, mistaken, mistaken, { ...owner, device }])).toEqual([
      'wrong',
      'wrong',
      'wrong',
      'limited',
      'limited',
    ])
  })

  it('applies the same limits to a passport that does not exist', async () => {
    const guesses = Array.from({ length: 9 }, (_, index) => ({
      ...WRONG,
      passport: 'nobody',
      address: `198.51.${index}.1`,
    }))
    expect(await outcomes(guesses)).toEqual([...Array(7).fill('wrong'), 'limited', 'limited'])
  })

  it('accepts no device cookie of another account, kind or key, and no expired or truncated one', async () => {
    const cookie = rememberDevice(world.deps, ALICE_PASSPORT, undefined)
    const keys = deriveKeys('another secret key of another service altogether')
    const useless = [
      rememberDevice(world.deps, { ...ALICE_PASSPORT, name: 'bob' }, undefined),
      rememberDevice(world.deps, { kind: 'partner', name: 'alice' }, undefined),
      rememberDevice({ ...world.deps, keys }, ALICE_PASSPORT, undefined),
      rememberDevice(
        { ...world.deps, clock: { ...world.clock, now: () => addSeconds(world.clock.now(), -180 * 86_400) } },
        ALICE_PASSPORT,
        undefined,
      ),
      cookie.slice(0, -1),
      cookie.replace(/\.\w/, '.z'),
      '~~~',
      'x'.repeat(4_000),
    ]
    await outcomes(Array(4).fill(WRONG))
    expect(await outcomes(useless.map((device) => ({ ...RIGHT, device })))).toEqual(useless.map(() => 'limited'))
    expect(await outcome({ ...RIGHT, device: `${useless[0]}~${cookie}` })).toBe('in')
  })

  it('requires no longer wait when the clock goes back', async () => {
    await outcomes(Array(4).fill(WRONG))
    world.clock.advance(-3_600)
    const first = await outcome(RIGHT)
    world.clock.advance(16 * 60)
    const afterWindow = await outcome(RIGHT)
    world.clock.advance(3_600 - 16 * 60)
    expect([first, afterWindow]).toEqual(['in', 'in'])
  })

  it('resets the failures of a passport when it succeeds', async () => {
    const inputs = [WRONG, WRONG, RIGHT, WRONG, WRONG, RIGHT]
    expect(await outcomes(inputs)).toEqual(['wrong', 'wrong', 'in', 'wrong', 'wrong', 'in'])
  })

  it('is refused after too many failures from one address for any passports, but not elsewhere', async () => {
    const guesses = Array.from({ length: 8 }, (_, index) => ({ ...WRONG, passport: `guess-${index}` }))
    expect(new Set(await outcomes(guesses))).toEqual(new Set(['wrong']))
    expect(await outcome(RIGHT)).toBe('limited')
    expect(await outcome({ ...RIGHT, address: '203.0.113.2' })).toBe('in')
  })

  it('treats an IPv6 network as one address', async () => {
    const guesses = Array.from({ length: 9 }, (_, index) => ({
      ...WRONG,
      passport: `guess-${index}`,
      address: `2001:db8:1:2::${index}`,
    }))
    expect((await outcomes(guesses)).at(-1)).toBe('limited')
  })

  it('limits an IPv6 /48, which has 65,536 networks, to the failures of sixteen', async () => {
    const failed = async (index: number) => {
      const attempt = {
        kind: 'passport',
        name: `guess-${index}`,
        address: `2001:db8:9:${index.toString(16)}::1`,
      } as const
      return (await (await signInLimits(world.deps, attempt)).failed()).retryAt ? 'limited' : 'wrong'
    }
    const all: unknown[] = []
    for (let index = 0; index <= 16 * 8; index++) all.push(await failed(index))
    expect(all.filter((refused) => refused === 'limited')).toHaveLength(1)
    expect(await outcome({ ...RIGHT, address: '2001:db8:9:ffff::1' })).toBe('limited')
    expect(await outcome({ ...RIGHT, address: '2001:db8:a:1::1' })).toBe('in')
  })

  it('holds the limit under a race: of 30 concurrent wrong guesses exactly 3 are checked', async () => {
    for (let round = 0; round < 5; round++) {
      await world.pool.query('delete from failed_attempt')
      const guesses = Array.from({ length: 30 }, (_, index) => ({ ...WRONG, address: `198.51.100.${index}` }))
      // The right guess comes last, when the wrong ones have used up the limit, so it is refused as well.
      const all = await Promise.all([...guesses, { ...RIGHT, address: '198.51.100.99' }].map(outcome))
      expect(all.filter((one) => one === 'wrong')).toHaveLength(3)
      expect(all.filter((one) => one === 'limited')).toHaveLength(28)
    }
  })

  it('does not limit concurrent successful sign-ins', async () => {
    const all = await Promise.all(Array.from({ length: 20 }, () => outcome(RIGHT)))
    expect(new Set(all)).toEqual(new Set(['in']))
  })

  it('stores neither passport nor address of failures in the clear', async () => {
    await outcome(WRONG)
    const { rows } = await world.pool.query('select subject from failed_attempt')
    expect(rows.map((row) => row.subject.length)).toEqual([32, 32, 32])
  })
})
