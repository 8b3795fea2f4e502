import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { endSession, findSession, startSession } from '../../src/authorization/account/session.ts'
import { OWN_SESSIONS } from '../../src/authorization/account/sessions.ts'
import { blockUser, createUser } from '../../src/authorization/account/user.ts'
import { openWorld, type World } from '../harness.ts'
import { untilLocked } from '../locks.ts'
import { SHARDS } from '../one-table.ts'
import { ALICE } from './people.ts'

let world: World
const alice = { cid: ALICE.cid, userId: ALICE.user_id }
const FROM = { address: '192.0.2.1', userAgent: undefined }
beforeAll(async () => {
  world = await openWorld({ SESSION_LIFETIME_S: '3600' })
  await createUser(world.deps, ALICE)
})
afterAll(() => world.close())

/** Counts countStatements outside transactions: each takes a connection of its own. */
const countStatements = async (work: () => Promise<unknown>): Promise<number> => {
  let count = 0
  const connect = world.pool.connect
  world.pool.connect = ((...input: Parameters<typeof connect>) => {
    count += 1
    return connect.apply(world.pool, input)
  }) as typeof connect
  await work().finally(() => {
    world.pool.connect = connect
  })
  return count
}

describe('a browser session', () => {
  it('ends with all others only once a change of the person is done, which may want the same sessions', async () => {
    const own = await findSession(world.deps, await startSession(world.deps, alice, FROM))
    await startSession(world.deps, alice, FROM)
    if (!own) throw new Error('no session')
    const change = await world.pool.connect()
    try {
      await change.query('begin')
      await change.query('select from user_profile where user_id = $1 for update', [alice.userId])
      const ending = OWN_SESSIONS.endOthers(world.deps, own)
      await Promise.race([ending, untilLocked(world.pool)])
      const { rows } = await world.pool.query('select from browser_session where user_id = $1 for update nowait', [
        alice.userId,
      ])
      expect(rows).toHaveLength(2)
      await change.query('commit')
      expect(await ending).toBe(1)
    } finally {
      change.release()
    }
  })

  it('identifies the signed-in person in one statement', async () => {
    const id = await startSession(world.deps, alice, FROM)
    expect(await findSession(world.deps, id)).toEqual({
      routingKey: expect.any(Number),
      cid: 1,
      userId: '10001',
      name: 'Alice',
      avatarUrl: 'https://pictures.example/alice.png',
      status: 'active',
      signedInAt: world.clock.now(),
      amr: ['pwd'],
      authenticatedAt: world.clock.now(),
      fromUpstream: false,
      acr: null,
      testOf: null,
      sessionHash: expect.any(Buffer),
    })
    if (SHARDS === 1) expect(await countStatements(() => findSession(world.deps, id))).toBe(1)
  })

  it('is stored as a keyed hash only', async () => {
    const id = await startSession(world.deps, alice, FROM)
    const { rows } = await world.pool.query('select * from browser_session')
    expect(JSON.stringify(rows)).not.toContain(id)
    expect(rows.every((row) => row.session_hash.length === 32)).toBe(true)
  })

  it.each([undefined, '', 'nonsense', `ghbs_${'A'.repeat(48)}`])(
    'is not looked up in the database for the cookie %s',
    async (cookie) => {
      expect(await countStatements(async () => expect(await findSession(world.deps, cookie)).toBeNull())).toBe(0)
    },
  )

  it('can be ended without affecting others', async () => {
    const [first, second] = [await startSession(world.deps, alice, FROM), await startSession(world.deps, alice, FROM)]
    await endSession(world.deps, first)
    await endSession(world.deps, 'nonsense')
    expect(await findSession(world.deps, first)).toBeNull()
    expect(await findSession(world.deps, second)).not.toBeNull()
  })

  it('ends after SESSION_LIFETIME_S', async () => {
    const id = await startSession(world.deps, alice, FROM)
    world.clock.advance(3_599)
    expect(await findSession(world.deps, id)).not.toBeNull()
    world.clock.advance(1)
    expect(await countStatements(async () => expect(await findSession(world.deps, id)).toBeNull())).toBe(0)
  })

  it('survives a block of its user, and shows the status', async () => {
    const id = await startSession(world.deps, alice, FROM)
    await blockUser(world.deps, { cid: 1, user_id: '10001' })
    expect(await findSession(world.deps, id)).toMatchObject({ status: 'blocked' })
  })
})
