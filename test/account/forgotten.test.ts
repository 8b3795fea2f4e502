import { TOTP } from 'otpauth'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { tellPerson } from '../../src/authorization/account/person-mail.ts'
import { TASKS } from '../../src/operations/jobs/tasks.ts'
import { readConfig } from '../../src/platform/config/index.ts'
import { rememberDevice } from '../../src/platform/throttle/index.ts'
import { Client, type User } from '../acceptance/client.ts'
import { type Answer, injectWire } from '../acceptance/http.ts'
import { openWorld, type World } from '../harness.ts'
import { hook, type PostOffice, postOffice, reply } from '../sandbox/notify/post-office.ts'
import { FORM, form } from './people.ts'

/** Forgotten passwords, tested against a real mail server. */

let mailServer: PostOffice
let world: World
let client: Client
let rejectMail = false
beforeAll(async () => {
  mailServer = await postOffice({
    onMail: () => {
      if (rejectMail) throw reply(451, 'later')
    },
  })
  world = await openWorld({ SMTP_URL: mailServer.url, PASSWORD_RESET: 'mail' })
  client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
})
afterAll(async () => {
  await world.close()
  await mailServer.close()
})
beforeEach(async () => {
  await world.pool.query('delete from failed_attempt')
  await world.pool.query('delete from graphile_worker._private_jobs')
  mailServer.mails.length = 0
  rejectMail = false
})

let serial = 0
const newPerson = () => client.makeUser({ passport: `person${++serial}@example.com` })
const requestLink = (passport: string, remoteAddress = '203.0.113.5', cookie?: string) =>
  world.app.inject({
    method: 'POST',
    url: '/sign-in/forgotten',
    headers: { ...FORM, ...(cookie ? { cookie } : {}) },
    payload: form({ passport }),
    remoteAddress,
  })

/** Runs each queued job of the task once. */
async function runJobs(deps = world.deps, task: 'forgotten-password' | 'send-person-mail' = 'forgotten-password') {
  const { rows } = await world.pool.query(
    `select payload from graphile_worker._private_jobs j join graphile_worker._private_tasks t on t.id = j.task_id
     where t.identifier = $1 order by j.id`,
    [task],
  )
  for (const { payload } of rows) {
    await TASKS[task](deps, payload, { id: '1', log: world.log, signal: AbortSignal.timeout(10_000) })
  }
}
const tokensTo = (passport: string): string[] =>
  mailServer.to(passport).map(({ mail }) => /token=(ghpl_[\w-]{48})/.exec(String(mail.text))?.[1] ?? '')
async function linkFor({ passport }: User): Promise<string> {
  await requestLink(passport)
  await runJobs()
  await world.pool.query('delete from graphile_worker._private_jobs')
  return tokensTo(passport).at(-1) ?? ''
}
const openLink = (token: string) => client.call('GET', `/password?token=${token}`, { accept: 'text/html' })
const setPassword = (token: string, password: string): Promise<Answer> =>
  client.newBrowser().send('POST', '/password', { token, password, password_again: password })
async function signsIn({ passport }: User, password: string): Promise<boolean> {
  const browser = client.newBrowser()
  await browser.send('POST', '/sign-in', { passport, password })
  return (await browser.send('GET', '/account/security')).status === 200
}
async function changeSignedIn({ passport, password }: User, next: string): Promise<void> {
  const browser = client.newBrowser()
  await browser.send('POST', '/sign-in', { passport, password })
  const change = { current_password: password, password: next, password_again: next }
  expect((await browser.send('POST', '/password', change)).status).toBe(200)
}

describe('a mailed password link', () => {
  it('comes in both languages, sets a new password once and ends all sessions', async () => {
    const user = await newPerson()
    const before = client.newBrowser()
    await before.send('POST', '/sign-in', { passport: user.passport, password: user.password })
    expect((await client.call('GET', '/sign-in', { accept: 'text/html' })).text).toContain(
      'href="/sign-in/forgotten?return_to=%2F"',
    )
    const token = await linkFor(user)
    expect(mailServer.mails).toHaveLength(1)
    const mail = mailServer.mails[0]?.mail
    expect(mail?.subject).toBe('设置新密码 / Set a new password')
    expect(mail?.text).toContain('until 2026-05-06 11:34 (UTC)')
    expect(mail?.text).toContain('2026-05-06 19:34（北京时间）')
    expect((await setPassword(token, 'a password of today')).text).toContain('The password was changed')
    expect((await before.send('GET', '/account/security')).status).toBe(303)
    expect([await signsIn(user, user.password), await signsIn(user, 'a password of today')]).toEqual([false, true])
    const again = await setPassword(token, 'and another one')
    expect([again.status, again.text.includes('href="/sign-in/forgotten"')]).toEqual([410, true])
    expect(world.logged()).not.toContain(token.slice(5))
  })

  it('works for exactly one of several concurrent requests', async () => {
    const token = await linkFor(await newPerson())
    const all = await Promise.all(
      ['one password', 'two passwords', 'three passwords'].map((text) => setPassword(token, text)),
    )
    expect(all.map(({ status }) => status).sort()).toEqual([200, 410, 410])
  })

  it('expires after an hour or with any password change, for good, and not by anything a stranger can do', async () => {
    const user = await newPerson()
    const { cid, user_id } = user
    const made = await client.admin('POST', '/users/reset-password', { cid, user_id })
    const byOperator = new URL(String(made.url)).searchParams.get('token') ?? ''
    const first = await linkFor(user)
    await requestLink(user.passport) // anybody can do this
    await runJobs()
    const second = tokensTo(user.passport).at(-1) ?? ''
    const links = [byOperator, first, second]
    for (const link of links) expect((await openLink(link)).status).toBe(200)
    await changeSignedIn(user, 'changed by hand')
    expect(await Promise.all(links.map(async (link) => (await openLink(link)).status))).toEqual([410, 410, 410])
    expect((await setPassword(second, 'by the old link')).status).toBe(410)
    mailServer.mails.length = 0
    await runJobs() // the job is retried
    expect(mailServer.mails).toEqual([])
    expect((await setPassword(second, 'by the old link')).status).toBe(410)
    expect(await signsIn(user, 'changed by hand')).toBe(true)
    const third = await linkFor(await newPerson())
    world.clock.advance(3_600)
    expect((await setPassword(third, 'too late by now')).status).toBe(410)
  })

  it('changes the account it was issued for, whoever is signed in, and keeps the second factor', async () => {
    const [alice, bob] = [await newPerson(), await newPerson()]
    await world.pool.query(
      `insert into user_totp (routing_key, cid, user_id, sealed, created_at, confirmed_at)
       select routing_key, cid, user_id, '', now(), now() from user_profile where user_id = $1`,
      [alice.user_id],
    )
    const token = await linkFor(alice)
    const browser = client.newBrowser()
    await browser.send('POST', '/sign-in', { passport: bob.passport, password: bob.password })
    await browser.send('POST', '/password', { token, password: 'of alice alone', password_again: 'of alice alone' })
    expect(await signsIn(bob, bob.password)).toBe(true)
    const page = await client
      .newBrowser()
      .send('POST', '/sign-in', { passport: alice.passport, password: 'of alice alone' })
    expect(page.headers.location).toMatch(/^\/sign-in\/code/)
  })

  it('stops working for good once another link is used or an operator makes a newer one', async () => {
    const [one, other] = [await newPerson(), await newPerson()]
    await requestLink(one.passport)
    await requestLink(one.passport)
    await requestLink(other.passport)
    await runJobs()
    const [used = '', unused = ''] = tokensTo(one.passport)
    expect((await setPassword(used, 'a password of today')).status).toBe(200)
    await client.admin('POST', '/users/reset-password', { cid: other.cid, user_id: other.user_id })
    mailServer.mails.length = 0
    await runJobs()
    expect(mailServer.mails).toEqual([])
    expect((await openLink(unused)).status).toBe(410)
    expect(await signsIn(one, 'a password of today')).toBe(true)
  })

  it('stays the same when the mail server defers the mail', async () => {
    const user = await newPerson()
    await requestLink(user.passport)
    rejectMail = true
    await expect(runJobs()).rejects.toThrow('SMTP DATA EMESSAGE 451')
    rejectMail = false
    await runJobs()
    await runJobs() // as if the process had died before the job was marked done
    const [one = '', other] = tokensTo(user.passport)
    expect(other).toBe(one)
    expect((await setPassword(one, 'a password of today')).status).toBe(200)
    await runJobs()
    expect((await setPassword(one, 'a password of today')).status).toBe(410)
  })
})

describe('a mail about the account', () => {
  it('informs the person that an operator has removed their second factor', async () => {
    const { cid, user_id, passport } = await newPerson()
    await world.pool.query(
      `insert into user_totp (routing_key, cid, user_id, sealed, created_at, confirmed_at)
       select routing_key, cid, user_id, '', now(), now() from user_profile where user_id = $1`,
      [user_id],
    )
    await client.admin('POST', '/users/remove-factors', { cid, user_id, reason: 'a reason for colleagues' })
    await runJobs(world.deps, 'send-person-mail')
    expect(mailServer.to(passport)).toHaveLength(1)
    const mail = mailServer.mails[0]?.mail
    expect(mail?.subject).toBe('您账号的第二重验证已被移除 / The second factor of your account was removed')
    expect(mail?.text).toContain('On 2026-05-06')
    expect(mail?.text).toContain('/account/security/sign-in')
    expect(mail?.text).not.toContain('a reason for colleagues')
  })
})

describe('a change to an account’s credentials', () => {
  const jobKinds = async () => {
    const { rows } = await world.pool.query(
      `select payload ->> 'kind' as kind from graphile_worker._private_jobs j
       join graphile_worker._private_tasks t on t.id = j.task_id where t.identifier = 'send-person-mail' order by j.id`,
    )
    return rows.map(({ kind }) => kind).filter((kind) => kind !== 'new_device')
  }
  const addPasskeyTo = ({ user_id }: User, name: string) =>
    world.pool.query(
      `insert into passkey (routing_key, cid, user_id, credential_id, public_key, counter, transports, name, created_at)
       select routing_key, cid, user_id, convert_to($2, 'UTF8'), '', 0, '{}', $2, now() from user_profile
       where user_id = $1 returning passkey_id`,
      [user_id, name],
    )

  it('is mailed to the person in both languages: authenticator, codes, passkey, password', async () => {
    const user = await newPerson()
    const browser = client.newBrowser()
    await browser.send('POST', '/sign-in', { passport: user.passport, password: user.password })
    await world.pool.query('delete from graphile_worker._private_jobs') // the mail about a new device
    const made = await browser.send('POST', '/account/security/authenticator')
    const secret = /id="secret">([A-Z2-7]+)</.exec(made.text)?.[1] ?? ''
    const code = new TOTP({ secret, period: 30 }).generate({ timestamp: world.clock.now().getTime() })
    await browser.send('POST', '/account/security/authenticator/confirm', { code })
    await browser.send('POST', '/account/security/recovery-codes')
    await browser.send('POST', '/account/security/authenticator/remove')
    const { rows } = await addPasskeyTo(user, 'Phone of last year')
    await browser.send('POST', '/account/security/passkeys/remove', { passkey_id: rows[0].passkey_id })
    const change = { current_password: user.password, password: 'changed by hand', password_again: 'changed by hand' }
    await browser.send('POST', '/password', change)
    expect(await jobKinds()).toEqual([
      ...['totp_added', 'recovery_codes_made', 'totp_removed', 'passkey_removed', 'password_changed'],
    ])
    await runJobs(world.deps, 'send-person-mail')
    expect(mailServer.to(user.passport)).toHaveLength(5)
    const mail = mailServer.mails[0]?.mail
    expect(mail?.subject).toBe('您的账号已添加身份验证器 / An authenticator was added to your account')
    expect(mail?.text).toContain('An authenticator was added to your account, on 2026-05-06')
    expect(mail?.text).toContain('/account/security/sign-in')
    expect(JSON.stringify(mailServer.mails.map((one) => one.mail.text))).not.toContain(secret)
  })

  it('comes with advice when somebody has been guessing codes', async () => {
    const user = await newPerson()
    const { rows } = await world.pool.query('select routing_key from user_profile where user_id = $1', [user.user_id])
    const key = { routingKey: rows[0].routing_key, cid: user.cid, userId: user.user_id }
    await tellPerson(world.deps, key, 'codes_guessed')
    await runJobs(world.deps, 'send-person-mail')
    const mail = mailServer.mails[0]?.mail
    expect(mail?.subject).toBe('您的账号被多次输入错误的验证码 / Wrong codes were entered for your account')
    expect(mail?.text).toContain('change your password')
    expect(mail?.text).toContain('/account/security/sign-in')
  })

  it('does not flood a mailbox: at most ten mails of one kind a day', async () => {
    const user = await newPerson()
    const browser = client.newBrowser()
    await browser.send('POST', '/sign-in', { passport: user.passport, password: user.password })
    for (let index = 0; index < 12; index++) {
      const { rows } = await addPasskeyTo(user, `Key ${index}`)
      await browser.send('POST', '/account/security/passkeys/remove', { passkey_id: rows[0].passkey_id })
    }
    expect(await jobKinds()).toEqual(Array(10).fill('passkey_removed'))
  })

  it('through a link is mailed too, and the page lists the passkeys that still sign in', async () => {
    const [user, other] = [await newPerson(), await newPerson()]
    await addPasskeyTo(user, 'Phone of <somebody>')
    const done = await setPassword(await linkFor(user), 'a password of today')
    expect(done.text).toContain('These passkeys still sign in')
    expect(done.text).toContain('<li>Phone of &lt;somebody&gt;</li>')
    expect(done.text).toContain('href="/account/security/sign-in"')
    expect(await jobKinds()).toEqual(['password_reset'])
    expect((await setPassword(await linkFor(other), 'a password of today')).text).not.toContain('passkeys')
  })
})

describe('a request for a password link', () => {
  it('does not reveal whether the account exists, and the queue does not store what was typed', async () => {
    const { passport } = await newPerson()
    const unknown = 'nobody000@example.com'
    const [known, other, nameless] = [
      await requestLink(passport),
      await requestLink(unknown),
      await requestLink('no mail address'),
    ]
    const shown = ({ body }: { body: string }) => body.replaceAll(/“[^”]*”/g, '')
    expect([other.statusCode, shown(other)]).toEqual([known.statusCode, shown(known)])
    expect([nameless.statusCode, shown(nameless)]).toEqual([known.statusCode, shown(known)])
    const { rows } = await world.pool.query('select payload::text from graphile_worker._private_jobs')
    expect(rows).toHaveLength(3)
    for (const typed of [passport, unknown, 'no mail']) expect(JSON.stringify(rows)).not.toContain(typed)
    await runJobs()
    expect(mailServer.mails.map(({ recipients }) => recipients)).toEqual([[passport]])
  })

  it('is limited per person and per network, with a separate allowance for a known browser', async () => {
    const { passport } = await newPerson()
    const statuses = async (count: number, address: (index: number) => string, cookie?: string) => {
      const all: number[] = []
      for (let index = 0; index < count; index++)
        all.push((await requestLink(passport, address(index), cookie)).statusCode)
      return all
    }
    expect(await statuses(4, () => '203.0.113.5')).toEqual([200, 200, 200, 429])
    expect(await statuses(3, (index) => `198.51.${index}.1`)).toEqual([200, 200, 200])
    expect(await statuses(2, () => '198.51.0.2')).toEqual([200, 429])
    const own = rememberDevice(world.deps, { kind: 'passport', name: passport }, undefined)
    expect(await statuses(4, () => '192.0.2.1', `gatehouse_device=${own}`)).toEqual([200, 200, 200, 429])
    const limited = await requestLink(passport, '203.0.113.5')
    expect(limited.headers['retry-after']).toMatch(/^\d+$/)
    const others: number[] = []
    for (let index = 0; index < 32; index++)
      others.push((await requestLink(`p${index}@example.com`, '192.0.2.9')).statusCode)
    expect(others.filter((status) => status === 429)).toHaveLength(2)
  })

  it('repeated all day from two networks locks out nobody elsewhere; many networks share two dozen mails a day', async () => {
    const { passport } = await newPerson()
    const requestFrom = async (addresses: string[]) => {
      let sent = 0
      for (const address of addresses) if ((await requestLink(passport, address)).statusCode === 200) sent++
      return sent
    }
    let sent = 0
    for (let hour = 0; hour < 5; hour++) {
      sent += await requestFrom(Array.from({ length: 10 }, (_, index) => (index % 2 ? '203.0.113.5' : '198.51.100.5')))
      world.clock.advance(3_600)
    }
    expect(sent).toBe(14)
    await requestFrom(['203.0.113.5', '198.51.100.5', '203.0.113.5', '198.51.100.5'])
    expect(await requestFrom(['192.0.2.1', '192.0.2.2'])).toBe(1)
    expect(await requestFrom(Array.from({ length: 30 }, (_, index) => `198.18.${index}.1`))).toBe(9)
  })

  it('is refused from another site and with an empty passport', async () => {
    const from = { ...FORM, 'sec-fetch-site': 'cross-site' }
    const foreign = { method: 'POST', url: '/sign-in/forgotten', headers: from, payload: 'passport=x' } as const
    expect((await world.app.inject(foreign)).statusCode).toBe(403)
    expect((await requestLink('')).statusCode).toBe(400)
  })
})

describe('PASSWORD_RESET', () => {
  it('hook sends the link to the platform in a signed webhook, and requires a URL and a secret', async () => {
    const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
    const receiver = await hook(500, 204)
    const environment = {
      PASSWORD_RESET: 'hook',
      PASSWORD_RESET_HOOK: receiver.url,
      PASSWORD_RESET_HOOK_SECRET: secret,
    }
    expect(() => readConfig({ PASSWORD_RESET: 'hook' })).toThrow('PASSWORD_RESET_HOOK')
    const other = await openWorld({ ...environment, PARTNER_ADDRESS_ALLOW: new URL(receiver.url).host })
    try {
      const otherClient = new Client(injectWire(other.app), other.deps.config.PUBLIC_URL)
      const user = await otherClient.makeUser({ passport: 'without a mail address' })
      await other.app.inject({ method: 'POST', url: '/sign-in/forgotten', headers: FORM, payload: form(user as never) })
      const { rows } = await other.pool.query(
        `select payload from graphile_worker._private_jobs j join graphile_worker._private_tasks t on t.id = j.task_id
         where t.identifier = 'forgotten-password'`,
      )
      const run = () =>
        TASKS['forgotten-password'](other.deps, rows[0].payload, {
          id: '1',
          log: other.log,
          signal: AbortSignal.timeout(10_000),
        })
      await expect(run()).rejects.toThrow('PASSWORD_RESET_HOOK: the webhook responded with HTTP status 500')
      await run()
      const sent = receiver.deliveries.at(-1)
      if (!sent) throw new Error('nothing was sent')
      const { headers, body } = sent
      const now = Math.floor(other.clock.now().getTime() / 1000)
      expect(headers['webhook-timestamp']).toBe(String(now))
      const signature = new Webhook(secret).sign(String(headers['webhook-id']), other.clock.now(), body)
      expect(headers['webhook-signature']).toBe(signature)
      const { type, data } = JSON.parse(body)
      expect([type, data.cid, data.user_id]).toEqual(['user.password_forgotten', user.cid, user.user_id])
      expect((await otherClient.call('GET', new URL(data.url).pathname + new URL(data.url).search)).status).toBe(200)
    } finally {
      await other.close()
      receiver.close()
    }
  })

  it('off removes the page and the link to it', async () => {
    const other = await openWorld()
    try {
      expect((await other.app.inject({ url: '/sign-in/forgotten' })).statusCode).toBe(404)
      const { body } = await other.app.inject({ url: '/sign-in', headers: { accept: 'text/html' } })
      expect(body).not.toContain('forgotten')
    } finally {
      await other.close()
    }
  })
})
