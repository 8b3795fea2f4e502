import { TOTP } from 'otpauth'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { finishSignIn, openSecondStep } from '../../src/authorization/account/second-step.ts'
import { readConfig } from '../../src/platform/config/index.ts'
import { openDatabase } from '../../src/platform/db/open-database.ts'
import { deriveKeys } from '../../src/platform/lib/crypto/keys.ts'
import type { Browser } from '../acceptance/browser.ts'
import { Client, type User } from '../acceptance/client.ts'
import { type Answer, injectWire } from '../acceptance/http.ts'
import { connectionOf, openWorld, type World } from '../harness.ts'
import { SHARDS } from '../one-table.ts'
import { SECRET_KEY } from '../secrets.ts'

/** Somebody who knows the password and guesses codes, day after day. */

const IN_A_DAY = 20

let world: World
let client: Client
beforeAll(async () => {
  world = await openWorld({ SIGN_IN_FAILURES_PER_PASSPORT: '1000', SIGN_IN_FAILURES_PER_ADDRESS: '1000' })
  client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
})
afterAll(() => world.close())

const post = (browser: Browser, path: string, fields: Record<string, string> = {}) => browser.send('POST', path, fields)
const secretOn = ({ text }: Answer): string => /id="secret">([A-Z2-7]+)</.exec(text)?.[1] ?? ''
const codesOn = ({ text }: Answer): string[] => text.match(/\b[a-z2-9]{4}(?:-[a-z2-9]{4}){3}\b/g) ?? []
const isSignedIn = async (browser: Browser) => (await browser.send('GET', '/account/security')).status === 200
const withPassword = async ({ passport, password }: User, browser = client.newBrowser()) => {
  await post(browser, '/sign-in', { passport, password })
  return browser
}
let people = 0
async function protectedPerson() {
  const user = await client.makeUser({ passport: `guessed${++people}@example.com` })
  const browser = await withPassword(user)
  const secret = secretOn(await post(browser, '/account/security/authenticator'))
  const show = () => new TOTP({ secret, period: 30 }).generate({ timestamp: world.clock.now().getTime() })
  const codes = codesOn(await post(browser, '/account/security/authenticator/confirm', { code: show() }))
  world.clock.advance(60)
  return { user, browser, show, codes }
}
/** A code that the authenticator does not show. */
const wrong = (show: () => string) => String((Number(show()) + 500_000) % 1_000_000).padStart(6, '0')
const guess = (browser: Browser, code: string) => post(browser, '/sign-in/code', { code })
async function guessAll(user: User, show: () => string, browser?: Browser): Promise<number[]> {
  const by = await withPassword(user, browser)
  const statuses: number[] = []
  for (let index = 0; index < IN_A_DAY; index++) statuses.push((await guess(by, wrong(show))).status)
  return statuses
}
const mailsTo = async ({ user_id }: User) => {
  const { rows } = await world.pool.query(
    `select payload ->> 'kind' as kind from graphile_worker._private_jobs j
     join graphile_worker._private_tasks t on t.id = j.task_id
     where t.identifier = 'send-person-mail' and payload ->> 'userId' = $1`,
    [user_id],
  )
  return rows.map(({ kind }) => kind).filter((kind) => kind === 'codes_guessed')
}

describe('twenty wrong codes in a day', () => {
  it('are the last: a right one is refused too, a recovery code is not, and the person is told once', async () => {
    const { user, show, codes } = await protectedPerson()
    expect(await guessAll(user, show)).toEqual(Array(IN_A_DAY).fill(403))
    expect(await mailsTo(user)).toEqual(['codes_guessed'])
    const browser = await withPassword(user)
    for (const code of [wrong(show), show()]) {
      const answer = await guess(browser, code)
      expect(answer.status).toBe(429)
      expect(answer.text).toContain('Too many wrong codes')
      expect(answer.text).toContain('in 24 hours')
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(80_000)
    }
    expect(await mailsTo(user)).toEqual(['codes_guessed'])
    expect(await isSignedIn(browser)).toBe(false)
    await guess(browser, codes[0] ?? '')
    expect(await isSignedIn(browser)).toBe(true)
  })

  it('are over a day later, and with another password', async () => {
    const [late, changed] = [await protectedPerson(), await protectedPerson()]
    await guessAll(late.user, late.show)
    await guessAll(changed.user, changed.show)
    const next = 'another password of theirs'
    const change = { current_password: changed.user.password, password: next, password_again: next }
    expect((await post(changed.browser, '/password', change)).status).toBe(200)
    const browser = await withPassword({ ...changed.user, password: next })
    await guess(browser, changed.show())
    expect(await isSignedIn(browser)).toBe(true)
    world.clock.advance(86_400)
    const own = await withPassword(late.user)
    await guess(own, late.show())
    expect(await isSignedIn(own)).toBe(true)
  })

  it('of strangers leave browsers that have signed in before a share of their own, which ends too', async () => {
    const { user, browser: known, show } = await protectedPerson()
    await guessAll(user, show)
    await withPassword(user, known)
    expect((await guess(known, show())).status).toBe(303)
    world.clock.advance(60)
    expect(await guessAll(user, show, known)).toEqual(Array(IN_A_DAY).fill(403))
    expect((await guess(known, show())).status).toBe(429)
  })

  it('are all that is looked at of those that come at once, from as many networks', async () => {
    const { user, show } = await protectedPerson()
    const browser = await withPassword(user)
    const step = openSecondStep(world.deps, [...browser.cookies].find(([name]) => name.includes('second_step'))?.[1])
    if (!step) throw new Error('no step')
    const [bad, good] = [wrong(show), show()]
    const tries = Array.from({ length: 41 }, (_, n) => ({ step, code: n < 40 ? bad : good, address: `203.0.${n}.7` }))
    const ends = await Promise.allSettled(tries.map((one) => finishSignIn(world.deps, one)))
    expect(ends.filter(({ status }) => status === 'fulfilled')).toEqual([])
    expect((await guess(browser, show())).status).toBe(429)
  })

  it('are not used up by right ones', async () => {
    const { user, show } = await protectedPerson()
    for (let times = 0; times <= IN_A_DAY; times++) {
      const browser = await withPassword(user)
      expect((await guess(browser, show())).status, String(times)).toBe(303)
      world.clock.advance(30)
    }
  })

  it('are counted over all processes, however the guesses race', async () => {
    const config = readConfig({ DATABASE_URL: world.databaseUrl, SECRET_KEY, NODE_ENV: 'test' })
    const settings = { ...connectionOf(config, world.databaseUrl), size: 5 }
    const { db, close } = openDatabase(settings, world.log, { shards: SHARDS })
    const elsewhere = { ...world.deps, db, keys: deriveKeys(SECRET_KEY) }
    try {
      const { user, show } = await protectedPerson()
      const browser = await withPassword(user)
      const kept = [...browser.cookies].find(([name]) => name.includes('second_step'))?.[1]
      const step = openSecondStep(world.deps, kept)
      if (!step) throw new Error('no step')
      const from = (n: number) => `203.0.${n}.7`
      const code = wrong(show)
      const tries = Array.from({ length: 30 }, (_, n) =>
        finishSignIn(n % 2 ? elsewhere : world.deps, { step, code, address: from(n) }).catch(({ retryAt }) => retryAt),
      )
      const ends = await Promise.all(tries)
      expect(ends.filter((retryAt) => retryAt === undefined)).toHaveLength(IN_A_DAY)
      expect(await mailsTo(user)).toEqual(['codes_guessed'])
      await expect(finishSignIn(elsewhere, { step, code: show(), address: from(99) })).rejects.toThrow('too many')
    } finally {
      await close()
    }
  })
})
