import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { inviteAgain, inviteMember } from '../../src/ticketing/members/change.ts'
import { useLink } from '../../src/ticketing/members/password.ts'
import { showPartner, suspendPartner } from '../../src/ticketing/partners/partner.ts'
import { formsOf } from '../acceptance/form.ts'
import { openWorld, type World } from '../harness.ts'
import {
  askedForPassword,
  invited,
  joined,
  memberSession,
  PASSWORD,
  signInMember,
  tokenFor,
} from '../members/people.ts'
import { signedHeaders } from '../signer.ts'
import { cookieOf, get, newSandboxPartner, post, type SandboxPartner, sessionOf, signIn } from './partners.ts'

let world: World
let partner: SandboxPartner
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())
beforeEach(async () => {
  partner = await newSandboxPartner(world)
  await world.pool.query('delete from failed_attempt')
})

const OWNER = 'owner@example.com'
const DEV = 'dev@example.com'
const statusOf = async (cookie: string, path = '/sandbox') => (await get(world, path, cookie)).statusCode
const join = (token: string, password = PASSWORD, password_again = password) =>
  post(world, '/sandbox/join', { token, password, password_again })
const setPassword = async (token: string, password: string) =>
  expect((await join(token, password)).statusCode).toBe(303)
const team = async () => ({
  owner: await joined(world, partner, OWNER),
  dev: await joined(world, partner, DEV, 'developer'),
})

describe('the clientSecret', () => {
  it('signs in as owner until the first member has joined; an invitation does not end that', async () => {
    const cookie = await sessionOf(world, partner)
    const sent = await post(world, '/sandbox/members/invite', { mail: OWNER, role: 'owner' }, { cookie })
    expect(sent.headers.location).toBe('/sandbox/members?done=invited')
    expect((await signIn(world, partner)).statusCode).toBe(303)
    const page = await get(world, String(sent.headers.location), cookie)
    for (const said of [
      OWNER,
      'The invitation is on its way.',
      'No mail server is configured, so emails are written to',
      'You are signed in with the clientSecret.',
    ])
      expect(page.body).toContain(said)
  })

  it('shows an invitation that was refused with the address and the role that were given', async () => {
    await joined(world, partner, OWNER)
    const cookie = await memberSession(world, partner, OWNER)
    for (const mail of ['nobody@', OWNER]) {
      const { statusCode, body } = await post(world, '/sandbox/members/invite', { mail, role: 'owner' }, { cookie })
      expect(statusCode).toBe(mail === OWNER ? 409 : 400)
      expect(body).toContain(`value="${mail}"`)
      expect(body).toMatch(/value="owner"[^>]* checked/)
    }
  })

  it('no longer signs in while there is a member; sessions from before stay ended even after that member is removed', async () => {
    const cookie = await sessionOf(world, partner)
    await joined(world, partner, OWNER)
    expect(await statusOf(cookie)).toBe(302)
    const refused = await signIn(world, partner)
    expect(refused.statusCode).toBe(403)
    expect(refused.body).toContain('The clientSecret no longer signs in here')
    expect((await signIn(world, { ...partner, client_secret: 'wrong' })).body).not.toContain('no longer signs in here:')
    await world.app.inject({
      method: 'POST',
      url: `/admin/v1/partners/${partner.partner_id}/members/remove`,
      headers: { authorization: `Bearer ${world.deps.config.ADMIN_TOKEN}` },
      payload: { mail: OWNER.toUpperCase() },
    })
    expect(await statusOf(cookie)).toBe(302)
    world.clock.advance(1)
    expect(await statusOf(await sessionOf(world, partner))).toBe(200)
  })

  it('still signs calls of the signature tool and of the headless API', async () => {
    await joined(world, partner, OWNER)
    const caller = {
      partnerId: String(partner.partner_id),
      clientId: partner.client_id,
      clientSecret: partner.client_secret,
    }
    for (const [method, path] of [
      ['POST', '/mtp/api/order/test/ba'],
      ['GET', '/sandbox/api/runs'],
    ] as const) {
      const headers = { ...signedHeaders(caller, { method, path, date: world.clock.now().toUTCString() }) }
      const answer = await world.app.inject({
        method,
        url: path,
        headers,
        ...(method === 'POST' ? { payload: '{}' } : {}),
      })
      expect([answer.statusCode, answer.json().code ?? 200], path).toEqual([200, 200])
    }
  })
})

describe('a member', () => {
  it('signs in with email address, in any case, and password; signing out keeps the clientId at hand', async () => {
    await joined(world, partner, OWNER)
    const answer = await signInMember(world, partner, ' Owner@Example.com ')
    expect(answer.statusCode).toBe(303)
    const cookie = cookieOf(answer)
    const page = await get(world, '/sandbox', cookie)
    expect(page.body).toContain(OWNER)
    expect(page.body).toContain('href="/sandbox/members"')
    const out = await post(world, '/sandbox/sign-out', {}, { cookie })
    expect(out.headers.location).toBe(`/sandbox/sign-in?client_id=${partner.client_id}`)
    expect(await statusOf(cookie)).toBe(302)
  })

  it('cannot send a form from a page that another member has opened', async () => {
    const [left, now] = ['left@example.com', 'now@example.com']
    for (const mail of [left, now]) await joined(world, partner, mail)
    const form_of = async (mail: string) => {
      const { body } = await get(world, '/sandbox/members', await memberSession(world, partner, mail))
      return String(formsOf(body).find(({ action }) => action === '/sandbox/members/invite')?.fields.form_of)
    }
    const cookie = await memberSession(world, partner, now)
    const invite = async (mail: string) =>
      post(
        world,
        '/sandbox/members/invite',
        { form_of: await form_of(mail), mail: `${mail}.cn`, role: 'developer' },
        { cookie },
      )
    const refused = await invite(left)
    expect([refused.statusCode, refused.body]).toEqual([400, expect.stringContaining('opened for another account')])
    expect((await invite(now)).headers.location).toBe('/sandbox/members?done=invited')
  })

  it('can belong to two partners, with a separate password for each', async () => {
    const other = await newSandboxPartner(world)
    await joined(world, partner, OWNER)
    const { token } = await invited(world, other, OWNER)
    await setPassword(token, `${PASSWORD} other`)
    expect((await signInMember(world, other, OWNER)).statusCode).toBe(403)
    expect((await signInMember(world, other, OWNER, { password: `${PASSWORD} other` })).statusCode).toBe(303)
  })

  it('gets the same answer, after the same work, for an unknown address, an unknown partner and a wrong password', async () => {
    await joined(world, partner, OWNER)
    await invited(world, partner, DEV, 'developer')
    // Every password is checked through this queue.
    const checked = vi.spyOn(world.deps.passwordSlots, 'run')
    onTestFinished(() => checked.mockRestore())
    const wrong = await signInMember(world, partner, OWNER, { password: 'a-wrong-password' })
    expect(checked).toHaveBeenCalledTimes(1)
    expect(wrong.statusCode).toBe(403)
    expect(wrong.body).toContain('The clientId, the email address or the password is wrong.')
    for (const [who, mail] of [
      [partner, 'else@example.com'],
      [partner, DEV],
      [{ client_id: 'nobody' }, OWNER],
    ] as const) {
      checked.mockClear()
      const { statusCode, body } = await signInMember(world, who, mail)
      expect(statusCode).toBe(403)
      expect(checked, mail).toHaveBeenCalledTimes(1)
      const same = body.replaceAll(mail, OWNER).replaceAll('nobody', partner.client_id)
      expect(same).toBe(wrong.body)
    }
    expect(world.logged()).not.toContain('a-wrong-password')
  })

  it('is locked out after too many failures, except in a known browser; colleagues are not', async () => {
    await team()
    const known = [(await signInMember(world, partner, OWNER)).headers['set-cookie']].flat()
    const cookie = known.find((line) => line?.startsWith('gatehouse_sandbox_device'))?.split(';')[0] ?? ''
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => signInMember(world, partner, OWNER, { password: 'wrong' })),
    )
    expect(answers.filter(({ statusCode }) => statusCode === 403).length).toBeLessThanOrEqual(5)
    expect((await signInMember(world, partner, OWNER)).statusCode).toBe(429)
    expect((await signInMember(world, partner, OWNER, { headers: { cookie } })).statusCode).toBe(303)
    expect((await signInMember(world, partner, DEV)).statusCode).toBe(303)
  })

  it('of a suspended partner is told so, but only with the right password', async () => {
    await joined(world, partner, OWNER)
    const cookie = await memberSession(world, partner, OWNER)
    await suspendPartner(world.deps, partner.partner_id)
    expect((await signInMember(world, partner, OWNER)).body).toContain('This partner is suspended.')
    expect(await statusOf(cookie)).toBe(302)
  })
})

describe('open sessions', () => {
  it('end when their member is removed, and no others do', async () => {
    const { dev } = await team()
    const [owner, gone] = [await memberSession(world, partner, OWNER), await memberSession(world, partner, DEV)]
    const removed = await post(world, `/sandbox/members/${dev}/remove`, {}, { cookie: owner })
    expect(removed.headers.location).toBe('/sandbox/members?done=removed')
    expect([await statusOf(owner), await statusOf(gone)]).toEqual([200, 302])
    expect((await signInMember(world, partner, DEV)).statusCode).toBe(403)
  })

  it('end when their member sets a new password, and no others do', async () => {
    await team()
    const [owner, old] = [await memberSession(world, partner, OWNER), await memberSession(world, partner, DEV)]
    await setPassword(await askedForPassword(world, partner, DEV), `${PASSWORD} new`)
    expect([await statusOf(owner), await statusOf(old)]).toEqual([200, 302])
    expect((await signInMember(world, partner, DEV)).statusCode).toBe(403)
    expect(await statusOf(await memberSession(world, partner, DEV, `${PASSWORD} new`))).toBe(200)
  })

  it('follow a change of role at once', async () => {
    const { dev } = await team()
    const [owner, cookie] = [await memberSession(world, partner, OWNER), await memberSession(world, partner, DEV)]
    expect(await statusOf(cookie, '/sandbox/members')).toBe(403)
    await post(world, `/sandbox/members/${dev}/role`, { role: 'owner' }, { cookie: owner })
    expect(await statusOf(cookie, '/sandbox/members')).toBe(200)
    await post(world, `/sandbox/members/${dev}/role`, { role: 'developer' }, { cookie: owner })
    expect(await statusOf(cookie, '/sandbox/members')).toBe(403)
  })
})

describe('a link', () => {
  it('sets neither a common password nor the address or clientId as password, and still works after that', async () => {
    const { token } = await invited(world, partner, OWNER)
    for (const [password, text] of [
      ['1QAZ2wsx3edc', 'This password is among those that attackers try first'],
      [OWNER.toUpperCase(), 'The password must not be what you sign in with'],
      [partner.client_id, 'The password must not be what you sign in with'],
    ] as const) {
      const page = await join(token, password)
      expect([page.statusCode, page.body.includes(text)], password).toEqual([400, true])
    }
    expect((await join(token)).statusCode).toBe(303)
  })

  it('is not used up by GET, and leaves no trace of its token', async () => {
    const { token } = await invited(world, partner, OWNER)
    for (let opened = 0; opened < 3; opened++) {
      const page = await get(world, `/sandbox/join?token=${token}`)
      expect(page.statusCode).toBe(200)
      expect(page.headers['referrer-policy']).toBe('no-referrer')
      expect(page.headers['cache-control']).toBe('no-store')
      expect(page.body).toContain('<meta name="referrer" content="strict-origin">')
    }
    const done = await join(token)
    expect(done.statusCode).toBe(303)
    expect(world.logged()).not.toContain(token.slice(5))
  })

  it('signs the new member in, in place of any other session, until the password changes', async () => {
    const former = await sessionOf(world, await newSandboxPartner(world))
    const { token, memberId } = await invited(world, partner, OWNER)
    const fields = { token, password: PASSWORD, password_again: PASSWORD }
    const done = await post(world, '/sandbox/join', fields, { cookie: former })
    expect([done.statusCode, done.headers.location]).toEqual([303, '/sandbox'])
    const cookie = cookieOf(done)
    expect((await get(world, '/sandbox', cookie)).body).toContain(OWNER)
    expect(await statusOf(former)).toBe(302)
    const { rows } = await world.pool.query(
      "select actor_name as name from audit_event where event = 'partner_signed_in' and partner_id = $1",
      [partner.partner_id],
    )
    expect(rows).toEqual([{ name: memberId }])
    // The link is used up and signs nobody in again.
    expect((await join(token)).headers['set-cookie']).toBeUndefined()
    await setPassword(await askedForPassword(world, partner, OWNER), `${PASSWORD} new`)
    expect(await statusOf(cookie)).toBe(302)
  })

  it('leaves the member, the address and the request in the audit log, whatever it sets', async () => {
    const { token, memberId } = await invited(world, partner, OWNER)
    const answers = [await join(token), await join(await askedForPassword(world, partner, OWNER), `${PASSWORD} new`)]
    const { rows } = await world.pool.query(
      `select event, actor_name as name, address, request_id as request from audit_event
       where event in ('member_joined', 'member_password_set') and partner_id = $1 order by event`,
      [partner.partner_id],
    )
    expect(rows).toEqual(
      ['member_joined', 'member_password_set'].map((event, place) => ({
        ...{ event, name: memberId, address: '127.0.0.1' },
        request: answers[place]?.headers['x-request-id'],
      })),
    )
  })

  it('of a suspended partner signs nobody in', async () => {
    const { token } = await invited(world, partner, OWNER)
    await suspendPartner(world.deps, partner.partner_id)
    const done = await join(token)
    expect(done.headers.location).toBe(`/sandbox/sign-in?client_id=${partner.client_id}&ready=1`)
    expect(done.headers['set-cookie']).toBeUndefined()
  })

  it('for a new password leads to the sign-in page, which says that the password is set', async () => {
    await joined(world, partner, OWNER)
    const done = await join(await askedForPassword(world, partner, OWNER), `${PASSWORD} new`)
    expect(done.headers.location).toBe(`/sandbox/sign-in?client_id=${partner.client_id}&ready=1`)
    expect(done.headers['set-cookie']).toBeUndefined()
    const page = await get(world, String(done.headers.location))
    expect(page.body).toContain('Your password is set.')
    expect(page.body).toContain(`value="${partner.client_id}"`)
  })

  it.each<[string, string, string]>([
    ['short', 'short', 'The password needs 10 to 1024 characters.'],
    [`${PASSWORD}`, `${PASSWORD} `, 'The two passwords are not the same.'],
  ])('stays usable when the passwords are %j and %j', async (password, again, said) => {
    const { token } = await invited(world, partner, OWNER)
    const answer = await join(token, password, again)
    expect([answer.statusCode, answer.body.includes(said)]).toEqual([400, true])
    expect(answer.body).not.toContain(password.repeat(2))
    expect((await join(token)).statusCode).toBe(303)
  })

  it.each<[string, string, number, string]>([
    ['is forged', `ghml_${'A'.repeat(48)}`, 404, 'The link is not complete'],
    ['is another token', `ghss_${'A'.repeat(48)}`, 404, 'The link is not complete'],
    ['is missing', '', 404, 'The link is not complete'],
  ])('that %s can be neither shown nor used', async (_what, token, status, said) => {
    for (const answer of [await get(world, `/sandbox/join?token=${token}`), await join(token)]) {
      expect([answer.statusCode, answer.body.includes(said)]).toEqual([status, true])
    }
  })

  it('that was used, or has expired, says so', async () => {
    const { token } = await invited(world, partner, OWNER)
    await join(token)
    const used = await join(token)
    expect([used.statusCode, used.body.includes('The link has been used.')]).toEqual([410, true])
    const late = await invited(world, partner, DEV, 'developer')
    world.clock.advance(7 * 86_400 + 1)
    const expired = await get(world, `/sandbox/join?token=${late.token}`)
    expect([expired.statusCode, expired.body.includes('The link has expired.')]).toEqual([410, true])
  })

  it('accepts no form from another origin', async () => {
    const { token } = await invited(world, partner, OWNER)
    const fields = { token, password: PASSWORD, password_again: PASSWORD }
    expect((await post(world, '/sandbox/join', fields, { 'sec-fetch-site': 'cross-site' })).statusCode).toBe(403)
    expect((await join(token)).statusCode).toBe(303)
  })
})

it.each(['again', 'remove', 'role'])('an invalid member id is not found: %s', async (what) => {
  await joined(world, partner, OWNER)
  const cookie = await memberSession(world, partner, OWNER)
  const answer = await post(world, `/sandbox/members/%00/${what}`, { role: 'owner' }, { cookie })
  expect(answer.statusCode).toBe(404)
})

describe('a forgotten password', () => {
  const ask = (mail: string, client_id = partner.client_id) => post(world, '/sandbox/forgotten', { client_id, mail })
  const jobs = async () =>
    (
      await world.pool.query(
        "select task_identifier as task from graphile_worker.jobs where task_identifier = 'member-password'",
      )
    ).rowCount

  it('gets the same answer and queues the same work for members and others', async () => {
    await joined(world, partner, OWNER)
    await invited(world, partner, DEV, 'developer')
    const before = await jobs()
    const known = await ask(OWNER)
    expect(known.statusCode).toBe(200)
    expect(known.body).toContain(`If ${OWNER} belongs to a member of`)
    for (const [mail, id] of [
      [DEV, partner.client_id],
      ['else@example.com', partner.client_id],
      [OWNER, 'nobody'],
    ] as const) {
      const { statusCode, body } = await ask(mail, id)
      expect(statusCode).toBe(200)
      expect(body.replaceAll(mail, OWNER).replaceAll('nobody', partner.client_id)).toBe(known.body)
    }
    expect(await jobs()).toBe(Number(before) + 4)
  })

  it('sends nothing to anyone who is not a member', async () => {
    await joined(world, partner, OWNER)
    await expect(askedForPassword(world, partner, 'else@example.com')).rejects.toThrow('no link')
    expect(await askedForPassword(world, partner, OWNER)).toMatch(/^ghml_/)
  })

  it('can be reported five times an hour per member, and thirty times from one network', async () => {
    for (let asked = 0; asked < 5; asked++) expect((await ask('a@example.com')).statusCode).toBe(200)
    const limited = await ask('A@example.com')
    expect(limited.statusCode).toBe(429)
    expect(Number(limited.headers['retry-after'])).toBeGreaterThan(3_000)
    expect(limited.body).toContain('There were too many such requests.')
    const answers: number[] = []
    for (let asked = 0; asked < 30; asked++) answers.push((await ask(`b${asked}@example.com`)).statusCode)
    expect(answers.filter((status) => status === 200)).toHaveLength(25)
    expect((await ask('no address')).statusCode).toBe(400)
  })

  it('is mailed at most ten times a day to one address, and a further request is refused', async () => {
    await joined(world, partner, OWNER)
    const onItsWay = 'an email with a link is on its way'
    // The same for members and others.
    for (const address of [OWNER, 'else@example.com']) {
      for (let asked = 0; asked < 10; asked++) {
        if (asked % 5 === 0) world.clock.advance(3_601)
        expect((await ask(address)).body).toContain(onItsWay)
      }
      world.clock.advance(3_601)
      const before = await jobs()
      const limited = await ask(address.toUpperCase())
      expect(limited.statusCode).toBe(429)
      expect(Number(limited.headers['retry-after'])).toBeGreaterThan(3_601)
      expect(limited.body).not.toContain('on its way')
      expect(await jobs()).toBe(before)
    }
  })

  it('is mailed once more a day per network when strangers elsewhere have used up the limit', async () => {
    await joined(world, partner, OWNER)
    const from = (remoteAddress: string) =>
      world.app.inject({
        ...{ method: 'POST', url: '/sandbox/forgotten', remoteAddress },
        headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' },
        payload: new URLSearchParams({ client_id: partner.client_id, mail: OWNER }).toString(),
      })
    for (let asked = 0; asked < 24; asked++) {
      if (asked % 5 === 0) world.clock.advance(3_601)
      await from(`198.51.100.${asked}`)
    }
    expect((await from('198.51.100.77')).statusCode).toBe(429)
    expect((await from('203.0.113.9')).statusCode).toBe(200)
    expect((await from('203.0.113.8')).statusCode).toBe(429)
  })

  it('is mailed however many invitations went to the address', async () => {
    await joined(world, partner, OWNER)
    const { memberId } = await invited(world, partner, DEV, 'developer')
    for (let sent = 0; sent < 12; sent++) {
      await inviteAgain(world.deps, partner.partner_id, memberId).catch(() => undefined)
    }
    await useLink(world.deps, await tokenFor(world, DEV), PASSWORD)
    expect((await ask(DEV)).body).toContain('on its way')
    expect(await askedForPassword(world, partner, DEV)).toMatch(/^ghml_/)
  })
})

describe('the page for owners', () => {
  const PATHS = ['/sandbox/members', '/sandbox/secret']
  const FORMS = [
    '/sandbox/members/invite',
    '/sandbox/secret/rotate',
    '/sandbox/secret/switch',
    '/sandbox/secret/retire',
  ]

  it('is closed to developers, who can open everything else', async () => {
    const { owner } = await team()
    const cookie = await memberSession(world, partner, DEV)
    for (const path of PATHS) {
      const page = await get(world, path, cookie)
      expect([page.statusCode, page.body.includes('For owners only')]).toEqual([403, true])
    }
    for (const path of [...FORMS, `/sandbox/members/${owner}/remove`, `/sandbox/members/${owner}/role`]) {
      const fields = { mail: 'x@example.com', role: 'owner' }
      expect((await post(world, path, fields, { cookie })).statusCode, path).toBe(403)
    }
    for (const path of ['', '/signature', '/functions', '/run', '/history', '/traffic', '/docs']) {
      expect(await statusOf(cookie, `/sandbox${path}`), path).not.toBe(403)
    }
    expect((await get(world, '/sandbox', cookie)).body).not.toContain('href="/sandbox/members"')
  })

  it('refuses a form without a role or with an unknown one as bad input', async () => {
    const { dev } = await team()
    const cookie = await memberSession(world, partner, OWNER)
    for (const fields of [{}, { role: 'king' }]) {
      const answer = await post(world, `/sandbox/members/${dev}/role`, fields, { cookie })
      expect(answer.statusCode).toBe(400)
      expect(answer.body).toContain('role')
    }
  })

  it('is not the only restriction: a developer cannot change the contacts either', async () => {
    await team()
    const fields = {
      action: 'contacts',
      'contact.product.name': 'Lin',
      'contact.product.mail': 'lin@example.com',
      'contact.business.name': 'Bo',
      'contact.business.mail': 'bo@example.com',
    }
    const send = async (mail: string) =>
      (await post(world, '/sandbox/functions', fields, { cookie: await memberSession(world, partner, mail) }))
        .statusCode
    const contacts = async () => (await showPartner(world.deps, partner.partner_id)).contacts
    expect([await send(DEV), await contacts()]).toEqual([403, {}])
    expect([await send(OWNER), Object.keys(await contacts())]).toEqual([200, ['product', 'business']])
  })

  it('leads to the sign-in page without a session', async () => {
    for (const path of PATHS) expect((await get(world, path)).headers.location).toContain('/sandbox/sign-in?')
    for (const path of FORMS) expect((await post(world, path, {})).headers.location).toContain('ended=1')
  })

  it.each<[string, (ids: { owner: string; dev: string }) => [string, Record<string, string>], number, string, string]>([
    [
      'an invitation to the address of a member',
      () => ['invite', { mail: 'DEV@example.com', role: 'owner' }],
      409,
      'belongs to a member already',
      '该邮箱已是成员',
    ],
    [
      'an invalid address',
      () => ['invite', { mail: 'x', role: 'owner' }],
      400,
      'Enter an email address',
      '请输入有效的邮箱地址',
    ],
    ['no role', () => ['invite', { mail: 'x@example.com' }], 400, 'Enter an email address', '请输入有效的邮箱地址'],
    [
      'to remove the last owner',
      ({ owner }) => [`${owner}/remove`, {}],
      409,
      'at least one owner',
      '至少需要一位所有者',
    ],
    [
      'to demote the last owner',
      ({ owner }) => [`${owner}/role`, { role: 'developer' }],
      409,
      'at least one owner',
      '至少需要一位所有者',
    ],
    ['to invite a member again', ({ dev }) => [`${dev}/invite`, {}], 409, 'has joined already', '该成员已加入'],
    [
      'a member who no longer exists',
      () => ['00000000-0000-4000-8000-000000000000/remove', {}],
      404,
      'no such member any more',
      '该成员已不存在',
    ],
    ['an invalid id', () => ["x'/role", { role: 'owner' }], 404, 'no such member any more', '该成员已不存在'],
  ])('refuses %s in both languages', async (_what, request, status, en, zh) => {
    const ids = await team()
    const cookie = await memberSession(world, partner, OWNER)
    const [path, fields] = request(ids)
    for (const [language, text] of [
      ['en', en],
      ['zh-CN', zh],
    ] as const) {
      const answer = await post(world, `/sandbox/members/${path}`, fields, { cookie, 'accept-language': language })
      expect([answer.statusCode, answer.body.includes(text)], answer.body).toEqual([status, true])
    }
  })

  it('cannot change the members of another partner', async () => {
    const other = await newSandboxPartner(world)
    const stranger = await joined(world, other, OWNER)
    await team()
    const cookie = await memberSession(world, partner, OWNER)
    for (const action of ['remove', 'role', 'invite']) {
      const answer = await post(world, `/sandbox/members/${stranger}/${action}`, { role: 'developer' }, { cookie })
      expect(answer.statusCode).toBe(404)
    }
    expect((await signInMember(world, other, OWNER)).statusCode).toBe(303)
  })

  it('allows at most 20 open invitations', async () => {
    await joined(world, partner, OWNER)
    for (let number = 0; number < 20; number++)
      await inviteMember(world.deps, partner.partner_id, { mail: `d${number}@example.com`, role: 'developer' })
    const cookie = await memberSession(world, partner, OWNER)
    const answer = await post(world, '/sandbox/members/invite', { mail: DEV, role: 'developer' }, { cookie })
    expect([answer.statusCode, answer.body.includes('20 invitations are open')]).toEqual([409, true])
    expect(answer.body).toContain(`value="${DEV}"`)
  })
})
