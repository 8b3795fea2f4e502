import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { eraseDue } from '../../src/authorization/people/index.ts'
import { GiveUp } from '../../src/operations/jobs/task.ts'
import { TASKS } from '../../src/operations/jobs/tasks.ts'
import { Client, type User } from '../acceptance/client.ts'
import { injectWire } from '../acceptance/http.ts'
import { openWorld, type World } from '../harness.ts'
import { type OfficeOptions, type PostOffice, postOffice, reply } from '../sandbox/notify/post-office.ts'
import { FORM, form } from './people.ts'

/** Mails to people about sign-ins and the deletion of their account, tested against a real mail server. */

let mailServer: PostOffice
let world: World
let client: Client
beforeAll(async () => {
  mailServer = await postOffice()
  world = await openWorld({ SMTP_URL: mailServer.url, ACCOUNT_DELETION: 'after-14-days' })
  client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
})
afterAll(async () => {
  await world.close()
  await mailServer.close()
})
beforeEach(() => {
  mailServer.mails.length = 0
})

let serial = 0
const newPerson = (changes: Record<string, unknown> = {}) =>
  client.makeUser({ passport: `told${++serial}@example.com`, ...changes })
const CHROME =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36'
const signIn = ({ passport, password }: User, cookie?: string) =>
  world.app.inject({
    method: 'POST',
    url: '/sign-in',
    headers: { ...FORM, 'user-agent': CHROME, ...(cookie ? { cookie } : {}) },
    payload: form({ passport, password }),
    remoteAddress: '203.0.113.5',
  })
const cookieNamed = (answer: Awaited<ReturnType<typeof signIn>>, name: string) =>
  answer.cookies.flatMap((one) => (one.name === name ? [`${name}=${one.value}`] : [])).join()

type Done = (refusal: Error) => void

/** Sends the queued mails and returns their payloads. */
async function sendMails(deps = world.deps): Promise<string> {
  const { rows } = await world.pool.query(
    `select payload from graphile_worker._private_jobs j join graphile_worker._private_tasks t on t.id = j.task_id
     where t.identifier = 'send-person-mail' order by j.id`,
  )
  await world.pool.query('delete from graphile_worker._private_jobs')
  for (const { payload } of rows) {
    const job = { id: '1', log: world.log, signal: AbortSignal.timeout(10_000) }
    await TASKS['send-person-mail'](deps, payload, job)
  }
  return JSON.stringify(rows)
}
const subjectsTo = ({ passport }: User) => mailServer.to(passport).map(({ mail }) => mail.subject)

describe('a sign-in', () => {
  const atRecipient = (refusal: Error) => ({
    smtp: { onRcptTo: (_to: unknown, _session: unknown, done: Done) => done(refusal) },
  })
  const atEnd = (refusal: Error) => ({ onMail: () => Promise.reject(refusal) })
  /** Two sign-ins, the second of which is mailed by a server that refuses. */
  async function mailRefused(by: OfficeOptions): Promise<void> {
    const refusing = await postOffice(by)
    try {
      const person = await newPerson()
      await signIn(person)
      await signIn(person)
      await sendMails({ ...world.deps, config: { ...world.deps.config, SMTP_URL: refusing.url } }).finally(() =>
        expect(world.logged()).not.toContain(person.passport),
      )
    } finally {
      await refusing.close()
    }
  }

  it.each([
    ['nobody has', atRecipient(reply(550, '5.1.1 who?')), 'SMTP RCPT TO EENVELOPE 550 5.1.1'],
    ['is no longer used, as told after the mail', atEnd(reply(550, '5.2.1 disabled')), 'SMTP DATA EMESSAGE 550 5.2.1'],
  ])('to an address that %s leaves no failed job', async (_, by, logged) => {
    await mailRefused(by)
    expect(world.logged()).toContain(logged)
  })

  it.each([
    ['relaying', atRecipient(reply(550, '5.7.1 relay denied')), 'SMTP RCPT TO EENVELOPE 550 5.7.1'],
    ['relaying, without saying why', atRecipient(reply(550, 'relay not permitted')), 'SMTP RCPT TO EENVELOPE 550'],
    ['the domain of MAIL_FROM', atRecipient(reply(550, '5.1.8 no such domain')), 'SMTP RCPT TO EENVELOPE 550 5.1.8'],
    ['what our address sends', atEnd(reply(554, '5.7.1 on a blocklist')), 'SMTP DATA EMESSAGE 554 5.7.1'],
    ['every mail', atEnd(reply(554, 'no')), 'SMTP DATA EMESSAGE 554'],
  ])('leaves a failed job if the mail server refuses %s, which operators can mend', async (_, by, reason) => {
    await expect(mailRefused(by)).rejects.toThrow(new GiveUp(reason))
  })

  it('from a new browser is mailed with device, address and time; later ones from it are not', async () => {
    const user = await newPerson()
    const first = await signIn(user)
    const payloads = await sendMails()
    expect(subjectsTo(user)).toEqual(['新设备登录了您的账号 / Your account was signed in to on a new device'])
    const text = String(mailServer.mails[0]?.mail.text)
    expect(text).toContain('Chrome on Windows, at the network address 203.0.113.5, on 2026-05-06')
    expect(text).toContain('Chrome')
    expect(text).toContain('/account/security')
    for (const personal of ['203.0.113', 'Chrome', user.passport]) expect(payloads).not.toContain(personal)
    await signIn(user, cookieNamed(first, 'gatehouse_device'))
    await sendMails()
    expect(mailServer.mails).toHaveLength(1)
    const other = await newPerson()
    await signIn(other, cookieNamed(first, 'gatehouse_device'))
    await sendMails()
    expect(subjectsTo(other)).toHaveLength(1)
  })

  it('is not mailed if the passport is no mail address or the sign-in failed', async () => {
    await signIn(await newPerson({ passport: 'no address' }))
    const user = await newPerson()
    await signIn({ ...user, password: 'not this one' })
    expect(await sendMails()).toBe('[]')
  })
})

describe('the deletion of an account', () => {
  const signedIn = async (user: User) => {
    const browser = client.newBrowser()
    await browser.send('POST', '/sign-in', { passport: user.passport, password: user.password })
    await sendMails()
    mailServer.mails.length = 0
    return browser
  }

  it('is mailed once when requested, and again to the former address when carried out', async () => {
    const user = await newPerson()
    const browser = await signedIn(user)
    await browser.send('POST', '/account/deletion', {})
    await browser.send('POST', '/account/deletion', {})
    await sendMails()
    expect(subjectsTo(user)).toEqual(['有人申请注销您的账号 / The deletion of your account was asked for'])
    expect(mailServer.mails[0]?.mail.text).toContain('/account/data')
    world.clock.advance(14 * 86_400)
    expect((await eraseDue(world.deps, new AbortController().signal)).erased).toBe(1)
    const payloads = await sendMails()
    expect(payloads).not.toContain(user.passport)
    expect(subjectsTo(user)[1]).toBe('您的账号已注销 / Your account was deleted')
    expect(mailServer.mails[1]?.mail.text).toContain('On 2026-05-20')
  })

  it('by an operator is mailed too, unless its transaction is rolled back', async () => {
    const user = await newPerson()
    await signedIn(user)
    const { cid, user_id } = user
    await expect(
      world.deps.db.tx(async (db) => {
        const { eraseUser } = await import('../../src/authorization/people/person-data.ts')
        await eraseUser({ ...world.deps, db }, { cid, user_id })
        throw new Error('undone')
      }),
    ).rejects.toThrow('undone')
    expect(await sendMails()).toBe('[]')
    await client.admin('POST', '/users/erase', { cid, user_id })
    await sendMails()
    expect(subjectsTo(user)).toEqual(['您的账号已注销 / Your account was deleted'])
  })
})
