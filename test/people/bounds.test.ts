import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { resetPassword } from '../../src/authorization/account/password.ts'
import { startSession } from '../../src/authorization/account/session.ts'
import { routingKeyOf } from '../../src/authorization/account/wire.ts'
import { Client, type User } from '../acceptance/client.ts'
import { injectWire } from '../acceptance/http.ts'
import { openWorld, type World } from '../harness.ts'

/** Limits on the rows that one person, or one stranger, can create. */

let world: World
let client: Client
beforeAll(async () => {
  world = await openWorld({
    PUBLIC_URL: 'http://localhost:8000',
    PASSWORD_RESET: 'hook',
    PASSWORD_RESET_HOOK: 'https://hook.example/',
    PASSWORD_RESET_HOOK_SECRET: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
  })
  client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
})
afterAll(() => world.close())

let serial = 0
const newPerson = () => client.makeUser({ passport: `bounded${++serial}@example.com` })
async function signedIn({ passport, password }: User) {
  const browser = client.newBrowser()
  await browser.send('POST', '/sign-in', { passport, password })
  return browser
}
const count = async (table: string, { user_id }: User, where = 'true') =>
  (await world.pool.query(`select from ${table} where user_id = $1 and ${where}`, [user_id])).rowCount

describe('one person', () => {
  it('can change their account three hundred times an hour across all pages, and twenty more times in each session', async () => {
    const user = await newPerson()
    const browser = await signedIn(user)
    const statuses: number[] = []
    for (let n = 0; n < 322; n++) {
      const name = `Name ${n}`
      const answer =
        n % 10 === 9
          ? await browser.send('POST', '/account/security/authenticator/remove', {})
          : await browser.send('POST', '/account/profile', { name })
      statuses.push(answer.status)
    }
    expect(statuses.slice(-3)).toEqual([303, 429, 429])
    expect(await count('audit_event', user, `event = 'user_profile_changed'`)).toBe(288)
    expect((await browser.open('/account/profile')).status).toBe(200)
    world.clock.advance(3_600)
    expect((await browser.send('POST', '/account/profile', { name: 'Later' })).status).toBe(303)
  })

  it('can end a stolen session and change anything even if the thief has used up the limit', async () => {
    const user = await newPerson()
    const thief = await signedIn(user)
    world.clock.advance(3_600)
    const owner = await signedIn(user)
    for (let n = 0; n < 330; n++) await thief.send('POST', '/account/profile', { name: 'x' })
    expect((await thief.send('POST', '/account/profile', { name: 'x' })).status).toBe(429)
    const own = async (path: string, form = {}) => (await owner.send('POST', path, form)).status
    const statuses = [
      await own('/account/profile', { name: 'y' }),
      await own('/account/apps/withdraw', { app_key: 'none' }),
      await own('/account/deletion/cancel'),
      await own('/account/security/authenticator/remove'),
      await own('/password'),
      await own('/account/sessions/end-others'),
    ]
    expect(statuses).toEqual([303, 404, 303, 303, 400, 303])
    expect((await thief.send('GET', '/account/profile')).status).toBe(303)
  })

  it('can change the password while strangers guess it', async () => {
    const user = await newPerson()
    const owner = await signedIn(user)
    for (let n = 0; n < 12; n++) {
      await client.newBrowser().send('POST', '/sign-in', { passport: user.passport, password: `guess ${n}` })
    }
    const guessed = await client
      .newBrowser()
      .send('POST', '/sign-in', { passport: user.passport, password: user.password })
    expect(guessed.status).toBe(429)
    const password = 'seven green turtles walk'
    const wrong = { current_password: 'not this one', password, password_again: password }
    expect((await owner.send('POST', '/password', wrong)).status).toBe(403)
    expect((await owner.send('POST', '/password', { ...wrong, current_password: user.password })).status).toBe(200)
  })

  it('can sign in after a password reset, however often an attacker has signed in before', async () => {
    const user = await newPerson()
    const from = { address: '192.0.2.1', userAgent: undefined }
    for (let n = 0; n < 600; n++) await startSession(world.deps, { cid: user.cid, userId: user.user_id }, from)
    const key = { cid: user.cid, user_id: user.user_id }
    const { url } = await resetPassword(world.deps, key)
    const password = 'seven green turtles walk'
    const token = new URL(url).searchParams.get('token') ?? ''
    const form = { token, password, password_again: password }
    expect((await client.newBrowser().send('POST', '/password', form)).status).toBe(200)
    const browser = client.newBrowser()
    const signedInAgain = await browser.send('POST', '/sign-in', { passport: user.passport, password })
    expect(signedInAgain.status).toBe(303)
  })

  it('can sign in six hundred times an hour', async () => {
    const { cid, user_id: userId } = await newPerson()
    const from = { address: '192.0.2.1', userAgent: undefined }
    const open = () => startSession(world.deps, { cid, userId }, from)
    for (let n = 0; n < 600; n++) await open()
    await expect(open()).rejects.toThrow('too many sign-in attempts')
    world.clock.advance(3_600)
    await open()
  })
})

describe('a stranger', () => {
  it('can create at most twelve rows an hour in the history of a person whose passkey they name', async () => {
    const user = await newPerson()
    const { cid, user_id } = user
    const id = Buffer.alloc(32, 1)
    const routingKey = routingKeyOf(cid, user_id)
    await world.pool.query(
      `insert into passkey (routing_key, credential_id, cid, user_id, public_key, counter, transports, name, created_at)
       values ($1, $2, $3, $4, $2, 0, '{}', 'Laptop', now())`,
      [routingKey, id, cid, user_id],
    )
    const handle = Buffer.alloc(32)
    handle.writeUInt16BE(routingKey)
    const text = id.toString('base64url')
    const response = { clientDataJSON: text, authenticatorData: text, signature: text }
    const credential = JSON.stringify({
      ...{ id: text, rawId: text, type: 'public-key', clientExtensionResults: {} },
      response: { ...response, userHandle: handle.toString('base64url') },
    })
    for (let n = 0; n < 30; n++) {
      expect((await client.newBrowser().send('POST', '/sign-in/passkey', { credential })).status).toBe(403)
    }
    expect(await count('sign_in', user)).toBe(12)
    expect(await count('audit_event', user, `event = 'user_sign_in_failed'`)).toBe(12)
  })

  it('creates no row for a name beyond the limit of the network', async () => {
    const rows = async () => (await world.pool.query('select from failed_attempt')).rowCount ?? 0
    const ask = (n: number) => client.newBrowser().send('POST', '/sign-in/forgotten', { passport: `nobody-${n}` })
    const statuses: number[] = []
    for (let n = 0; n < 31; n++) statuses.push((await ask(n)).status)
    expect([statuses.at(0), statuses.at(-2), statuses.at(-1)]).toEqual([200, 200, 429])
    const before = await rows()
    for (let n = 31; n < 60; n++) expect((await ask(n)).status).toBe(429)
    expect(await rows()).toBeLessThanOrEqual(before)
  })
})
