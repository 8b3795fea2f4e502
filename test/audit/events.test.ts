import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { signIn } from '../../src/authorization/account/sign-in.ts'
import { createUser } from '../../src/authorization/account/user.ts'
import { newUser } from '../../src/authorization/account/wire.ts'
import { openWorld, type World } from '../harness.ts'
import { newSandboxPartner, signIn as signInToSandbox } from '../sandbox/partners.ts'

/** Events that no operator causes, and the limits on their number. */

let world: World
beforeAll(async () => {
  world = await openWorld()
  const person = {
    cid: 1,
    user_id: 'u',
    passport: 'lin',
    password: 'right password',
    name: 'L',
    big_avatar_url: 'https://a.example/',
  }
  await createUser(world.deps, newUser.parse(person))
})
afterAll(() => world.close())
beforeEach(() => world.pool.query('delete from failed_attempt; delete from audit_event; delete from audit_unsealed'))

const events = async () =>
  (await world.pool.query('select event, outcome, target, detail from audit_event order by at, event')).rows

describe('the sign-in of a user', () => {
  const attempt = (passport: string, password: string) =>
    signIn(world.deps, { passport, password, address: '192.0.2.1' }).catch(() => undefined)

  it('records failures up to the lock, and none after it', async () => {
    for (let tried = 0; tried < 8; tried++) await attempt('lin', 'wrong')
    const target = 'user:1/u'
    expect(await events()).toEqual([
      ...Array(4).fill({ event: 'user_sign_in_failed', outcome: 'refused', target, detail: {} }),
      { event: 'user_sign_in_locked', outcome: 'refused', target, detail: {} },
    ])
  })

  it('does not store an unknown passport as typed', async () => {
    await attempt('hunter2', 'x')
    expect(JSON.stringify(await events())).not.toContain('hunter2')
    expect(await events()).toMatchObject([{ event: 'user_sign_in_failed', target: null }])
  })

  it('records a success', async () => {
    await attempt('lin', 'right password')
    expect(await events()).toMatchObject([{ event: 'user_signed_in', outcome: 'done', target: 'user:1/u' }])
  })
})

describe('the sign-in of a partner', () => {
  it('is recorded, whether it succeeds or fails', async () => {
    const partner = await newSandboxPartner(world)
    await world.pool.query('delete from audit_event')
    await signInToSandbox(world, { ...partner, client_secret: 'wrong' })
    world.clock.advance(1)
    await signInToSandbox(world, partner)
    const target = `partner:${partner.partner_id}`
    expect(await events()).toMatchObject([
      { event: 'partner_sign_in_failed', target, detail: { by: 'client-secret' } },
      { event: 'partner_signed_in', target },
    ])
  })
})

it('refused calls of a partner are counted in one row per minute', async () => {
  const { rejected } = world.deps.incoming
  for (let calls = 0; calls < 20; calls++) rejected.count(7n, calls < 5)
  await rejected.finish()
  await rejected.finish()
  expect(await events()).toEqual([
    { event: 'calls_rejected', outcome: 'refused', target: 'partner:7', detail: { verified: 5, unverified: 15 } },
  ])
})
