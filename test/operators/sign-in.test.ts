import { TOTP } from 'otpauth'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  confirmTotp,
  createOperator,
  disableOperator,
  endConsoleSession,
  enrolTotp,
  findConsoleSession,
  renewRecoveryCodes,
  resetTotp,
  setOperatorPassword,
  showOperator,
  signInOperator,
} from '../../src/operations/operators/index.ts'
import { rememberDevice, SignInRefused } from '../../src/platform/throttle/index.ts'
import { MANY_CONNECTIONS, openWorld, type World } from '../harness.ts'

/** Operators sign in with a password and an authenticator. */

let world: World
beforeAll(async () => {
  world = await openWorld(MANY_CONNECTIONS)
})
afterAll(() => world.close())

const PASSWORD = 'a long enough password'
const address = '192.0.2.1'
const codeOf = (secret: string) => new TOTP({ secret, period: 30 }).generate({ timestamp: world.clock.now().getTime() })
const signIn = (name: string, code = '', changes: object = {}) =>
  signInOperator(world.deps, { name, password: PASSWORD, code, address, ...changes })
const found = async (cookie: string) => findConsoleSession(world.deps, cookie)
const sessionOf = async (cookie: string) => {
  const session = await found(cookie)
  if (!session) throw new Error('no session')
  return session
}
let serial = 0
let name: string
beforeEach(async () => {
  name = `person${++serial}`
  await createOperator(world.deps, { name, role: 'support', days: 1 })
  await setOperatorPassword(world.deps, { name, password: PASSWORD })
  await world.pool.query('delete from failed_attempt')
})
/** Adds an authenticator and returns its secret and the session. */
async function enrolled() {
  const { session } = await signIn(name)
  const pending = await sessionOf(session)
  const { secret } = await enrolTotp(world.deps, pending)
  const full = await confirmTotp(world.deps, pending, { code: codeOf(secret), address })
  world.clock.advance(60)
  return { secret, ...full, first: session }
}

describe('the first sign-in', () => {
  it('only allows adding an authenticator, which starts a new session', async () => {
    const { session, pending } = await signIn(name)
    expect(pending).toBe(true)
    expect(await found(session)).toMatchObject({ name, role: 'support', pending: true })
    const { session: full, first } = await enrolled()
    expect(await found(full)).toMatchObject({ name, pending: false })
    expect(await found(first)).toBeNull()
  })

  it('stores the secret encrypted', async () => {
    const { secret } = await enrolled()
    const { rows } = await world.pool.query('select o::text from operator o')
    expect(JSON.stringify(rows)).not.toContain(secret)
  })

  it('confirms an authenticator together with its recovery codes, or not at all', async () => {
    const { session } = await signIn(name)
    const pending = await sessionOf(session)
    const { secret } = await enrolTotp(world.deps, pending)
    const confirm = () => confirmTotp(world.deps, pending, { code: codeOf(secret), address })
    await world.pool.query(
      'alter table operator_recovery_code add constraint none check (used_at is not null) not valid',
    )
    await expect(confirm()).rejects.toThrow('none')
    await world.pool.query('alter table operator_recovery_code drop constraint none')
    expect(await showOperator(world.deps, { name })).toMatchObject({ has_totp: false })
    expect((await confirm()).codes).toHaveLength(10)
  })

  it('cannot replace a confirmed authenticator', async () => {
    const { session } = await enrolled()
    await expect(enrolTotp(world.deps, await sessionOf(session))).rejects.toThrow(SignInRefused)
  })
})

describe('a recovery code', () => {
  it('works once, even for concurrent sign-ins, in any spelling, and its use is audited', async () => {
    const { codes } = await enrolled()
    expect(new Set(codes).size).toBe(10)
    const [first = '', second = ''] = codes
    const answers = await Promise.allSettled([signIn(name, first), signIn(name, first), signIn(name, first)])
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    await expect(signIn(name, first)).rejects.toThrow(SignInRefused)
    expect(await signIn(name, ` ${second.replaceAll('-', '').toUpperCase()}`)).toMatchObject({ pending: false })
    expect(await showOperator(world.deps, { name })).toMatchObject({ recovery_codes: 8 })
    const { rows } = await world.pool.query(
      "select detail from audit_event where target = $1 and event = 'operator_signed_in' order by at desc limit 1",
      [`operator:${name}`],
    )
    expect(rows).toEqual([{ detail: { pending: false, by: 'recovery code' } }])
    const kept = await world.pool.query('select c::text from operator_recovery_code c')
    expect(JSON.stringify(kept.rows)).not.toContain(first)
  })

  it('is spent only with the session that it opens', async () => {
    const { codes, secret } = await enrolled()
    await world.pool.query('alter table operator_session add constraint none check (false) not valid')
    await expect(signIn(name, codes[0])).rejects.toThrow('none')
    await expect(signIn(name, codeOf(secret))).rejects.toThrow('none')
    await world.pool.query('alter table operator_session drop constraint none')
    expect(await showOperator(world.deps, { name })).toMatchObject({ recovery_codes: 10 })
    expect(await signIn(name, codes[0])).toMatchObject({ pending: false })
    expect(await signIn(name, codeOf(secret))).toMatchObject({ pending: false })
  })

  it('is invalid for other operators, after new codes were made, and after the authenticator was reset', async () => {
    const theirs = await enrolled()
    const owner = name
    name = `person${++serial}`
    await createOperator(world.deps, { name, role: 'support', days: 1 })
    await setOperatorPassword(world.deps, { name, password: PASSWORD })
    const { codes, session, secret } = await enrolled()
    await expect(signIn(name, theirs.codes[0])).rejects.toThrow(SignInRefused)
    const typed = { code: codeOf(secret), address }
    const renewed = await renewRecoveryCodes(world.deps, await sessionOf(session), typed)
    await expect(renewRecoveryCodes(world.deps, await sessionOf(session), typed)).rejects.toThrow(SignInRefused)
    await expect(signIn(name, codes[0])).rejects.toThrow(SignInRefused)
    expect(await signIn(name, renewed[0])).toMatchObject({ pending: false })
    await resetTotp(world.deps, { name: owner })
    expect(await showOperator(world.deps, { name: owner })).toMatchObject({ recovery_codes: 0 })
    expect(await signIn(owner, theirs.codes[0])).toMatchObject({ pending: true })
  })
})

describe('a code', () => {
  it('is required and works once, even for concurrent sign-ins', async () => {
    const { secret } = await enrolled()
    await expect(signIn(name)).rejects.toThrow(SignInRefused)
    const code = codeOf(secret)
    const answers = await Promise.allSettled([signIn(name, code), signIn(name, code), signIn(name, code)])
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    await expect(signIn(name, code)).rejects.toThrow(SignInRefused)
    world.clock.advance(30)
    expect(await signIn(name, codeOf(secret))).toMatchObject({ pending: false })
  })

  it('is rejected if it is older than the last one that was used', async () => {
    const { secret } = await enrolled()
    const earlier = codeOf(secret)
    world.clock.advance(30)
    await signIn(name, codeOf(secret))
    await expect(signIn(name, earlier)).rejects.toThrow(SignInRefused)
  })

  it('cannot be guessed: after five failures even the right one has to wait', async () => {
    const { secret } = await enrolled()
    const retry: boolean[] = []
    for (let tried = 0; tried < 7; tried++) {
      await signIn(name, '000000').catch((error: SignInRefused) => retry.push(error.retryAt !== undefined))
    }
    expect(retry).toEqual([false, false, false, false, false, true, true])
    await expect(signIn(name, codeOf(secret))).rejects.toMatchObject({ retryAt: expect.any(Date) })
    const { rows } = await world.pool.query(
      "select event from audit_event where target = $1 and event like 'operator_sign_in%' order by event",
      [`operator:${name}`],
    )
    const count = (event: string) => rows.filter((row) => row.event === event).length
    expect([count('operator_sign_in_failed'), count('operator_sign_in_locked')]).toEqual([4, 1])
  })

  describe('guessed by an attacker who knows the password and has many networks and a whole day', () => {
    /** This many wrong codes, four from each network, as fast as the quarter-hourly limits allow. */
    const guess = async (times: number, changes: object = {}) => {
      for (let tried = 0; tried < times; tried++) {
        if (tried % 40 === 0) world.clock.advance(1_000)
        const from = { address: `198.51.${Math.floor(tried / 4) + 1}.1`, ...changes }
        await expect(signIn(name, '000000', from)).rejects.toMatchObject({ retryAt: undefined })
      }
    }

    it('may fail twenty times a day; then even the right one is rejected, except in a known browser', async () => {
      const { secret, codes } = await enrolled()
      await guess(20)
      await expect(signIn(name, codeOf(secret))).rejects.toMatchObject({ retryAt: undefined })
      const device = rememberDevice(world.deps, { kind: 'operator', name }, undefined)
      expect(await signIn(name, codeOf(secret), { device })).toMatchObject({ pending: false })
      expect(await signIn(name, codes[0])).toMatchObject({ pending: false })
      await expect(signIn(name, codeOf(secret))).rejects.toThrow(SignInRefused)
      const { rows } = await world.pool.query(
        "select detail from audit_event where target = $1 and event = 'operator_sign_in_locked'",
        [`operator:${name}`],
      )
      expect(rows[0]).toEqual({ detail: { by: 'code' } })
      world.clock.advance(86_400)
      expect(await signIn(name, codeOf(secret))).toMatchObject({ pending: false })
    })

    it('does not count as a failure with a wrong password or without a code', async () => {
      const { secret } = await enrolled()
      await guess(20, { password: 'a wrong password' })
      for (let tried = 0; tried < 21; tried++) {
        if (tried % 4 === 0) world.clock.advance(1_000)
        await expect(signIn(name)).rejects.toThrow(SignInRefused)
      }
      world.clock.advance(1_000)
      expect(await signIn(name, codeOf(secret))).toMatchObject({ pending: false })
    })

    it('counts in a session too, which may be stolen', async () => {
      const { secret, session: cookie } = await enrolled()
      const session = await sessionOf(cookie)
      for (let tried = 0; tried < 20; tried++) {
        if (tried % 4 === 0) world.clock.advance(1_000)
        await expect(renewRecoveryCodes(world.deps, session, { code: '000000', address })).rejects.toThrow()
      }
      world.clock.advance(1_000)
      await expect(renewRecoveryCodes(world.deps, session, { code: codeOf(secret), address })).rejects.toThrow()
    })

    it('has its failures reset by a new password or authenticator', async () => {
      const first = await enrolled()
      await guess(20)
      await setOperatorPassword(world.deps, { name, password: PASSWORD })
      expect(await signIn(name, codeOf(first.secret))).toMatchObject({ pending: false })
      world.clock.advance(30)
      await guess(20)
      await resetTotp(world.deps, { name })
      world.clock.advance(1_000)
      const { secret } = await enrolled()
      expect(await signIn(name, codeOf(secret))).toMatchObject({ pending: false })
    })

    it('gets no additional attempts by concurrent requests', async () => {
      const { secret } = await enrolled()
      await guess(19)
      const at = (turn: number) => ({ address: `203.0.${turn + 1}.1` })
      const wrong = Array.from({ length: 8 }, (_, turn) => signIn(name, '000000', at(turn)))
      await Promise.allSettled(wrong)
      await expect(signIn(name, codeOf(secret), at(99))).rejects.toThrow(SignInRefused)
    })
  })

  it('cannot be bypassed with a session from before the authenticator was added', async () => {
    const thief = await sessionOf((await signIn(name)).session)
    const cookie = (await signIn(name)).session
    const { session, secret } = await enrolled()
    expect(await found(cookie), 'a session that may only add an authenticator').toBeNull()
    await expect(enrolTotp(world.deps, thief)).rejects.toThrow(SignInRefused)
    expect(await found(session)).not.toBeNull()
    expect(await signIn(name, codeOf(secret))).toMatchObject({ pending: false })
  })

  it('must be set up again after the authenticator was reset', async () => {
    const { session } = await enrolled()
    await resetTotp(world.deps, { name })
    expect(await found(session)).toBeNull()
    expect(await signIn(name)).toMatchObject({ pending: true })
  })
})

describe('a session', () => {
  it('ends after OPERATOR_IDLE_S without a request', async () => {
    const { session } = await enrolled()
    world.clock.advance(1_700)
    expect(await found(session)).not.toBeNull()
    world.clock.advance(1_801)
    expect(await found(session)).toBeNull()
  })

  it('ends after OPERATOR_SESSION_S even if it is in use', async () => {
    const { session } = await enrolled()
    for (let passed = 60; passed < 43_200; passed += 1_500) {
      expect(await found(session), String(passed)).not.toBeNull()
      world.clock.advance(1_500)
    }
    expect(await found(session)).toBeNull()
  })

  it('ends with a sign-out, a new password, or when the operator is disabled', async () => {
    const { session, secret } = await enrolled()
    await endConsoleSession(world.deps, session)
    expect(await found(session)).toBeNull()
    const again = await signIn(name, codeOf(secret))
    await setOperatorPassword(world.deps, { name, password: PASSWORD })
    expect(await found(again.session)).toBeNull()
    world.clock.advance(30)
    const third = await signIn(name, codeOf(secret))
    await disableOperator(world.deps, { name })
    expect(await found(third.session)).toBeNull()
    await expect(signIn(name, codeOf(secret))).rejects.toThrow(SignInRefused)
  })
})

it('an unknown name is rejected like a wrong password, and is not stored', async () => {
  await expect(signIn('hunter2-typed-into-the-name')).rejects.toThrow('wrong credentials')
  await expect(signIn(name, '', { password: 'wrong' })).rejects.toThrow('wrong credentials')
  const { rows } = await world.pool.query('select a::text from audit_event a')
  expect(JSON.stringify(rows)).not.toContain('hunter2')
})
