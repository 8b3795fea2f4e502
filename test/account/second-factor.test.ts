import { TOTP } from 'otpauth'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { buildApp } from '../../src/app.ts'
import { SecondStepNeeded, SecondStepVoid } from '../../src/authorization/account/errors.ts'
import {
  confirmOwnTotp,
  enrolTotp,
  removeOwnTotp,
  replaceRecoveryCodes,
} from '../../src/authorization/account/factors.ts'
import { beginSecondStep, finishSignIn, openSecondStep } from '../../src/authorization/account/second-step.ts'
import { findSession, type SignedIn, startSession } from '../../src/authorization/account/session.ts'
import { signIn } from '../../src/authorization/account/sign-in.ts'
import { findCredential } from '../../src/authorization/account/store.ts'
import { routingKeyOf } from '../../src/authorization/account/wire.ts'
import { readConfig } from '../../src/platform/config/index.ts'
import { openDatabase } from '../../src/platform/db/open-database.ts'
import type { Db } from '../../src/platform/db/sql.ts'
import { deriveKeys } from '../../src/platform/lib/crypto/keys.ts'
import { Browser } from '../acceptance/browser.ts'
import { Client, pkcePair, type User } from '../acceptance/client.ts'
import { codeForm, consentForm, type Form, signInForm } from '../acceptance/form.ts'
import { type Answer, header, injectWire } from '../acceptance/http.ts'
import { connectionOf, MANY_CONNECTIONS, openWorld, type World } from '../harness.ts'
import { StandardApp, tokensOf } from '../oidc/app.ts'
import { visit } from '../oidc/person.ts'
import { SHARDS } from '../one-table.ts'
import { SECRET_KEY } from '../secrets.ts'

/** Signing in with password and authenticator, in both dialects. */

const MULTI = 'http://schemas.openid.net/pape/policies/2007/06/multi-factor'
const FAILURES_ANYWHERE = 6

let world: World
let client: Client
let rp: StandardApp
beforeAll(async () => {
  world = await openWorld({
    ...MANY_CONNECTIONS,
    AUTHORIZE_PER_MINUTE: '1000000',
    SIGN_IN_FAILURES_PER_PASSPORT: '4',
    SIGN_IN_FAILURES_PER_PASSPORT_ANYWHERE: String(FAILURES_ANYWHERE),
  })
  client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
  rp = await StandardApp.make(client)
})
afterAll(() => world.close())
beforeEach(() => world.pool.query('delete from failed_attempt'))

const currentTotp = (secret: string): string =>
  new TOTP({ secret, period: 30 }).generate({ timestamp: world.clock.now().getTime() })
const secretOn = ({ text }: Answer): string => /id="secret">([A-Z2-7]+)</.exec(text)?.[1] ?? ''
const codesOn = ({ text }: Answer): string[] => text.match(/\b[a-z2-9]{4}(?:-[a-z2-9]{4}){3}\b/g) ?? []
const post = (browser: Browser, path: string, fields: Record<string, string> = {}) => browser.send('POST', path, fields)
const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
const formOn = (find: (html: string) => Form | undefined, { text, status }: Answer): Form => {
  const form = find(text)
  if (!form) throw new Error(`no such form: ${status} ${text.slice(0, 1_000)}`)
  return form
}

interface Protected {
  readonly user: User
  readonly secret: string
  readonly codes: readonly string[]
  readonly browser: Browser
  readonly currentCode: () => string
}

/** A person who has added an authenticator on their security page. */
async function protectedPerson(changes: Record<string, unknown> = {}): Promise<Protected> {
  const user = await client.makeUser(changes)
  const browser = await signedIn(user)
  const secret = secretOn(await post(browser, '/account/security/authenticator'))
  const code = currentTotp(secret)
  const answer = await post(browser, '/account/security/authenticator/confirm', { code })
  const codes = codesOn(answer)
  expect(codes).toHaveLength(10)
  world.clock.advance(60)
  return { user, secret, codes, browser, currentCode: () => currentTotp(secret) }
}

/** Enters the right password and returns the next page. */
async function enterPassword({ passport, password }: User, browser = client.newBrowser(), path = '/sign-in') {
  const form = formOn(signInForm, await browser.open(path))
  return browser.follow(await browser.submit(form, { passport, password }))
}
const signedIn = async (user: User) => {
  const browser = client.newBrowser()
  await enterPassword(user, browser)
  return browser
}
const enterCode = async (browser: Browser, page: Answer, code: string) =>
  browser.submit(formOn(codeForm, page), { code })
const unusedCodes = async ({ user_id }: User) =>
  (await world.pool.query('select from recovery_code where user_id = $1 and used_at is null', [user_id])).rowCount
const isSignedIn = async (browser: Browser) => (await browser.send('GET', '/account/security/sign-in')).status === 200

describe('adding an authenticator', () => {
  it('shows the secret and ten recovery codes once, and stores the secret encrypted and the codes hashed', async () => {
    const { user, secret, codes, browser } = await protectedPerson()
    const tables = ['user_totp', 'recovery_code', 'audit_event', 'browser_session']
    const rows = await Promise.all(tables.map((table) => world.pool.query(`select t::text from ${table} t`)))
    const kept = JSON.stringify(rows.map((found) => found.rows))
    for (const shown of [secret, ...codes, ...codes.map((code) => code.replaceAll('-', ''))]) {
      expect(kept.includes(shown)).toBe(false)
      expect(world.logged().includes(shown)).toBe(false)
    }
    const page = await browser.send('GET', '/account/security/sign-in')
    expect(page.text).toContain('not used: 10')
    expect(secretOn(page) + codesOn(page).join()).toBe('')
    expect(await isSignedIn(browser)).toBe(true)
    const { rows: told } = await world.pool.query(`select event from audit_event where user_id = $1`, [user.user_id])
    expect(told.map(({ event }) => event)).toContain('user_totp_added')
  })

  it('offers no language link on pages shown only once, and a repeated form is no wrong code', async () => {
    const browser = await signedIn(await client.makeUser())
    const shown = await post(browser, '/account/security/authenticator')
    const code = { code: currentTotp(secretOn(shown)) }
    const made = await post(browser, '/account/security/authenticator/confirm', code)
    const others = await post(browser, '/account/security/recovery-codes')
    expect([codesOn(made).length, codesOn(others).length]).toEqual([10, 10])
    for (const { text } of [shown, made, others]) expect(text).not.toContain('hreflang')
    // The form is sent again: as the authenticator exists by now, this leads to where new codes can be made.
    const again = await post(browser, '/account/security/authenticator/confirm', code)
    expect([again.status, again.headers.location]).toEqual([303, '/account/security/sign-in?done=totp_added'])
  })

  it('requires a first code, and cannot replace an active authenticator', async () => {
    const user = await client.makeUser()
    const browser = await signedIn(user)
    await post(browser, '/account/security/authenticator')
    const wrong = await post(browser, '/account/security/authenticator/confirm', { code: '000000' })
    expect([wrong.status, codesOn(wrong)]).toEqual([403, []])
    expect(await isSignedIn(await signedIn(user))).toBe(true) // the password alone suffices
    const { browser: other, currentCode } = await protectedPerson()
    expect((await post(other, '/account/security/authenticator')).status).toBe(303)
    expect((await post(other, '/account/security/authenticator/confirm', { code: currentCode() })).status).toBe(303)
  })

  it('refuses forms from another site', async () => {
    const { browser } = await protectedPerson()
    for (const path of ['/authenticator', '/authenticator/confirm', '/authenticator/remove', '/recovery-codes']) {
      const answer = await client.call(
        'POST',
        `/account/security${path}`,
        {
          cookie: browser.cookieHeader,
          'sec-fetch-site': 'cross-site',
          'content-type': 'application/x-www-form-urlencoded',
        },
        'code=1',
      )
      expect(answer.status, path).toBe(403)
    }
    expect((await browser.send('GET', '/account/security/sign-in')).text).toContain('not used: 10')
  })
})

describe('activating an authenticator', () => {
  const sessionOf = async (browser: Browser): Promise<SignedIn> => {
    const found = await findSession(world.deps, browser.cookies.get('gatehouse_session'))
    if (!found) throw new Error('no session')
    return found
  }
  const sessionsOf = async ({ user_id }: User) =>
    (await world.pool.query(`select amr from browser_session where user_id = $1`, [user_id])).rows
  const addTo = async (browser: Browser) => {
    const secret = secretOn(await post(browser, '/account/security/authenticator'))
    return post(browser, '/account/security/authenticator/confirm', { code: currentTotp(secret) })
  }

  it('ends all other sessions, and upgrades the own session to two factors', async () => {
    const user = await client.makeUser()
    const [owner, thief] = [await signedIn(user), await signedIn(user)]
    expect(codesOn(await addTo(owner))).toHaveLength(10)
    expect([await isSignedIn(owner), await isSignedIn(thief)]).toEqual([true, false])
    expect(await sessionsOf(user)).toEqual([{ amr: ['pwd', 'otp', 'mfa'] }])
    expect(codesOn(await post(owner, '/account/security/recovery-codes'))).toHaveLength(10)
  })

  it('voids changes that an older session has begun', async () => {
    const user = await client.makeUser()
    const [owner, thief] = [await signedIn(user), await signedIn(user)]
    const before = await sessionOf(thief)
    await addTo(owner)
    await removeOwnTotp(world.deps, before)
    expect(await replaceRecoveryCodes(world.deps, before)).toBeUndefined()
    expect((await owner.send('GET', '/account/security/sign-in')).text).toContain('not used: 10')
    expect(codeForm((await enterPassword(user)).text)).toBeDefined()
  })

  it('ends or refuses concurrent sign-ins with the password alone', async () => {
    const from = { address: '203.0.113.77' }
    const enrolled = async () => {
      const user = await client.makeUser()
      const session = await sessionOf(await signedIn(user))
      const made = await enrolTotp(world.deps, session, user.passport)
      const { passport, password } = user
      return { user, session, code: currentTotp(made?.secret ?? ''), typed: { passport, password, ...from } }
    }
    /** Deps whose transactions run `before` first and delay the commit; `worked` resolves after the last statement. */
    const delayed = (user: User, before: () => Promise<unknown> = async () => {}) => {
      const behind = world.deps.db.of(routingKeyOf(user.cid, user.user_id))
      let resolve = () => {}
      const worked = new Promise<void>((done) => {
        resolve = done
      })
      const tx: typeof world.deps.db.tx = async (work) => {
        await before()
        return behind.tx(async (db) => {
          const done = await work(db)
          resolve()
          await new Promise((later) => setTimeout(later, 300))
          return done
        })
      }
      const db: Db = { ...world.deps.db, of: () => ({ ...behind, tx }) }
      return { deps: { ...world.deps, db }, worked }
    }

    const first = await enrolled()
    const late = delayed(first.user, () => confirmOwnTotp(world.deps, first.session, first.code))
    await expect(signIn(late.deps, first.typed)).rejects.toBeInstanceOf(SecondStepNeeded)
    expect(await sessionsOf(first.user)).toHaveLength(1)

    const second = await enrolled()
    const slow = delayed(second.user)
    const confirming = confirmOwnTotp(slow.deps, second.session, second.code)
    await slow.worked
    await expect(signIn(world.deps, second.typed)).rejects.toBeInstanceOf(SecondStepNeeded)
    expect(await confirming).toHaveLength(10)
    expect(await sessionsOf(second.user)).toHaveLength(1)

    const third = await enrolled()
    const open = delayed(third.user)
    const signingIn = signIn(open.deps, third.typed)
    await open.worked
    expect(await confirmOwnTotp(world.deps, third.session, third.code)).toHaveLength(10)
    expect(await findSession(world.deps, await signingIn)).toBeNull()
  })
})

describe('the second step', () => {
  it('respects state, login_hint, max_age, prompt and remembered consent in the standard dialect', async () => {
    const { user, currentCode } = await protectedPerson()
    const browser = client.newBrowser()
    const { verifier, challenge } = pkcePair()
    const pkce = { code_challenge: challenge, code_challenge_method: 'S256' }
    const first = await browser.open(rp.authorizeUrl({ ...pkce, login_hint: user.passport }))
    expect(formOn(signInForm, first).fields.passport).toBe(user.passport)
    const once = await visit(browser, rp.authorizeUrl(pkce), { user, code: currentCode })
    expect(once.pages).toEqual(['sign-in', 'code', 'consent'])
    expect(once.location.searchParams.get('state')).toBe('a state, with äöü')
    const code = once.location.searchParams.get('code') ?? ''
    const claims = claimsOf(tokensOf(await rp.exchange({ code, verifier })).id_token)
    expect(claims).toMatchObject({ amr: ['pwd', 'otp', 'mfa'], auth_time: world.clock.now().getTime() / 1000 })
    expect(claims).not.toHaveProperty('acr')
    const signedInAt = claims.auth_time
    world.clock.advance(60)
    // Consent is remembered and nothing is asked, but the id_token still says when and how the person signed in.
    const again = await rp.tokens(browser, user, { acr_values: `phr ${MULTI} 0` })
    expect(claimsOf(again.id_token)).toMatchObject({ acr: MULTI, amr: ['pwd', 'otp', 'mfa'], auth_time: signedInAt })
    for (const changes of [{ prompt: 'login' }, { max_age: '30' }, { prompt: 'select_account' }]) {
      world.clock.advance(60)
      const asked = await visit(browser, rp.authorizeUrl({ ...pkce, ...changes }), { user, code: currentCode })
      expect(asked.pages, JSON.stringify(changes)).toEqual(['sign-in', 'code'])
      expect(asked.location.searchParams.get('code')).toMatch(/^ghac_/)
    }
    const silent = await visit(browser, rp.authorizeUrl({ ...pkce, prompt: 'none' }))
    expect(silent.location.searchParams.get('code')).toMatch(/^ghac_/)
  })

  it('records the right password entered before it, at most six times an hour, in the history and the audit log', async () => {
    const { user, currentCode } = await protectedPerson()
    const traces = async () => {
      const { rows } = await world.pool.query(
        `select (select count(*)::int from sign_in where user_id = $1 and outcome = 'code_asked') as history,
           (select count(*)::int from audit_event where user_id = $1 and event = 'user_second_step_asked') as audit,
           (select count(*)::int from audit_event where user_id = $1 and event like 'user_sign_in_%') as refused`,
        [user.user_id],
      )
      return rows[0]
    }
    expect(await traces()).toEqual({ history: 0, audit: 0, refused: 0 })
    const browser = client.newBrowser()
    const page = await enterPassword(user, browser)
    expect(await traces()).toEqual({ history: 1, audit: 1, refused: 0 })
    for (let index = 0; index < 7; index++) await enterPassword(user)
    expect(await traces()).toEqual({ history: 6, audit: 6, refused: 0 })
    await enterCode(browser, page, currentCode())
    expect((await browser.send('GET', '/account/security')).text).toContain('Right password, code asked for')
  })

  it('ends the session of another person in the same browser only when it succeeds', async () => {
    const { user, secret, currentCode } = await protectedPerson()
    const credential = await findCredential(world.deps.db, user.passport)
    if (!credential) throw new Error('no credential')
    const step = openSecondStep(world.deps, beginSecondStep(world.deps, user.passport, credential))
    if (!step) throw new Error('no step')
    const other = await signedIn(await client.makeUser())
    const formerSession = other.cookies.get('gatehouse_session')
    await world.pool.query(`update user_credential set password_hash = 'x' where user_id = $1`, [user.user_id])
    const input = { step, code: currentTotp(secret), address: '192.0.2.9', formerSession }
    await expect(finishSignIn(world.deps, input)).rejects.toBeInstanceOf(SecondStepVoid)
    expect(await isSignedIn(other)).toBe(true)
    await world.pool.query('update user_credential set password_hash = $2 where user_id = $1', [
      user.user_id,
      credential.passwordHash,
    ])
    world.clock.advance(30)
    await finishSignIn(world.deps, { ...input, code: currentCode() })
    expect(await isSignedIn(other)).toBe(false)
  })

  it('does not count as signed in until the code is entered, with prompt=none either', async () => {
    const { user } = await protectedPerson()
    const browser = client.newBrowser()
    const page = await enterPassword(user, browser)
    formOn(codeForm, page)
    expect(await isSignedIn(browser)).toBe(false)
    const pkce = { code_challenge: pkcePair().challenge, code_challenge_method: 'S256' }
    const silent = await visit(browser, rp.authorizeUrl({ ...pkce, prompt: 'none' }))
    expect(silent.location.searchParams.get('error')).toBe('login_required')
  })

  it('keeps state and consent in the contract dialect (A1)', async () => {
    const { user, currentCode } = await protectedPerson()
    const app = await client.makeApp()
    const browser = client.newBrowser()
    const request = client.request(app)
    const page = await enterPassword(user, browser, client.authorizePath(request))
    const consent = await browser.follow(await enterCode(browser, page, currentCode()))
    const answer = await browser.submit(formOn(consentForm, consent), { decision: 'approve' })
    const { searchParams } = new URL(header(answer, 'location'))
    expect(searchParams.get('state')).toBe(request.state)
    const consented = { code: searchParams.get('code') ?? '', state: request.state ?? '' }
    expect(JSON.parse((await client.exchange(app, consented)).text)).toMatchObject({ rescode: 0 })
  })

  it('names the app that asked, also after a wrong code, but none that did not ask', async () => {
    const { user } = await protectedPerson()
    const browser = client.newBrowser()
    const app = await client.makeApp({ name: 'Sunny Trips' })
    const says = 'to continue to Sunny Trips.'
    const page = await enterPassword(user, browser, client.authorizePath(client.request(app)))
    expect(page.text).toContain(says)
    const again = await enterCode(browser, page, '000000')
    expect([again.status, again.text.includes(says)]).toEqual([403, true])
    const signed = /name="app" value="([^"]*)"/.exec(page.text)?.[1] ?? ''
    const elsewhere = await browser.open(`/sign-in/code?${new URLSearchParams({ return_to: '/account', app: signed })}`)
    expect([codeForm(elsewhere.text) === undefined, elsewhere.text.includes('to continue to')]).toEqual([false, false])
  })

  it('is required if acr_values requests it and the session used the password alone', async () => {
    const user = await client.makeUser()
    const browser = client.newBrowser()
    const wish = { acr_values: MULTI }
    const without = await rp.tokens(browser, user, wish)
    expect(claimsOf(without.id_token)).toMatchObject({ acr: '0' })
    expect(claimsOf(without.id_token)).not.toHaveProperty('amr')
    const secret = secretOn(await post(browser, '/account/security/authenticator'))
    await post(browser, '/account/security/authenticator/confirm', { code: currentTotp(secret) })
    // Makes the session look as if it was opened while SECOND_FACTOR was off.
    await world.pool.query('update browser_session set amr = null where user_id = $1', [user.user_id])
    world.clock.advance(60)
    const { verifier, challenge } = pkcePair()
    const pkce = { code_challenge: challenge, code_challenge_method: 'S256' }
    const silent = await visit(browser, rp.authorizeUrl({ ...pkce, ...wish, prompt: 'none' }))
    const code = silent.location.searchParams.get('code') ?? ''
    expect(claimsOf(tokensOf(await rp.exchange({ code, verifier })).id_token)).toMatchObject({ acr: '0' })
    const asked = await visit(browser, rp.authorizeUrl({ ...pkce, ...wish }), { user, code: () => currentTotp(secret) })
    expect(asked.pages).toEqual(['sign-in', 'code'])
    const second = asked.location.searchParams.get('code') ?? ''
    expect(claimsOf(tokensOf(await rp.exchange({ code: second, verifier })).id_token)).toMatchObject({ acr: MULTI })
  })

  it('is void after a password change, the end of all sessions, the erasure of the person, or ten minutes', async () => {
    const ends: Record<string, (user: User) => Promise<unknown>> = {
      password: async ({ cid, user_id }) => {
        const { url } = (await client.admin('POST', '/users/reset-password', { cid, user_id })) as { url: string }
        const token = new URL(url).searchParams.get('token') ?? ''
        const password = 'another password of theirs'
        return post(client.newBrowser(), '/password', { token, password, password_again: password })
      },
      sessions: async ({ cid, user_id }) => {
        world.clock.advance(1)
        await client.admin('POST', '/users/end-sessions', { cid, user_id })
      },
      person: ({ cid, user_id }) => client.admin('POST', '/users/erase', { cid, user_id }),
      time: async () => world.clock.advance(600),
    }
    for (const [what, end] of Object.entries(ends)) {
      const { user, currentCode } = await protectedPerson()
      const browser = client.newBrowser()
      const page = await enterPassword(user, browser)
      await end(user)
      const answer = await enterCode(browser, page, currentCode())
      expect(await isSignedIn(browser), what).toBe(false)
      expect(header(answer, 'location'), what).toMatch(/^\/sign-in\?.*ended=1/)
    }
  })

  it('begins again, without asking for an authenticator, once an operator has removed the factors', async () => {
    const { user, currentCode } = await protectedPerson()
    const browser = client.newBrowser()
    const page = await enterPassword(user, browser)
    const { cid, user_id } = user
    await client.admin('POST', '/users/remove-factors', { cid, user_id, reason: 'lost the phone; called back' })
    const reloaded = await browser.send('GET', '/sign-in/code?return_to=%2Faccount')
    expect([reloaded.status, header(reloaded, 'location')]).toEqual([303, '/sign-in?return_to=%2Faccount'])
    expect(header(await enterCode(browser, page, currentCode()), 'location')).toMatch(/^\/sign-in\?.*ended=1/)
    await enterPassword(user, browser)
    expect(await isSignedIn(browser)).toBe(true)
  })

  it('spends no recovery code if it is void, or if the person has signed in too often', async () => {
    const voided = await protectedPerson()
    const browser = client.newBrowser()
    const page = await enterPassword(voided.user, browser)
    world.clock.advance(1)
    const { cid, user_id } = voided.user
    await client.admin('POST', '/users/end-sessions', { cid, user_id })
    const answer = await enterCode(browser, page, voided.codes[0] ?? '')
    expect([answer.status, header(answer, 'location').includes('ended=1')]).toEqual([303, true])
    expect(await unusedCodes(voided.user)).toBe(10)

    const busy = await protectedPerson()
    const other = client.newBrowser()
    const asked = await enterPassword(busy.user, other)
    const person = { cid: busy.user.cid, userId: busy.user.user_id }
    const from = { address: '192.0.2.1', userAgent: undefined }
    for (let n = 0; n < 600; n++) await startSession(world.deps, person, from).catch(() => {})
    expect((await enterCode(other, asked, busy.codes[0] ?? '')).status).toBe(429)
    expect(await unusedCodes(busy.user)).toBe(10)
  })

  it('is bound to the browser: a forged or altered cookie restarts the sign-in', async () => {
    const { user, currentCode } = await protectedPerson()
    const browser = client.newBrowser()
    const page = await enterPassword(user, browser)
    const [name = '', value = ''] = [...browser.cookies].find(([known]) => known.includes('second_step')) ?? []
    const flipped = Buffer.from(value, 'base64url')
    flipped[20] = (flipped[20] ?? 0) ^ 1
    for (const forged of ['', 'x', flipped.toString('base64url'), `${value.slice(0, -8)}AAAAAAAA`]) {
      browser.cookies.set(name, forged)
      expect(header(await enterCode(browser, page, currentCode()), 'location'), forged).toMatch(/^\/sign-in\?/)
    }
    browser.cookies.set(name, value)
    await enterCode(browser, page, currentCode())
    expect(await isSignedIn(browser)).toBe(true)
  })
})

describe('a code', () => {
  const step = async ({ user }: Protected) => {
    const known = await findCredential(world.deps.db, user.passport)
    if (!known) throw new Error('no such person')
    const opened = openSecondStep(world.deps, beginSecondStep(world.deps, user.passport, known))
    if (!opened) throw new Error('not opened')
    return opened
  }
  const settled = async (work: readonly Promise<unknown>[]) =>
    (await Promise.allSettled(work)).filter(({ status }) => status === 'fulfilled').length

  it('is accepted once, even when used concurrently in two processes, and not again later', async () => {
    const config = readConfig({ DATABASE_URL: world.databaseUrl, SECRET_KEY, NODE_ENV: 'test' })
    const settings = { ...connectionOf(config, world.databaseUrl), size: 5 }
    const { db, close } = openDatabase(settings, world.log, { shards: SHARDS })
    const elsewhere = { ...world.deps, db, keys: deriveKeys(SECRET_KEY) }
    try {
      const person = await protectedPerson()
      const opened = await step(person)
      const many = [person.currentCode(), person.codes[3] ?? '']
      for (const code of many) {
        // Stay below the limit of failures: otherwise the right code would be refused if it came last (next test).
        const tries = Array.from({ length: FAILURES_ANYWHERE - 1 }, (_, index) =>
          finishSignIn(index % 2 ? elsewhere : world.deps, { step: opened, code, address: `203.0.${index}.7` }),
        )
        expect(await settled(tries), code).toBe(1)
        await world.pool.query('delete from failed_attempt')
        expect(await settled([finishSignIn(elsewhere, { step: opened, code, address: '203.0.113.9' })])).toBe(0)
      }
      expect((await person.browser.send('GET', '/account/security/sign-in')).text).toContain('not used: 9')
    } finally {
      await close()
    }
  })

  it('that is right is refused, and not spent, if too many others fail while it is checked', async () => {
    const person = await protectedPerson()
    const opened = await step(person)
    const code = person.currentCode()
    const guess = (deps: World['deps'], typed: string, address: string) =>
      finishSignIn(deps, { step: opened, code: typed, address })
    const wrong = String((Number(code) + 500_000) % 1_000_000).padStart(6, '0')
    const own = world.deps.db.of(opened.routingKey)
    const tx: Db['tx'] = async (work) => {
      const others = Array.from({ length: FAILURES_ANYWHERE }, (_, n) => guess(world.deps, wrong, `203.0.${n}.7`))
      expect(await settled(others)).toBe(0)
      return own.tx(work)
    }
    const db: Db = { ...world.deps.db, of: () => ({ ...own, tx }) }
    await expect(guess({ ...world.deps, db }, code, '203.0.99.7')).rejects.toThrow('too many')
    await world.pool.query('delete from failed_attempt')
    expect(await guess(world.deps, code, '203.0.99.7')).toMatch(/^ghbs_/)
  })

  it('for recovery is accepted as typed, counts as mfa without otp, and is replaced by the next ten', async () => {
    const { user, codes, browser: own, currentCode } = await protectedPerson()
    const browser = client.newBrowser()
    const typed = ` ${(codes[0] ?? '').replaceAll('-', ' ').toUpperCase()} `
    await enterCode(browser, await enterPassword(user, browser), typed)
    expect(claimsOf((await rp.tokens(browser, user)).id_token).amr).toEqual(['pwd', 'mfa'])
    expect(codesOn(await post(own, '/account/security/recovery-codes'))).toHaveLength(10)
    const later = client.newBrowser()
    const page = await enterPassword(user, later)
    expect((await enterCode(later, page, codes[1] ?? '')).status).toBe(403)
    await enterCode(later, page, currentCode())
    expect(await isSignedIn(later)).toBe(true)
  })

  it('of somebody else is refused', async () => {
    const [alice, bob] = [await protectedPerson(), await protectedPerson()]
    const browser = client.newBrowser()
    const page = await enterPassword(alice.user, browser)
    for (const code of [bob.currentCode(), bob.codes[0] ?? ''])
      expect((await enterCode(browser, page, code)).status).toBe(403)
  })

  it('that is wrong counts like a wrong password, and a right password does not reset the count', async () => {
    const { user, currentCode } = await protectedPerson()
    const browser = client.newBrowser()
    const seen: number[] = []
    for (let tries = 0; tries < 5; tries++) {
      const page = await enterPassword(user, browser)
      if (!codeForm(page.text)) break
      seen.push((await enterCode(browser, page, '000000')).status)
    }
    expect(seen).toEqual([403, 403, 403, 403])
    const locked = await enterPassword(user, browser)
    expect([locked.status, locked.text.includes('too many')]).toEqual([429, true])
    expect(
      await settled([
        finishSignIn(world.deps, {
          step: await step({ user } as Protected),
          code: currentCode(),
          address: '127.0.0.1',
        }),
      ]),
    ).toBe(0)
    const { rows } = await world.pool.query(
      `select event, detail from audit_event where user_id = $1 and event in ('user_sign_in_failed', 'user_sign_in_locked')`,
      [user.user_id],
    )
    const byCode = { event: 'user_sign_in_failed', detail: expect.objectContaining({ by: 'code' }) }
    expect(rows).toContainEqual(byCode) // all have the same timestamp, so their order is undefined
  })
})

describe('a change to the account’s protection', () => {
  it('requires a sign-in within the last quarter of an hour', async () => {
    const { user, browser, currentCode } = await protectedPerson()
    world.clock.advance(900)
    for (const path of ['/authenticator/remove', '/recovery-codes', '/authenticator']) {
      const answer = await post(browser, `/account/security${path}`)
      expect(header(answer, 'location'), path).toBe(
        '/sign-in?return_to=%2Faccount%2Fsecurity%2Fsign-in%23unsent&confirm=1',
      )
    }
    expect(header(await browser.send('GET', '/password'), 'location')).toBe('/sign-in?return_to=%2Fpassword&confirm=1')
    const change = { current_password: user.password, password: 'next password', password_again: 'next password' }
    expect(header(await post(browser, '/password', change), 'location')).toContain('confirm=1')
    const asks = await browser.open('/sign-in?return_to=%2Faccount%2Fsecurity%2Fsign-in&confirm=1')
    expect([formOn(signInForm, asks).fields.passport, asks.text.includes('Confirm that it is you')]).toEqual([
      user.passport,
      true,
    ])
    const { passport, password } = user
    const page = await browser.follow(await browser.submit(formOn(signInForm, asks), { passport, password }))
    const back = await browser.follow(await enterCode(browser, page, currentCode()))
    expect(back.text).toContain('In use since')
    await post(browser, '/account/security/authenticator/remove')
    expect(await isSignedIn(await signedIn(user))).toBe(true)
  })

  it('is refused to a session of the password alone if an authenticator is active', async () => {
    const { app, browser: open } = await appWith('off')
    try {
      const { user, browser: own } = await protectedPerson()
      const without = open()
      await enterPassword(user, without)
      const browser = client.newBrowser()
      for (const [name, value] of without.cookies) browser.cookies.set(name, value)
      expect(await isSignedIn(browser)).toBe(true)
      for (const path of ['/authenticator/remove', '/recovery-codes', '/passkeys', '/passkeys/remove']) {
        const answer = await post(browser, `/account/security${path}`)
        expect(header(answer, 'location'), path).toBe(
          '/sign-in?return_to=%2Faccount%2Fsecurity%2Fsign-in%23unsent&confirm=1',
        )
      }
      const change = { current_password: user.password, password: 'next password', password_again: 'next password' }
      expect(header(await post(browser, '/password', change), 'location')).toContain('confirm=1')
      expect(header(await browser.send('GET', '/password'), 'location')).toContain('confirm=1')
      const page = await browser.send('GET', '/account/security/sign-in')
      expect(page.text).toContain('you will be asked to sign in again')
      expect(page.text).not.toContain('data-passkey="create"')
      expect((await own.send('GET', '/account/security/sign-in')).text).toContain('not used: 10')
    } finally {
      await app.close()
    }
  })

  it('ends the other sessions if it removes a passkey, which may have opened one of them', async () => {
    const { user, browser, currentCode } = await protectedPerson()
    const { rows } = await world.pool.query(
      `insert into passkey (routing_key, cid, user_id, credential_id, public_key, counter, transports, name, created_at)
       select routing_key, cid, user_id, $1, '', 0, '{}', 'Lost phone', now() from user_profile where user_id = $2
       returning passkey_id`,
      [Buffer.from(user.user_id), user.user_id],
    )
    const other = client.newBrowser()
    await enterCode(other, await enterPassword(user, other), currentCode())
    expect(await isSignedIn(other)).toBe(true)
    await post(browser, '/account/security/passkeys/remove', { passkey_id: rows[0].passkey_id })
    expect([await isSignedIn(browser), await isSignedIn(other)]).toEqual([true, false])
  })
})

/** The same service with another SECOND_FACTOR. */
async function appWith(SECOND_FACTOR: 'off' | 'required') {
  const deps = { ...world.deps, config: { ...world.deps.config, SECOND_FACTOR, PASSKEYS: false } }
  const app = await buildApp({ deps, log: world.log, readiness: { draining: false } })
  await app.ready()
  return { app, browser: () => new Browser(injectWire(app), world.deps.config.PUBLIC_URL) }
}

describe('SECOND_FACTOR', () => {
  it('required makes everybody add an authenticator while signing in, and then returns to the requested page', async () => {
    const { app, browser: open } = await appWith('required')
    try {
      const [user, browser] = [await client.makeUser(), open()]
      const begin = await enterPassword(user, browser, '/sign-in?return_to=%2Faccount%2Fsecurity%2Fsign-in')
      expect(await isSignedIn(browser)).toBe(false)
      expect(codeForm(begin.text)).toBeUndefined()
      const made = await post(browser, '/sign-in/code/authenticator', { return_to: '/account/security/sign-in' })
      expect((await enterCode(browser, made, '000000')).status).toBe(403)
      const done = await enterCode(browser, made, currentTotp(secretOn(made)))
      expect([done.status, codesOn(done).length]).toEqual([200, 10])
      expect(done.text).toContain('href="/account/security/sign-in"')
      expect(await isSignedIn(browser)).toBe(true)
      world.clock.advance(60)
      expect(codeForm((await enterPassword(user, open())).text)).toBeDefined()
      const path = client.authorizePath(client.request(await client.makeApp({ name: 'Sunny Trips' })))
      expect((await enterPassword(await client.makeUser(), open(), path)).text).toContain('to continue to Sunny Trips.')
    } finally {
      await app.close()
    }
  })

  it('required voids an unfinished enrolment when the password changes or an operator ends the sessions', async () => {
    const { app, browser: open } = await appWith('required')
    const ends: Record<string, (user: User) => Promise<unknown>> = {
      sessions: async ({ cid, user_id }) => {
        world.clock.advance(1)
        await client.admin('POST', '/users/end-sessions', { cid, user_id })
      },
      password: ({ user_id }) =>
        world.pool.query(`update user_credential set password_hash = 'another' where user_id = $1`, [user_id]),
    }
    try {
      for (const [what, end] of Object.entries(ends)) {
        const [user, browser] = [await client.makeUser(), open()]
        const totp = async () =>
          (await world.pool.query('select confirmed_at, sealed from user_totp where user_id = $1', [user.user_id])).rows
        await enterPassword(user, browser)
        const made = await post(browser, '/sign-in/code/authenticator')
        const [before] = await totp()
        await end(user)
        const late = await enterCode(browser, made, currentTotp(secretOn(made)))
        expect(header(late, 'location'), what).toMatch(/^\/sign-in\?.*ended=1/)
        expect(await isSignedIn(browser), what).toBe(false)
        expect(header(await post(browser, '/sign-in/code/authenticator'), 'location'), what).toMatch(/^\/sign-in\?/)
        expect(await totp(), what).toEqual([{ confirmed_at: null, sealed: before.sealed }])
      }
    } finally {
      await app.close()
    }
  })

  it('off neither offers nor requires an authenticator', async () => {
    const { app, browser: open } = await appWith('off')
    try {
      const { user } = await protectedPerson()
      const browser = open()
      await enterPassword(user, browser)
      expect(await isSignedIn(browser)).toBe(true)
      expect((await post(browser, '/account/security/authenticator')).status).toBe(404)
      expect((await browser.send('GET', '/.well-known/openid-configuration')).text).toContain(
        '"acr_values_supported":["0"]',
      )
    } finally {
      await app.close()
    }
  })
})

describe('an operator', () => {
  it('removes lost factors, giving a reason; sessions end and the person is mailed', async () => {
    const passport = `somebody${Date.now()}@example.com`
    const { user, browser } = await protectedPerson({ passport })
    const { cid, user_id } = user
    const shown = await client.admin('GET', `/users/${cid}/${user_id}/factors`)
    expect(shown).toMatchObject({ recovery_codes: 10, totp_since: expect.any(String) })
    const call = (reason?: string) => client.admin('POST', '/users/remove-factors', { cid, user_id, reason })
    await expect(call()).rejects.toThrow()
    expect(await call('lost the phone; called back')).toMatchObject({ recovery_codes: 10 })
    expect(await isSignedIn(browser)).toBe(false)
    expect(await isSignedIn(await signedIn(user))).toBe(true)
    const { rows } = await world.pool.query(`select detail from audit_event where event = 'user_factors_removed'`)
    expect(rows.at(-1)).toEqual({ detail: { reason: 'lost the phone; called back' } })
    const { rows: jobs } = await world.pool.query(
      `select payload from graphile_worker._private_jobs j join graphile_worker._private_tasks t on t.id = j.task_id
       where t.identifier = 'send-person-mail' and payload ->> 'kind' <> 'new_device' order by j.id`,
    )
    expect(jobs).toEqual(
      ['totp_added', 'factors_removed'].map((kind) => ({
        payload: expect.objectContaining({ userId: user_id, kind }),
      })),
    )
    expect(JSON.stringify(jobs)).not.toContain('example.com')
    expect(await call('again')).toMatchObject({ totp_since: null, recovery_codes: 0 })
  })
})
