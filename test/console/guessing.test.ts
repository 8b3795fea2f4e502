import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SECTIONS } from '../../src/operations/console/sections/index.ts'
import { createOperator, setOperatorPassword, signInWithAdminToken } from '../../src/operations/operators/index.ts'
import { ADMIN_TOKEN, openWorld, type World } from '../harness.ts'
import { addressOf, type Filled, fill } from './filled.ts'
import { adminTokenHolder, codeOf, PASSWORD, Person, signedIn } from './person.ts'

/** Attacks on the console: planted sessions, guessed passwords and codes. */

let world: World
let filled: Filled
beforeAll(async () => {
  world = await openWorld()
  filled = await fill(world)
})
afterAll(() => world.close())

const FORMS = SECTIONS.flatMap(({ forms = [] }) => forms)
const statusOf = async () => (await world.pool.query('select status from micro_app')).rows[0].status

describe('a session', () => {
  it('that was planted before the sign-in is replaced by a new one', async () => {
    const attacker = await adminTokenHolder(world)
    const planted = attacker.cookie
    const { name, secret } = await signedIn(world, 'admin')
    world.clock.advance(60)
    const victim = new Person(world, planted)
    await victim.post('/console/sign-in', { name, password: PASSWORD, code: codeOf(world, secret) })
    expect(victim.cookie).not.toBe(planted)
    expect((await new Person(world, planted).get('/console')).status).toBe(302)
    const unknown = new Person(world, `ghos_${'B'.repeat(48)}`)
    world.clock.advance(60)
    await unknown.post('/console/sign-in', { name, password: PASSWORD, code: codeOf(world, secret) })
    expect(unknown.cookie).not.toContain('BBBB')
  })

  it('without an authenticator can change nothing', async () => {
    await createOperator(world.deps, { name: 'pending', role: 'admin', days: 1 })
    await setOperatorPassword(world.deps, { name: 'pending', password: PASSWORD })
    const person = new Person(world)
    await person.post('/console/sign-in', { name: 'pending', password: PASSWORD, code: '' })
    const form_of = await person.mark('/console/authenticator')
    expect(form_of).not.toBe('')
    for (const { path } of FORMS) {
      const answer = await person.post(addressOf(path, filled), { form_of })
      expect(answer.location, path).toBe('/console/authenticator')
    }
    expect(await statusOf()).toBe('approved')
  })
})

describe('guessing', () => {
  const answerTo = async (form: Record<string, string>) => {
    const { status, text } = await new Person(world).post('/console/sign-in', form)
    return { status, text: text.replace(`value="${form.name}"`, 'value=""').replace(/X-Request-Id.*/g, '') }
  }

  it('gets the same response for an unknown name, a wrong password and a wrong code, until it is locked out', async () => {
    await world.pool.query('delete from failed_attempt')
    const { name, secret } = await signedIn(world, 'support')
    world.clock.advance(60)
    const unknown = await answerTo({ name: 'nobody', password: PASSWORD, code: '000000' })
    const wrong = await answerTo({ name, password: 'another password', code: codeOf(world, secret) })
    const code = await answerTo({ name, password: PASSWORD, code: '000000' })
    expect(unknown.status).toBe(403)
    expect(wrong).toEqual(unknown)
    expect(code).toEqual(unknown)
    const statuses: number[] = []
    for (let tried = 0; tried < 20; tried++) {
      statuses.push((await answerTo({ name, password: PASSWORD, code: String(tried).padStart(6, '0') })).status)
    }
    expect(statuses.filter((status) => status === 403)).toHaveLength(3) // of five failures, two happened above
    expect((await answerTo({ name, password: PASSWORD, code: codeOf(world, secret) })).status).toBe(429)
  })

  it('the first code of a new authenticator is limited too', async () => {
    await world.pool.query('delete from failed_attempt')
    await createOperator(world.deps, { name: 'fresh', role: 'admin', days: 1 })
    await setOperatorPassword(world.deps, { name: 'fresh', password: PASSWORD })
    const person = new Person(world)
    await person.post('/console/sign-in', { name: 'fresh', password: PASSWORD, code: '' })
    await person.submit('/console/authenticator')
    const form_of = await person.mark('/console/authenticator')
    const statuses: number[] = []
    for (let tried = 0; tried < 8; tried++) {
      statuses.push((await person.post('/console/authenticator/confirm', { code: '000000', form_of })).status)
    }
    expect(statuses).toEqual([403, 403, 403, 403, 403, 429, 429, 429])
  })

  it('of ADMIN_TOKEN, from many networks, does not lock its holder out', async () => {
    await world.pool.query('delete from failed_attempt')
    for (let network = 0; network < 60; network++) {
      const address = `203.0.${network}.7`
      await expect(signInWithAdminToken(world.deps, { token: 'wrong', address })).rejects.toThrow()
    }
    await expect(
      signInWithAdminToken(world.deps, { token: ADMIN_TOKEN, address: '198.51.100.7' }),
    ).resolves.toBeDefined()
  })

  it('of ADMIN_TOKEN, from one network, is limited', async () => {
    await world.pool.query('delete from failed_attempt')
    const address = '203.0.113.7'
    for (let tried = 0; tried < 6; tried++)
      await expect(signInWithAdminToken(world.deps, { token: 'wrong', address })).rejects.toThrow()
    await expect(signInWithAdminToken(world.deps, { token: ADMIN_TOKEN, address })).rejects.toThrow()
  })
})
