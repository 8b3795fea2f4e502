import { randomUUID } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import PostalMime from 'postal-mime'
import { afterEach, describe, expect, it } from 'vitest'
import { startWorker } from '../../src/operations/jobs/worker.ts'
import { sendMemberMail } from '../../src/sandbox/portal/notify/notifications.ts'
import { inviteAgain, removeMember } from '../../src/ticketing/members/change.ts'
import { sendPasswordLink } from '../../src/ticketing/members/password.ts'
import { setMemberMailState } from '../../src/ticketing/members/store.ts'
import { openWorld, type World } from '../harness.ts'
import { postOffice, reply } from '../sandbox/notify/post-office.ts'
import { get, newSandboxPartner, post, sessionOf } from '../sandbox/partners.ts'
import { until } from '../until.ts'
import { invited, joined, PASSWORD, tokenFor } from './people.ts'

const opened: { close(): Promise<void> | void }[] = []
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close()
})
const closing = <T extends { close(): Promise<void> | void }>(one: T): T => {
  opened.push(one)
  return one
}
const MAIL = 'lin@example.com'
const linkOf = async (world: World, memberId: string | null = null): Promise<string> => {
  const { rows } = await world.pool.query(
    'select link_id from member_link where $1::uuid is null or member_id = $1 order by created_at desc limit 1',
    [memberId],
  )
  return rows[0].link_id
}

describe('the mail with a link', () => {
  it('is retried unchanged after a temporary refusal by the server, and delivered once', async () => {
    let tries = 0
    const office = closing(
      await postOffice({
        onMail: () => {
          tries++
          if (tries === 1) throw reply(451, 'greylisted')
        },
      }),
    )
    const world = closing(await openWorld({ SMTP_URL: office.url }))
    const partner = await newSandboxPartner(world, { name: '湖畔 Tickets' })
    const { token } = await invited(world, partner, MAIL)
    const id = await linkOf(world)
    expect(await sendMemberMail(world.deps, id)).toEqual({ failure: 'SMTP DATA EMESSAGE 451' })
    const page = await get(world, '/sandbox/members', await sessionOf(world, partner))
    expect(page.body).toContain('The email has not been delivered yet. We keep trying.')
    expect(await sendMemberMail(world.deps, id)).toEqual({})
    expect(await sendMemberMail(world.deps, id)).toEqual({})
    expect(office.mails).toHaveLength(1)
    const [{ mail }] = office.to(MAIL) as [(typeof office.mails)[number]]
    expect(mail.messageId).toBe(`<${id}@localhost>`)
    expect(mail.subject).toBe('邀请您加入 湖畔 Tickets 的联调沙箱 / You are invited to the sandbox of 湖畔 Tickets')
    expect(String(mail.text).split(`/sandbox/join?token=${token}`)).toHaveLength(3)
    expect(mail.text).toContain('until 2026-05-13 10:34 (UTC)')
    expect(mail.text).toContain('2026-05-13 18:34（北京时间）')
    expect(world.logged()).not.toContain(token.slice(5))
  })

  it('that is permanently refused is reported on the page', async () => {
    const office = closing(await postOffice({ onMail: () => Promise.reject(reply(550, 'no such user')) }))
    const world = closing(await openWorld({ SMTP_URL: office.url }))
    const partner = await newSandboxPartner(world)
    await invited(world, partner, MAIL)
    expect(await sendMemberMail(world.deps, await linkOf(world))).toHaveProperty('givenUp')
    const page = await get(world, '/sandbox/members', await sessionOf(world, partner))
    expect(page.body).toContain('The email could not be delivered.')
    expect(page.body).toContain('the mail server does not accept: the mail (550)')
  })

  it('is not sent once its link has been used, withdrawn or replaced, or has expired', async () => {
    const office = closing(await postOffice())
    const world = closing(await openWorld({ SMTP_URL: office.url }))
    const partner = await newSandboxPartner(world)
    await joined(world, partner, MAIL)
    expect(await sendMemberMail(world.deps, await linkOf(world))).toEqual({})
    const { memberId } = await invited(world, partner, 'twice@example.com')
    const replaced = await linkOf(world, memberId)
    await inviteAgain(world.deps, partner.partner_id, memberId)
    const withdrawn = await linkOf(world, memberId)
    expect(withdrawn).not.toBe(replaced)
    expect(await sendMemberMail(world.deps, replaced)).toEqual({})
    await removeMember(world.deps, partner.partner_id, memberId)
    expect(await sendMemberMail(world.deps, withdrawn)).toEqual({})
    await invited(world, partner, 'late@example.com')
    world.clock.advance(7 * 86_400 + 1)
    expect(await sendMemberMail(world.deps, await linkOf(world))).toEqual({})
    expect(office.mails).toEqual([])
  })

  it('is written to MAIL_FOLDER if there is no server, also for a forgotten password', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-members-'))
    closing({ close: () => rmSync(folder, { recursive: true, force: true }) })
    const world = closing(await openWorld({ MAIL_FOLDER: folder }))
    const partner = await newSandboxPartner(world)
    await joined(world, partner, MAIL)
    const worker = await startWorker(world.deps, world.log, world.databaseUrl)
    closing({ close: () => worker.stop() })
    const fields = { client_id: partner.client_id, mail: MAIL.toUpperCase() }
    expect((await post(world, '/sandbox/forgotten', fields)).statusCode).toBe(200)
    await until(() => readdirSync(folder).filter((name) => name.endsWith('.eml')).length === 1)
    const [file = ''] = readdirSync(folder)
    const mail = await PostalMime.parse(readFileSync(join(folder, file)))
    expect(mail.to).toMatchObject([{ address: MAIL }])
    const token = /token=(ghml_[\w-]{48})/.exec(String(mail.text))?.[1] ?? ''
    const set = await post(world, '/sandbox/join', { token, password: PASSWORD, password_again: PASSWORD })
    expect(set.statusCode).toBe(303)
    await expect(tokenFor(world, MAIL)).rejects.toThrow('no link')
  })
})

it('a mail that has been sent stays so if another worker’s attempt fails later', async () => {
  const world = closing(await openWorld())
  const partner = await newSandboxPartner(world)
  const { memberId } = await invited(world, partner, MAIL)
  const id = await linkOf(world, memberId)
  await setMemberMailState(world.deps.db, id, 'sent')
  await setMemberMailState(world.deps.db, id, 'failed', 'too late')
  const { rows } = await world.pool.query('select mail_state, mail_error from member_link where link_id = $1', [id])
  expect(rows).toEqual([{ mail_state: 'sent', mail_error: null }])
})

it('a link for a forgotten password is sent once, even if its job runs again', async () => {
  const world = closing(await openWorld())
  const partner = await newSandboxPartner(world)
  const memberId = await joined(world, partner, MAIL)
  const forgotten = { clientId: partner.client_id, mail: MAIL, linkId: randomUUID() }
  for (let run = 0; run < 2; run++) await sendPasswordLink(world.deps, forgotten)
  const { rows } = await world.pool.query(
    `select (select count(*)::int from member_link where member_id = $1 and purpose = 'password') as links,
       (select count(*)::int from audit_event where event = 'member_password_asked') as asked`,
    [memberId],
  )
  expect(rows).toEqual([{ links: 1, asked: 1 }])
})
