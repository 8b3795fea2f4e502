import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { signIn } from '../../src/authorization/account/sign-in.ts'
import { blockUser, createUser, listUsers, unblockUser } from '../../src/authorization/account/user.ts'
import { newUser, routingKeyOf, userFilter, userKey } from '../../src/authorization/account/wire.ts'
import { hashing, OWASP } from '../../src/platform/lib/crypto/password.ts'
import { InvalidInput, parseInput } from '../../src/platform/lib/json/input.ts'
import { MANY_CONNECTIONS, openWorld, type World } from '../harness.ts'
import { ALICE, BOB } from './people.ts'

let world: World
beforeAll(async () => {
  hashing.cost = OWASP
  world = await openWorld(MANY_CONNECTIONS)
})
afterAll(() => world.close())

const problemsOf = (input: object) => {
  try {
    parseInput(newUser, input)
    return []
  } catch (error) {
    return error instanceof InvalidInput ? error.problems.map(({ field }) => field) : error
  }
}

const allUsers = async () => (await listUsers(world.deps, userFilter.parse({}))).users

describe('a user', () => {
  it('is created, listed, blocked and unblocked, and can sign in', async () => {
    const { password: _, ...shown } = { ...ALICE, created_at: world.clock.now() }
    expect(await createUser(world.deps, ALICE)).toEqual(shown)
    expect(await allUsers()).toEqual([shown])
    const key = { cid: ALICE.cid, user_id: ALICE.user_id }
    expect(await blockUser(world.deps, key)).toEqual({ ...shown, status: 'blocked' })
    expect(await unblockUser(world.deps, key)).toEqual(shown)
    await signIn(world.deps, { passport: 'alice', password: ALICE.password, address: '203.0.113.1' })
  })

  it('is stored under its routing key, with the password hashed by argon2id', async () => {
    const { rows } = await world.pool.query('select * from user_profile join user_credential using (routing_key)')
    expect(rows[0].routing_key).toBe(routingKeyOf(1, '10001'))
    expect(rows[0].password_hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
    expect(JSON.stringify(rows)).not.toContain(ALICE.password)
  })

  it('is not created twice, under the same passport or under the same (cid, user_id)', async () => {
    const taken = async (changes: object) => {
      const error = await createUser(world.deps, { ...BOB, ...changes }).catch((thrown: unknown) => thrown)
      return error instanceof InvalidInput ? error.problems.map(({ field }) => field) : error
    }
    expect(await taken({ passport: 'alice' })).toEqual(['passport'])
    expect(await taken({ user_id: ALICE.user_id })).toEqual(['user_id'])
    expect(await taken({ passport: 'alice', user_id: ALICE.user_id })).toEqual(['passport', 'user_id'])
    expect(await allUsers()).toHaveLength(1)
  })

  it('is created once by ten concurrent requests', async () => {
    const carol = { ...BOB, user_id: '10003', passport: 'carol' }
    const same = await Promise.allSettled(Array.from({ length: 10 }, () => createUser(world.deps, carol)))
    expect(same.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    const ids = Array.from({ length: 10 }, (_, index) => ({ ...BOB, user_id: `d${index}`, passport: 'dave' }))
    const others = await Promise.allSettled(ids.map((input) => createUser(world.deps, input)))
    expect(others.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(await allUsers()).toHaveLength(3)
  })

  it('is identified by cid and user_id together', async () => {
    await createUser(world.deps, { ...BOB, cid: 2, user_id: ALICE.user_id, passport: 'alice-of-2' })
    await blockUser(world.deps, { cid: 2, user_id: ALICE.user_id })
    const users = await allUsers()
    const status = (cid: number) => users.find((user) => user.cid === cid && user.user_id === '10001')?.status
    expect([status(1), status(2)]).toEqual(['active', 'blocked'])
    await expect(blockUser(world.deps, { cid: 3, user_id: ALICE.user_id })).rejects.toThrow('no such user')
  })
})

describe('the input for a user', () => {
  it('gets defaults for optional fields', () => {
    const { gender: _g, phone_number: _p, status: _s, ...least } = ALICE
    expect(parseInput(newUser, least)).toEqual({ ...ALICE, gender: '0', phone_number: null })
  })

  it.each([
    [{ phone_number: '+8613800000001' }, []],
    [{ phone_number: '1234' }, ['phone_number']],
    [{ phone_number: '1'.repeat(21) }, ['phone_number']],
    [{ phone_number: '138-0000' }, ['phone_number']],
    [{ gender: '3' }, ['gender']],
    [{ gender: 2 }, ['gender']],
    [{ password: '1234567' }, ['password']],
    [{ cid: '1' }, ['cid']],
    [{ cid: 2 ** 31 }, ['cid']],
    [{ user_id: '' }, ['user_id']],
    [{ user_id: 10001 }, ['user_id']],
    [{ passport: 'a\u0000b', name: 'evil\u202egnp' }, ['passport', 'name']],
    [{ big_avatar_url: 'javascript:alert(1)' }, ['big_avatar_url']],
    [{ status: 'deleted', colour: 'red' }, ['status', 'colour']],
  ])('%j has problems with %j', (changes, fields) => {
    expect((problemsOf({ ...ALICE, ...changes }) as string[]).sort()).toEqual([...fields].sort())
  })

  it('must name a user by both cid and user_id', () => {
    expect(() => parseInput(userKey, { user_id: '10001' })).toThrow('cid is required')
    expect(() => parseInput(userKey, { cid: 1 })).toThrow('user_id is required')
  })
})
