import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { OWN_PROFILE } from '../../src/authorization/account/index.ts'
import { TASKS } from '../../src/operations/jobs/tasks.ts'
import { readConfig } from '../../src/platform/config/index.ts'
import type { Browser } from '../acceptance/browser.ts'
import { Client, type User } from '../acceptance/client.ts'
import { visibleText } from '../acceptance/form.ts'
import { type Answer, injectWire } from '../acceptance/http.ts'
import { openWorld, type World } from '../harness.ts'
import { untilLocked } from '../locks.ts'
import { bodyOf, StandardApp } from '../oidc/app.ts'
import { hook, type PostOffice, postOffice } from '../sandbox/notify/post-office.ts'

/** Changing one's profile; a new address or number is verified first, with a real mail server and hook. */

let mailServer: PostOffice
let receiver: Awaited<ReturnType<typeof hook>>
let world: World
let client: Client
beforeAll(async () => {
  mailServer = await postOffice()
  receiver = await hook(204, ...Array<number>(100).fill(204))
  world = await openWorld({
    SMTP_URL: mailServer.url,
    PASSWORD_RESET_HOOK: receiver.url,
    PASSWORD_RESET_HOOK_SECRET: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
    PARTNER_ADDRESS_ALLOW: new URL(receiver.url).host,
  })
  client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
})
afterAll(async () => {
  await world.close()
  await mailServer.close()
  receiver.close()
})
beforeEach(async () => {
  await world.pool.query('delete from failed_attempt')
  mailServer.mails.length = 0
  receiver.deliveries.length = 0
})

let serial = 0
const newPerson = () => client.makeUser({ passport: `own${++serial}@example.com`, phone_number: '13800000001' })
async function signedIn({ passport, password }: User, by = client): Promise<Browser> {
  const browser = by.newBrowser()
  await browser.send('POST', '/sign-in', { passport, password })
  await runJobs()
  mailServer.mails.length = 0
  return browser
}
async function runJobs(): Promise<string> {
  const { rows } = await world.pool.query(
    `select t.identifier, payload from graphile_worker._private_jobs j
     join graphile_worker._private_tasks t on t.id = j.task_id
     where t.identifier in ('send-person-mail', 'send-contact-code') order by j.id`,
  )
  await world.pool.query('delete from graphile_worker._private_jobs')
  for (const { identifier, payload } of rows) {
    const job = { id: '1', log: world.log, signal: AbortSignal.timeout(10_000) }
    await TASKS[identifier as 'send-contact-code'](world.deps, payload, job)
  }
  return JSON.stringify(rows)
}
const storedProfile = async ({ user_id }: User) =>
  (
    await world.pool.query(
      `select name, gender, big_avatar_url as avatar, phone_number as phone,
         (select coalesce(passport_shown, passport) from user_credential c where c.user_id = u.user_id) as passport
       from user_profile u where user_id = $1`,
      [user_id],
    )
  ).rows[0]
const alertOf = ({ text }: Answer) => /role="alert"[^>]*>([^<]*)/.exec(text)?.[1]
const requestChange = (browser: Browser, kind: 'phone' | 'mail', value: string) =>
  browser.send('POST', `/account/profile/${kind}`, { value })
const confirm = (browser: Browser, kind: 'phone' | 'mail', code: string) =>
  browser.send('POST', `/account/profile/${kind}/confirm`, { code })
const codeTo = (address: string) =>
  /\b(\d{6})\b/.exec(String(mailServer.to(address).at(-1)?.mail.text).replace(/\d{4}-\d\d-\d\d.*/g, ''))?.[1] ?? ''
const hooked = () => JSON.parse(receiver.deliveries.at(-1)?.body ?? '{}')
const wrong = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, '0')
const page = async (browser: Browser) =>
  visibleText((await browser.open('/account/profile?ui_locales=en')).text).replace(/\s+/g, ' ')

it('a code for a new address is void once an operator sets the address', async () => {
  const user = await newPerson()
  const browser = await signedIn(user)
  const [wanted, given] = [`wanted${serial}@example.com`, `given${serial}@example.com`]
  await requestChange(browser, 'mail', wanted)
  await runJobs()
  const { cid, user_id } = user
  await client.admin('POST', '/users/update', { cid, user_id, passport: given })
  await confirm(browser, 'mail', codeTo(wanted))
  expect(await storedProfile(user)).toMatchObject({ passport: given })
})

describe('name, picture and gender', () => {
  it('set updated_at for apps when they change, as a new number or address does', async () => {
    const user = await newPerson()
    const rp = await StandardApp.make(client)
    const { access_token } = await rp.tokens(client.newBrowser(), user)
    const updatedAt = async () => Number(bodyOf(await rp.userInfo(access_token)).updated_at)
    const now = () => Math.floor(world.clock.now().getTime() / 1000)
    const createdAt = await updatedAt()
    expect(createdAt).toBe(now())
    world.clock.advance(100)
    const browser = await signedIn(user)
    await browser.send('POST', '/account/profile', { name: 'Ann' })
    expect(await updatedAt()).toBe(now())
    world.clock.advance(100)
    await browser.send('POST', '/account/profile', { name: 'Ann' })
    await requestChange(browser, 'phone', '+8613900000077')
    expect(await updatedAt()).toBe(createdAt + 100)
    await runJobs()
    await confirm(browser, 'phone', hooked().data.code)
    expect(await updatedAt()).toBe(now())
    world.clock.advance(100)
    await requestChange(browser, 'mail', `dated${serial}@example.com`)
    await runJobs()
    await confirm(browser, 'mail', codeTo(`dated${serial}@example.com`))
    expect(await updatedAt()).toBe(now())
  })

  it('are unchanged if the form omits them', async () => {
    const user = await newPerson()
    const browser = await signedIn(user)
    const before = await storedProfile(user)
    await browser.send('POST', '/account/profile', { gender: '2' })
    await browser.send('POST', '/account/profile', { name: 'Ann' })
    expect(await storedProfile(user)).toEqual({ ...before, gender: '2', name: 'Ann' })
  })

  it('can be changed by the person, and are audited without their values', async () => {
    const user = await newPerson()
    const browser = await signedIn(user)
    const fields = { name: ' Ann <b> Example ', big_avatar_url: 'https://pictures.example/a.png', gender: '2' }
    const answer = await browser.send('POST', '/account/profile', fields)
    expect([answer.status, answer.headers.location]).toEqual([303, '/account/profile?done=saved'])
    expect(await storedProfile(user)).toMatchObject({
      name: 'Ann <b> Example',
      avatar: fields.big_avatar_url,
      gender: '2',
    })
    expect(await page(browser)).toContain('Ann <b> Example')
    const { rows } = await world.pool.query(
      `select detail from audit_event where event = 'user_profile_changed' and user_id = $1`,
      [user.user_id],
    )
    expect(rows).toEqual([{ detail: { fields: ['name', 'gender', 'avatar'] } }])
  })

  it('are shown unmasked to the person, and an unmodified form changes nothing', async () => {
    const user = await client.makeUser({
      passport: `own${++serial}@example.com`,
      name: 'Lin Yue',
      big_avatar_url: 'https://pictures.example/lin.png',
      phone_number: '13800000001',
      gender: '2',
    })
    const browser = await signedIn(user)
    const before = await storedProfile(user)
    const { text } = await browser.open('/account/profile')
    const typedIn = (name: string) => new RegExp(`name="${name}" [^>]*value="([^"]*)"`).exec(text)?.[1] ?? ''
    const fields = { name: 'Lin Yue', gender: '2', big_avatar_url: typedIn('big_avatar_url') }
    expect([text.includes('value="Lin Yue"'), fields.big_avatar_url]).toEqual([true, before.avatar])
    expect(await page(browser)).toContain('13800000001')
    expect((await browser.send('POST', '/account/profile', fields)).status).toBe(303)
    expect(await storedProfile(user)).toEqual(before)
    expect((await requestChange(browser, 'phone', '13800000001')).status).toBe(400)
  })

  it('are refused with an error message if invalid, and nothing is changed', async () => {
    const user = await newPerson()
    const browser = await signedIn(user)
    const before = await storedProfile(user)
    const right = { name: 'Ann', big_avatar_url: 'https://pictures.example/a.png', gender: '1' }
    for (const [field, value] of [
      ['name', ''],
      ['name', 'x'.repeat(101)],
      ['name', 'a\u202eb'],
      ['name', '\u200b'],
      ['name', '\u3164'],
      ['gender', '3'],
      ['big_avatar_url', 'http://pictures.example/a.png'],
      ['big_avatar_url', 'javascript:alert(1)'],
    ] as const) {
      const answer = await browser.send('POST', '/account/profile', { ...right, [field]: value })
      expect([answer.status, alertOf(answer)?.length], `${field} ${value}`).toEqual([400, expect.any(Number)])
    }
    expect(await storedProfile(user)).toEqual(before)
  })

  it('are shown as typed, beside the reason, when they are refused', async () => {
    const browser = await signedIn(await newPerson())
    const typed = { name: 'x'.repeat(101), gender: '1', big_avatar_url: 'https://pictures.example/typed.png' }
    const { text } = await browser.send('POST', '/account/profile', typed)
    expect(text).toMatch(/id="name" name="name" value="x{101}"[^>]* aria-describedby="alert"/)
    expect(text).toContain('value="https://pictures.example/typed.png"')
    expect(text).toMatch(/<option value="1" selected>/)
    const phone = await browser.send('POST', '/account/profile/phone', { value: '12ab' })
    expect(phone.text).toMatch(
      /<details open>[\s\S]*name="value"[^>]* value="12ab"[^>]* aria-describedby="phone-hint alert"/,
    )
  })
})

describe('a new mail address', () => {
  it('takes effect when its code is entered: it signs in, older password links end, and the old address is notified', async () => {
    const user = await newPerson()
    const browser = await signedIn(user)
    const { cid, user_id } = user
    const { url } = (await client.admin('POST', '/users/reset-password', { cid, user_id })) as { url: string }
    const next = `Next${serial}@example.com`
    expect((await requestChange(browser, 'mail', next)).status).toBe(303)
    expect(await page(browser)).toContain(`A code was sent to ${next}`)
    const queued = await runJobs()
    const code = codeTo(next)
    expect(code).toMatch(/^\d{6}$/)
    expect(mailServer.to(next)[0]?.mail.subject).toBe('确认您的新邮箱 / Confirm your new email address')
    for (const secret of [code, next]) expect(queued).not.toContain(secret)
    expect((await storedProfile(user)).passport).toBe(user.passport)
    expect((await confirm(browser, 'mail', ` ${code.slice(0, 3)} ${code.slice(3)}`)).status).toBe(303)
    expect((await storedProfile(user)).passport).toBe(next)
    await runJobs()
    expect(mailServer.to(user.passport).map(({ mail }) => mail.subject)).toEqual([
      '您的登录邮箱已更改 / The email address of your account was changed',
    ])
    expect((await client.call('GET', new URL(url).pathname + new URL(url).search)).status).toBe(410)
    const again = client.newBrowser()
    await again.send('POST', '/sign-in', { passport: next, password: user.password })
    expect((await again.send('GET', '/account')).status).toBe(200)
    const old = await client.newBrowser().send('POST', '/sign-in', { ...user } as never)
    expect(old.status).toBe(403)
    expect((await confirm(browser, 'mail', code)).status).toBe(409)
  })

  it('that belongs to somebody else is only reported after its code is entered', async () => {
    const [user, other] = [await newPerson(), await newPerson()]
    const browser = await signedIn(user)
    expect((await requestChange(browser, 'mail', other.passport)).status).toBe(303)
    await runJobs()
    const answer = await confirm(browser, 'mail', codeTo(other.passport))
    expect([answer.status, alertOf(answer)]).toEqual([409, 'Another account has this address. Nothing was changed.'])
    expect(await storedProfile(user)).toMatchObject({ passport: user.passport })
    expect(await storedProfile(other)).toMatchObject({ passport: other.passport })
  })

  it('that another account gets concurrently is refused, and nothing is changed', async () => {
    const user = await newPerson()
    const browser = await signedIn(user)
    const wanted = `both${serial}@example.com`
    await requestChange(browser, 'mail', wanted)
    await runJobs()
    const other = await world.pool.connect()
    await other.query('begin')
    await other.query(
      `insert into user_credential (passport, password_hash, routing_key, cid, user_id) values ($1, '', 0, 0, 'other')`,
      [wanted],
    )
    const confirmed = confirm(browser, 'mail', codeTo(wanted))
    await untilLocked(world.pool)
    await other.query('commit')
    other.release()
    const answer = await confirmed
    expect([answer.status, alertOf(answer)]).toEqual([409, 'Another account has this address. Nothing was changed.'])
    expect(await storedProfile(user)).toMatchObject({ passport: user.passport })
  })

  it('must be valid and differ from the present one', async () => {
    const user = await newPerson()
    const browser = await signedIn(user)
    for (const value of ['', 'nobody', 'a@b', `${'x'.repeat(130)}@example.com`, user.passport])
      expect((await requestChange(browser, 'mail', value)).status, value).toBe(400)
    expect(await runJobs()).toBe('[]')
  })
})

describe('a new phone number', () => {
  it('is verified by a code sent through the hook, and the person is mailed', async () => {
    const user = await newPerson()
    const browser = await signedIn(user)
    await requestChange(browser, 'phone', '+8613900000002')
    await runJobs()
    const { type, data } = hooked()
    expect([type, data]).toEqual([
      'user.contact_code',
      {
        cid: user.cid,
        user_id: user.user_id,
        phone_number: '+8613900000002',
        code: expect.stringMatching(/^\d{6}$/),
        expires_at: expect.any(String),
      },
    ])
    expect((await confirm(browser, 'phone', wrong(data.code))).status).toBe(403)
    expect((await storedProfile(user)).phone).toBe('13800000001')
    expect((await confirm(browser, 'phone', data.code)).headers.location).toBe('/account/profile?done=phone')
    expect((await storedProfile(user)).phone).toBe('+8613900000002')
    await runJobs()
    expect(mailServer.to(user.passport).at(-1)?.mail.subject).toContain('The phone number of your account was changed')
  })
})

describe('a code', () => {
  it('allows five tries across all sessions within ten minutes, and is replaced by a newer one', async () => {
    const user = await newPerson()
    const browsers = [await signedIn(user), await signedIn(user)]
    const [browser, other] = browsers as [Browser, Browser]
    await requestChange(browser, 'phone', '13900000003')
    await runJobs()
    const first = hooked().data.code
    const tries: number[] = []
    for (let n = 0; n < 6; n++) tries.push((await confirm(n % 2 ? other : browser, 'phone', wrong(first))).status)
    expect(tries).toEqual([403, 403, 403, 403, 403, 409])
    expect((await confirm(browser, 'phone', first)).status).toBe(409)
    await requestChange(browser, 'phone', '13900000004')
    await runJobs()
    const second = hooked().data.code
    world.clock.advance(600)
    expect((await confirm(browser, 'phone', second)).status).toBe(409)
    const late = await signedIn(user)
    await requestChange(late, 'phone', '13900000005')
    await requestChange(late, 'phone', '13900000006')
    await runJobs()
    expect(receiver.deliveries.map(({ body }) => JSON.parse(body).data.phone_number)).toEqual([
      ...['13900000003', '13900000004', '13900000006'],
    ])
    expect((await confirm(late, 'phone', hooked().data.code)).status).toBe(303)
  })

  it('works for exactly one of several concurrent requests, and racing guesses get five tries', async () => {
    const user = await newPerson()
    const browser = await signedIn(user)
    await requestChange(browser, 'phone', '13900000007')
    await runJobs()
    const { code } = hooked().data
    const all = await Promise.all(Array.from({ length: 8 }, () => confirm(browser, 'phone', code)))
    expect(all.filter(({ headers }) => headers.location?.includes('done')).length).toBe(1)
    await requestChange(browser, 'phone', '13900000008')
    await runJobs()
    const guesses = await Promise.all(
      Array.from({ length: 12 }, () => confirm(browser, 'phone', wrong(hooked().data.code))),
    )
    expect(guesses.filter(({ status }) => status === 403)).toHaveLength(5)
  })

  it('is sent at most five times an hour per person, three times per number, and thirty times per network', async () => {
    const user = await newPerson()
    const browser = await signedIn(user)
    const sent = async (values: string[], by = browser) => {
      const all: number[] = []
      for (const value of values) all.push((await requestChange(by, 'phone', value)).status)
      return all
    }
    expect(await sent(['13900000010', '13900000010', '13900000010', '13900000010'])).toEqual([303, 303, 303, 429])
    // The refused request counted too.
    expect(await sent(['13900000011', '13900000012', '13900000013'])).toEqual([303, 429, 429])
    // A person over their limit does not use up the limit of a number.
    expect(await sent(Array(4).fill('13900000014'))).toEqual([429, 429, 429, 429])
    expect(await sent(['13900000014'], await signedIn(await newPerson()))).toEqual([303])
    let statuses: number[] = []
    for (let n = 0; n < 6; n++) {
      const by = await signedIn(await newPerson())
      statuses = [
        ...statuses,
        ...(await sent(
          Array.from({ length: 5 }, (_, at) => `1390000${n}${at}00`),
          by,
        )),
      ]
    }
    expect(statuses.filter((status) => status === 429)).toHaveLength(6)
  })

  it('is sent at most three times to one address or number, however it is spelled', async () => {
    const sent = async (kind: 'phone' | 'mail', ...values: string[]) => {
      const browser = await signedIn(await newPerson())
      const all: number[] = []
      for (const value of values) all.push((await requestChange(browser, kind, value)).status)
      return all
    }
    expect(await sent('mail', 'one@example.com', 'One@example.com', 'one@Example.com', 'ONE@example.com')).toEqual([
      ...[303, 303, 303, 429],
    ])
    expect(await sent('phone', '13900000040', '+8613900000040', '13900000040', '+8613900000040')).toEqual([
      ...[303, 303, 303, 429],
    ])
  })

  it('is sent at least once per person, even if others have used that number, up to a total', async () => {
    const statuses = async (times: number) => {
      const browser = await signedIn(await newPerson())
      const all: number[] = []
      for (let sent = 0; sent < times; sent++) all.push((await requestChange(browser, 'phone', '13900000050')).status)
      return all
    }
    expect(await statuses(4)).toEqual([303, 303, 303, 429])
    expect(await statuses(2), 'by another person, perhaps its owner').toEqual([303, 429])
    for (let strangers = 0; strangers < 10; strangers++) expect(await statuses(1)).toEqual([303])
    expect(await statuses(1), 'so that nobody’s phone is flooded').toEqual([429])
  })

  it('works only for its person, from our own pages, within a quarter of an hour after signing in', async () => {
    const [user, other] = [await newPerson(), await newPerson()]
    const [browser, theirs] = [await signedIn(user), await signedIn(other)]
    await requestChange(browser, 'phone', '13900000020')
    await runJobs()
    const { code } = hooked().data
    expect((await confirm(theirs, 'phone', code)).status).toBe(409)
    const type = 'application/x-www-form-urlencoded'
    for (const path of ['', '/phone', '/phone/confirm', '/mail', '/mail/confirm']) {
      const headers = { cookie: browser.cookieHeader, 'sec-fetch-site': 'cross-site', 'content-type': type }
      expect((await client.call('POST', `/account/profile${path}`, headers, `code=${code}`)).status, path).toBe(403)
    }
    world.clock.advance(900)
    for (const answer of [
      await confirm(browser, 'phone', code),
      await requestChange(browser, 'mail', 'new@example.com'),
    ])
      expect(answer.headers.location).toBe('/sign-in?return_to=%2Faccount%2Fprofile%23unsent&confirm=1')
    expect((await storedProfile(user)).phone).toBe('13800000001')
  })
})

describe('PROFILE_OWNED', () => {
  it('makes the fields that the platform owns read-only', async () => {
    expect(() => readConfig({ PROFILE_OWNED: 'name,shoe' })).toThrow(/^PROFILE_OWNED must be of/)
    const owned = await openWorld({ PROFILE_OWNED: 'name, phone,mail', SMTP_URL: mailServer.url })
    try {
      const by = new Client(injectWire(owned.app), owned.deps.config.PUBLIC_URL)
      const user = await by.makeUser({ passport: `owned${++serial}@example.com` })
      const browser = by.newBrowser()
      await browser.send('POST', '/sign-in', { passport: user.passport, password: user.password })
      const { text } = await browser.open('/account/profile')
      expect(['name="name"', 'name="value"', 'name="gender"'].map((part) => text.includes(part))).toEqual([
        false,
        false,
        true,
      ])
      for (const kind of ['phone', 'mail'] as const)
        expect((await requestChange(browser, kind, kind === 'mail' ? 'x@example.com' : '13900000030')).status).toBe(404)
      const fields = { name: 'Another', big_avatar_url: 'https://pictures.example/b.png', gender: '1' }
      expect((await browser.send('POST', '/account/profile', fields)).status).toBe(303)
      const { rows } = await owned.pool.query(
        'select name, gender, big_avatar_url from user_profile where user_id = $1',
        [user.user_id],
      )
      expect(rows[0]).toEqual({ name: 'Test user', gender: '1', big_avatar_url: 'https://pictures.example/b.png' })
    } finally {
      await owned.close()
    }
  })

  it('includes the mail address if people sign in at an upstream provider', () => {
    const upstream = { ...world.deps.config, UPSTREAM_ISSUER: 'https://id.example' }
    expect(OWN_PROFILE.editable(world.deps)).toEqual(['name', 'avatar', 'gender', 'phone', 'mail'])
    expect(OWN_PROFILE.editable({ ...world.deps, config: upstream })).toEqual(['name', 'avatar', 'gender', 'phone'])
  })

  it('aside, a new number is not offered if no hook can send codes', async () => {
    const plain = await openWorld({ SMTP_URL: mailServer.url })
    try {
      const by = new Client(injectWire(plain.app), plain.deps.config.PUBLIC_URL)
      const user = await by.makeUser({ passport: `plain${++serial}@example.com` })
      const browser = by.newBrowser()
      await browser.send('POST', '/sign-in', { passport: user.passport, password: user.password })
      expect((await browser.open('/account/profile')).text).toContain('action="/account/profile/mail"')
      expect((await browser.open('/account/profile')).text).not.toContain('action="/account/profile/phone"')
      expect((await requestChange(browser, 'phone', '13900000031')).status).toBe(404)
    } finally {
      await plain.close()
    }
  })
})
