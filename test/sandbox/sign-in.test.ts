import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { signInPartner } from '../../src/sandbox/portal/session.ts'
import { suspendPartner } from '../../src/ticketing/partners/partner.ts'
import { rotatePartnerSecret, switchSigning } from '../../src/ticketing/partners/secret.ts'
import { formsOf } from '../acceptance/form.ts'
import { openWorld, type World } from '../harness.ts'
import { withoutConnections } from '../outage.ts'
import { cookieOf, get, newSandboxPartner, post, type SandboxPartner, sessionOf, signIn } from './partners.ts'

let world: World
let partner: SandboxPartner
beforeAll(async () => {
  world = await openWorld()
  partner = await newSandboxPartner(world)
})
afterAll(() => world.close())
beforeEach(() => world.pool.query('delete from failed_attempt'))

const wrong = () => ({ ...partner, client_secret: 'a-wrong-secret' })
const isSignedIn = async (cookie: string) => (await get(world, '/sandbox', cookie)).statusCode === 200

describe('signing in to the sandbox', () => {
  it('sets a cookie for the sandbox only and leads to the requested page', async () => {
    const answer = await signIn(world, partner, {}, '/sandbox/signature?x=1')
    expect(answer.statusCode).toBe(303)
    expect(answer.headers.location).toBe('/sandbox/signature?x=1')
    expect(answer.headers['set-cookie']).toEqual([
      expect.stringMatching(
        /^gatehouse_sandbox=ghss_[\w-]{48}; Max-Age=43200; Path=\/sandbox; HttpOnly; SameSite=Lax$/,
      ),
      expect.stringMatching(
        /^gatehouse_sandbox_device=[\w.-]{46,}; Max-Age=15552000; Path=\/sandbox\/sign-in; HttpOnly; SameSite=Lax$/,
      ),
    ])
    const page = await get(world, '/sandbox', cookieOf(answer))
    expect(page.statusCode).toBe(200)
    expect(page.body).toContain('Lakeside Tickets')
  })

  it('accepts the clientSecret under the former name of the password field', async () => {
    const { client_id, client_secret } = partner
    expect((await post(world, '/sandbox/sign-in', { client_id, client_secret }, {})).statusCode).toBe(303)
    expect((await post(world, '/sandbox/sign-in', { client_id, client_secret: 'wrong' }, {})).statusCode).toBe(403)
    expect((await post(world, '/sandbox/sign-in', { client_id }, {})).statusCode).toBe(400)
  })

  it('binds the cookie to this host under https, and accepts it under no other name', async () => {
    const secure = await openWorld({ PUBLIC_URL: 'https://gate.example' })
    const answer = await signIn(secure, await newSandboxPartner(secure))
    const cookie = String(answer.headers['set-cookie']).split(';')[0] ?? ''
    const [own, planted] = [
      await get(secure, '/sandbox', cookie),
      await get(secure, '/sandbox', cookie.replace('__Host-', '')),
    ]
    await secure.close()
    expect(answer.headers['set-cookie']).toContainEqual(
      expect.stringMatching(
        /^__Host-gatehouse_sandbox=ghss_[\w-]{48}; Max-Age=43200; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
      ),
    )
    expect([own.statusCode, planted.statusCode]).toEqual([200, 302])
  })

  it('stores nothing of the session but a keyed hash', async () => {
    const cookie = await sessionOf(world, partner)
    const { rows } = await world.pool.query(
      "select session_hash, encode(session_hash, 'escape') || s::text as kept from sandbox_session s",
    )
    expect(rows.length).toBeGreaterThan(0)
    const text = cookie.split('ghss_')[1] ?? ''
    const random = Buffer.from(text, 'base64url').subarray(6, 27)
    for (const { kept, session_hash } of rows) {
      expect(kept).not.toContain(text)
      expect(session_hash).toHaveLength(32)
      expect(session_hash.includes(random.subarray(0, 8))).toBe(false)
    }
  })

  it('ignores whitespace around pasted values', async () => {
    const padded = { client_id: ` ${partner.client_id}\t`, client_secret: ` ${partner.client_secret} ` }
    expect((await signIn(world, padded)).statusCode).toBe(303)
  })

  it('gives the same answer for an unknown clientId and a wrong secret, and does not repeat the secret', async () => {
    const [known, unknown] = [await signIn(world, wrong()), await signIn(world, { ...wrong(), client_id: 'nobody' })]
    expect(known.statusCode).toBe(403)
    expect(cookieOf(known)).toBe('')
    expect(known.body).toContain('The clientId or the clientSecret is wrong.')
    expect(known.body).not.toContain('a-wrong-secret')
    expect(unknown.body.replaceAll('nobody', partner.client_id)).toBe(known.body)
    expect(world.logged()).not.toContain('a-wrong-secret')
  })

  it('refuses another partner’s secret', async () => {
    const other = await newSandboxPartner(world)
    expect((await signIn(world, { ...partner, client_secret: other.client_secret })).statusCode).toBe(403)
  })

  it.each<Record<string, string>>([
    {},
    { client_id: 'x' },
    { client_id: 'x', password: '   ' },
    { client_id: 'x\0y', password: 'z' },
    { client_id: 'x', password: 'a\0b' },
    { client_id: 'x'.repeat(65), password: 'z' },
    { client_id: 'x', mail: 'no-address', password: 'z' },
  ])('treats %j as incomplete', async (fields) => {
    const { statusCode, body } = await post(world, '/sandbox/sign-in', fields)
    expect(statusCode).toBe(400)
    expect(body).toContain('Enter your clientId and your password')
  })

  it('shows an incomplete form again with what was typed', async () => {
    const typed = { client_id: partner.client_id, mail: 'not a mail', password: 'a password' }
    const { statusCode, body } = await post(world, '/sandbox/sign-in', typed, {})
    expect(statusCode).toBe(400)
    expect(body).toContain(`value="${partner.client_id}"`)
    expect(body).toContain('value="not a mail"')
    expect(body).not.toContain('a password')
  })

  it('locks a clientId out after too many failures, even with the right secret', async () => {
    for (let failures = 0; failures < 5; failures++) expect((await signIn(world, wrong())).statusCode).toBe(403)
    world.clock.advance(200)
    const limited = await signIn(world, partner)
    expect(limited.statusCode).toBe(429)
    expect(limited.headers['retry-after']).toBe('700')
    expect(limited.body).toContain('Please try again in 12 minutes.')
    const other = await newSandboxPartner(world)
    expect((await signIn(world, other)).statusCode).toBe(303)
    world.clock.advance(701)
    expect((await signIn(world, partner)).statusCode).toBe(303)
  })

  it('starts the count of failures anew when it succeeds', async () => {
    for (const failures of [4, 4]) {
      for (let wrongly = 0; wrongly < failures; wrongly++) {
        expect((await signIn(world, wrong())).statusCode).toBe(403)
      }
      expect((await signIn(world, partner)).statusCode).toBe(303)
    }
  })

  it('locks out neither other networks nor a browser that has signed in before', async () => {
    const owner = await newSandboxPartner(world)
    const cookies = [(await signIn(world, owner)).headers['set-cookie']].flat()
    const cookie = cookies.find((line) => line?.startsWith('gatehouse_sandbox_device'))?.split(';')[0] ?? ''
    // More than the global limit, but guesses that are already refused do not count towards it.
    await Promise.all(Array.from({ length: 60 }, () => signIn(world, { ...owner, client_secret: 'wrong' })))
    expect((await signIn(world, owner)).statusCode).toBe(429)
    expect((await signIn(world, owner, { cookie })).statusCode).toBe(303)
    const { client_id: clientId, client_secret: clientSecret } = owner
    expect(await signInPartner(world.deps, { clientId, password: clientSecret, address: '198.51.100.7' })).toMatch(
      /^ghss_/,
    )
  })

  it('locks a network out after too many failures with any clientIds', async () => {
    const strict = await openWorld({ SIGN_IN_FAILURES_PER_ADDRESS: '2' })
    const guessed = await newSandboxPartner(strict)
    for (const client_id of ['a', 'b']) await signIn(strict, { ...wrong(), client_id })
    const limited = await signIn(strict, guessed)
    await strict.close()
    expect(limited.statusCode).toBe(429)
  })

  it('answers no more simultaneous guesses than the limit allows', async () => {
    const answers = await Promise.all(Array.from({ length: 30 }, () => signIn(world, wrong())))
    expect(answers.filter(({ statusCode }) => statusCode === 403).length).toBeLessThanOrEqual(5)
  })

  it('says that a partner is suspended, but only with the right secret', async () => {
    const suspended = await newSandboxPartner(world)
    await suspendPartner(world.deps, suspended.partner_id)
    const answer = await signIn(world, suspended)
    expect(answer.statusCode).toBe(403)
    expect(answer.body).toContain('This partner is suspended.')
    expect((await signIn(world, { ...suspended, client_secret: 'x' })).body).not.toContain('suspended')
  })

  it('accepts both secrets during a rotation, and the old one only until it expires', async () => {
    const rotating = await newSandboxPartner(world)
    const { client_secret } = await rotatePartnerSecret(world.deps, rotating.partner_id, { overlap_s: 600 })
    const renewed = { ...rotating, client_secret }
    const [byOld, byNew] = [await sessionOf(world, rotating), await sessionOf(world, renewed)]
    expect([await isSignedIn(byOld), await isSignedIn(byNew)]).toEqual([true, true])
    await switchSigning(world.deps, rotating.partner_id, async () => ({ ok: true, detail: '' }))
    world.clock.advance(601)
    expect([await isSignedIn(byOld), await isSignedIn(byNew)]).toEqual([false, true])
    expect((await signIn(world, rotating)).statusCode).toBe(403)
  })

  it('leads nowhere but into the sandbox', async () => {
    for (const away of [
      'https://evil.example/',
      '//evil.example',
      '/oauth/v2/authorize',
      '/sandboxed',
      '/sandbox/../',
    ]) {
      expect((await signIn(world, partner, {}, away)).headers.location, away).toBe('/sandbox')
    }
  })

  it('accepts no form from another origin, and nothing but forms', async () => {
    for (const site of ['cross-site', 'same-site']) {
      expect((await signIn(world, partner, { 'sec-fetch-site': site })).statusCode).toBe(403)
    }
    const { client_id, client_secret: password } = partner
    const payload = JSON.stringify({ client_id, password })
    for (const type of ['application/json', 'text/plain']) {
      const headers = { 'content-type': type }
      const answer = await world.app.inject({ method: 'POST', url: '/sandbox/sign-in', payload, headers })
      expect(answer.statusCode).toBe(400)
    }
  })
})

describe('a session', () => {
  it('ends after its lifetime, when its partner is suspended, and after sign-out', async () => {
    const leaving = await newSandboxPartner(world)
    const [old, left] = [await sessionOf(world, leaving), await sessionOf(world, leaving)]
    const out = await post(world, '/sandbox/sign-out', {}, { cookie: left })
    expect(out.headers.location).toBe('/sandbox/sign-in')
    expect(out.headers['set-cookie']).toMatch(/^gatehouse_sandbox=; Max-Age=0; Path=\/sandbox; /)
    expect([await isSignedIn(left), await isSignedIn(old)]).toEqual([false, true])
    world.clock.advance(world.deps.config.SESSION_LIFETIME_S)
    expect(await isSignedIn(old)).toBe(false)
    const cut = await sessionOf(world, leaving)
    await world.pool.query('update sandbox_session set expires_at = $1', [world.clock.now()])
    expect(await isSignedIn(cut)).toBe(false)
    const fresh = await sessionOf(world, leaving)
    await suspendPartner(world.deps, leaving.partner_id)
    expect(await isSignedIn(fresh)).toBe(false)
  })

  it('is replaced by the next sign-in of the same browser', async () => {
    const cookie = await sessionOf(world, partner)
    const next = cookieOf(await signIn(world, partner, { cookie }))
    expect([await isSignedIn(cookie), await isSignedIn(next)]).toEqual([false, true])
  })

  it.each(['', 'gatehouse_sandbox=', 'gatehouse_sandbox=x', `gatehouse_sandbox=ghss_${'A'.repeat(48)}`])(
    'does not exist for the cookie %j',
    async (cookie) => expect(await isSignedIn(cookie)).toBe(false),
  )

  it('is not the session of a user', async () => {
    const cookie = (await sessionOf(world, partner)).replace('gatehouse_sandbox=ghss_', 'gatehouse_session=ghbs_')
    expect((await world.app.inject({ url: '/', headers: { cookie } })).body).toContain('href="/sign-in"')
  })
})

describe('without a session', () => {
  it('a page leads to the sign-in and back to itself', async () => {
    const { statusCode, headers } = await get(world, '/sandbox?a=1%20&b=%26')
    expect(statusCode).toBe(302)
    expect(headers.location).toBe('/sandbox/sign-in?return_to=%2Fsandbox%3Fa%3D1%2520%26b%3D%2526')
    const page = await get(world, String(headers.location))
    expect(page.body).toContain('name="return_to" value="/sandbox?a=1%20&amp;b=%26"')
    expect(page.body).not.toContain('Your session has ended')
  })

  it('the sign-in page says that the session has ended if there was one', async () => {
    const { headers } = await get(world, '/sandbox', 'gatehouse_sandbox=x')
    expect((await get(world, String(headers.location))).body).toContain('Your session has ended.')
  })

  it('scripts get a 401', async () => {
    for (const accept of ['text/event-stream', 'application/json']) {
      const answer = await get(world, '/sandbox', '', { accept })
      expect(answer.statusCode).toBe(401)
      // 20015 is reserved for operators.
      const message = 'Invalid request: the session has ended; sign in again at /sandbox/sign-in'
      expect(answer.json()).toEqual({ rescode: 20007, data: { message } })
    }
  })
})

describe('an error', () => {
  it('is a page that leads back into the sandbox, in the reader’s language', async () => {
    const cookie = await sessionOf(world, partner)
    const missing = await get(world, '/sandbox/nothing/here?secret=canary', cookie, { 'accept-language': 'zh' })
    expect(missing.statusCode).toBe(404)
    expect(missing.body).toContain('页面不存在')
    expect(missing.body).toContain('href="/sandbox"')
    expect(missing.body).not.toContain('/nothing/here')
    expect((await get(world, '/sandbox/nothing', cookie, { accept: '*/*' })).json()).toMatchObject({ rescode: 20007 })
    const foreign = await post(world, '/sandbox/sign-out', {}, { cookie, 'sec-fetch-site': 'cross-site' })
    expect(foreign.statusCode).toBe(403)
    expect(foreign.body).toContain('This form was not accepted')
    expect(await isSignedIn(cookie)).toBe(true)
  })

  it('without a database gives back the form that was sent, to be sent again once it is there', async () => {
    const away = await openWorld()
    onTestFinished(() => away.close())
    const own = await newSandboxPartner(away)
    const cookie = await sessionOf(away, own)
    const sent = { mail: 'not a "mail" <b>\r\nat all', role: 'developer' }
    const end = withoutConnections(away.pool)
    const answer = await post(away, '/sandbox/members/invite', sent, { cookie })
    const withSecret = await post(away, '/sandbox/sign-in', { client_id: 'x', password: 'hidden-words' })
    end()
    expect(answer.statusCode).toBe(503)
    expect(answer.body).toContain('nothing that you typed is lost')
    const form = formsOf(answer.body).find(({ action }) => action === '/sandbox/members/invite')
    expect(form?.fields).toEqual(sent)
    expect(withSecret.body).not.toMatch(/hidden-words|name="client_id"/)
    const again = await post(away, form?.action ?? '', { ...form?.fields } as Record<string, string>, { cookie })
    expect(again.statusCode).toBe(400)
    expect(again.body).toContain('Enter an email address')
  })

  it('of a form whose work had begun when the database went away offers no second try', async () => {
    const away = await openWorld()
    onTestFinished(() => away.close())
    const cookie = await sessionOf(away, await newSandboxPartner(away))
    const end = withoutConnections(away.pool, 1)
    const answer = await post(away, '/sandbox/members/invite', { mail: 'a@example.com', role: 'owner' }, { cookie })
    end()
    expect(answer.statusCode).toBe(503)
    expect(answer.body).not.toMatch(/nothing that you typed is lost|name="mail"/)
  })

  it('without a database is a 503 page and loses nothing: session and form work once the database is back', async () => {
    const away = await openWorld()
    onTestFinished(() => away.close())
    const own = await newSandboxPartner(away)
    const cookie = await sessionOf(away, own)
    const end = withoutConnections(away.pool)
    const page = await get(away, '/sandbox', cookie)
    const typed: number[] = []
    // More often than a password may be wrong.
    for (let tries = 0; tries < 6; tries++) typed.push((await signIn(away, own)).statusCode)
    end()
    expect(page.statusCode).toBe(503)
    expect(page.headers['retry-after']).toBe('2')
    expect(page.body).toContain('Something went wrong on our side')
    expect(page.body).toContain('nothing that you did is lost')
    expect(typed).toEqual(Array(6).fill(503))
    expect((await get(away, '/sandbox', cookie)).statusCode).toBe(200)
    expect((await signIn(away, own)).statusCode).toBe(303)
  })
})
