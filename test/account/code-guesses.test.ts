import { TOTP } from 'otpauth'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { finishSignIn, openSecondStep } from '../../src/authorization/account/second-step.ts'
import { readConfig } from '../../src/platform/config/index.ts'
import { openDatabase } from '../../src/platform/db/open-database.ts'
import { deriveKeys } from '../../src/platform/lib/crypto/keys.ts'
import type { Browser } from '../acceptance/browser.ts'
import { Client, type User } from '../acceptance/client.ts'
import { type Answer, header, injectWire } from '../acceptance/http.ts'
import { connectionOf, openWorld, type World } from '../harness.ts'
import { SHARDS } from '../one-table.ts'
import { SECRET_KEY } from '../secrets.ts'

/** An attacker who knows the password and guesses codes of the second factor, day after day. */

const GUESSES_PER_DAY = 20

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
const enterPassword = async ({ passport, password }: User, browser = client.newBrowser()) => {
  await post(browser, '/sign-in', { passport, password })
  return browser
}
let people = 0
async function protectedPerson() {
  const user = await client.makeUser({ passport: `guessed${++people}@example.com` })
  const browser = await enterPassword(user)
  const secret = secretOn(await post(browser, '/account/security/authenticator'))
  const currentCode = () => new TOTP({ secret, period: 30 }).generate({ timestamp: world.clock.now().getTime() })
  const codes = codesOn(await post(browser, '/account/security/authenticator/confirm', { code: currentCode() }))
  world.clock.advance(60)
  return { user, browser, currentCode, codes }
}
/** A code that the authenticator is not showing now. */
const wrong = (currentCode: () => string) => String((Number(currentCode()) + 500_000) % 1_000_000).padStart(6, '0')
const guess = (browser: Browser, code: string) => post(browser, '/sign-in/code', { code })
async function guessAll(user: User, currentCode: () => string, browser?: Browser): Promise<number[]> {
  const by = await enterPassword(user, browser)
  const statuses: number[] = []
  for (let index = 0; index < GUESSES_PER_DAY; index++) statuses.push((await guess(by, wrong(currentCode))).status)
  return statuses
}
const guessMailsTo = async ({ user_id }: User) => {
  const { rows } = await world.pool.query(
    `select payload ->> 'kind' as kind from graphile_worker._private_jobs j
     join graphile_worker._private_tasks t on t.id = j.task_id
     where t.identifier = 'send-person-mail' and payload ->> 'userId' = $1`,
    [user_id],
  )
  return rows.map(({ kind }) => kind).filter((kind) => kind === 'codes_guessed')
}

describe('the limit of twenty wrong codes a day', () => {
  it('then refuses right codes too, still accepts a recovery code, and mails the person once', async () => {
    const { user, currentCode, codes } = await protectedPerson()
    expect(await guessAll(user, currentCode)).toEqual(Array(GUESSES_PER_DAY).fill(403))
    expect(await guessMailsTo(user)).toEqual(['codes_guessed'])
    const browser = await enterPassword(user)
    for (const code of [wrong(currentCode), currentCode()]) {
      const answer = await guess(browser, code)
      expect(answer.status).toBe(429)
      expect(answer.text).toContain('Too many wrong codes')
      expect(answer.text).toContain('in 24 hours')
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(80_000)
    }
    expect(await guessMailsTo(user)).toEqual(['codes_guessed'])
    expect(await isSignedIn(browser)).toBe(false)
    await guess(browser, codes[0] ?? '')
    expect(await isSignedIn(browser)).toBe(true)
  })

  it('is lifted after a day, or by a change of password', async () => {
    const [late, changed] = [await protectedPerson(), await protectedPerson()]
    await guessAll(late.user, late.currentCode)
    await guessAll(changed.user, changed.currentCode)
    const next = 'another password of theirs'
    const change = { current_password: changed.user.password, password: next, password_again: next }
    expect((await post(changed.browser, '/password', change)).status).toBe(200)
    const browser = await enterPassword({ ...changed.user, password: next })
    await guess(browser, changed.currentCode())
    expect(await isSignedIn(browser)).toBe(true)
    world.clock.advance(86_400)
    const own = await enterPassword(late.user)
    await guess(own, late.currentCode())
    expect(await isSignedIn(own)).toBe(true)
  })

  it('is lifted by another authenticator', async () => {
    const { user, currentCode } = await protectedPerson()
    await guessAll(user, currentCode)
    const { cid, user_id } = user
    await client.admin('POST', '/users/remove-factors', { cid, user_id, reason: 'lost the phone; called back' })
    const browser = await enterPassword(user)
    const secret = secretOn(await post(browser, '/account/security/authenticator'))
    const codeNow = () => new TOTP({ secret, period: 30 }).generate({ timestamp: world.clock.now().getTime() })
    await post(browser, '/account/security/authenticator/confirm', { code: codeNow() })
    world.clock.advance(60)
    const elsewhere = await enterPassword(user)
    expect((await guess(elsewhere, codeNow())).status).toBe(303)
  })

  it('leaves a separate allowance, limited as well, to browsers that have signed in before', async () => {
    const { user, browser: known, currentCode } = await protectedPerson()
    await guessAll(user, currentCode)
    await enterPassword(user, known)
    expect((await guess(known, currentCode())).status).toBe(303)
    world.clock.advance(60)
    expect(await guessAll(user, currentCode, known)).toEqual(Array(GUESSES_PER_DAY).fill(403))
    expect((await guess(known, currentCode())).status).toBe(429)
  })

  it('holds against concurrent guesses from as many networks', async () => {
    const { user, currentCode } = await protectedPerson()
    const browser = await enterPassword(user)
    const step = openSecondStep(world.deps, [...browser.cookies].find(([name]) => name.includes('second_step'))?.[1])
    if (!step) throw new Error('no step')
    const [bad, good] = [wrong(currentCode), currentCode()]
    const tries = Array.from({ length: 41 }, (_, n) => ({ step, code: n < 40 ? bad : good, address: `203.0.${n}.7` }))
    const results = await Promise.allSettled(tries.map((one) => finishSignIn(world.deps, one)))
    expect(results.filter(({ status }) => status === 'fulfilled')).toEqual([])
    expect((await guess(browser, currentCode())).status).toBe(429)
  })

  it('is not used up by a second step that is void', async () => {
    const { user, currentCode } = await protectedPerson()
    const browser = await enterPassword(user)
    const { cid, user_id } = user
    world.clock.advance(1)
    await client.admin('POST', '/users/end-sessions', { cid, user_id })
    for (let times = 0; times <= GUESSES_PER_DAY; times++) {
      expect(header(await guess(browser, wrong(currentCode)), 'location')).toMatch(/^\/sign-in\?.*ended=1/)
    }
    world.clock.advance(1)
    expect((await guess(await enterPassword(user), currentCode())).status).toBe(303)
  })

  it('is not used up by right codes', async () => {
    const { user, currentCode } = await protectedPerson()
    for (let times = 0; times <= GUESSES_PER_DAY; times++) {
      const browser = await enterPassword(user)
      expect((await guess(browser, currentCode())).status, String(times)).toBe(303)
      world.clock.advance(30)
    }
  })

  it('is counted across processes, even when guesses race', async () => {
    const config = readConfig({ DATABASE_URL: world.databaseUrl, SECRET_KEY, NODE_ENV: 'test' })
    const settings = { ...connectionOf(config, world.databaseUrl), size: 5 }
    const { db, close } = openDatabase(settings, world.log, { shards: SHARDS })
    const elsewhere = { ...world.deps, db, keys: deriveKeys(SECRET_KEY) }
    try {
      const { user, currentCode } = await protectedPerson()
      const browser = await enterPassword(user)
      const kept = [...browser.cookies].find(([name]) => name.includes('second_step'))?.[1]
      const step = openSecondStep(world.deps, kept)
      if (!step) throw new Error('no step')
      const from = (n: number) => `203.0.${n}.7`
      const code = wrong(currentCode)
      const tries = Array.from({ length: 30 }, (_, n) =>
        finishSignIn(n % 2 ? elsewhere : world.deps, { step, code, address: from(n) }).catch(({ retryAt }) => retryAt),
      )
      const results = await Promise.all(tries)
      expect(results.filter((retryAt) => retryAt === undefined)).toHaveLength(GUESSES_PER_DAY)
      expect(await guessMailsTo(user)).toEqual(['codes_guessed'])
      await expect(finishSignIn(elsewhere, { step, code: currentCode(), address: from(99) })).rejects.toThrow(
        'too many',
      )
    } finally {
      await close()
    }
  })
})
