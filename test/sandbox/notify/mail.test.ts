import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import PostalMime from 'postal-mime'
import { afterEach, describe, expect, inject, it, vi } from 'vitest'
import { type JobWorker, startWorker } from '../../../src/operations/jobs/worker.ts'
import { readConfig } from '../../../src/platform/config/index.ts'
import { listJobs } from '../../../src/platform/db/jobs-store.ts'
import { smtpOptions } from '../../../src/sandbox/portal/notify/mail.ts'
import {
  notificationsOf,
  notifyContacts,
  retryNotification,
  sendNotification,
} from '../../../src/sandbox/portal/notify/notifications.ts'
import { freePort } from '../../free-port.ts'
import { openWorld, type World } from '../../harness.ts'
import { until } from '../../until.ts'
import { oneMail, passedRun } from './passed-run.ts'
import { postOffice, reply } from './post-office.ts'

const opened: { close(): Promise<void> | void }[] = []
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close()
})
const closing = <T extends { close(): Promise<void> | void }>(one: T): T => {
  opened.push(one)
  return one
}

const worldWith = async (settings: Record<string, string>) => closing(await openWorld(settings))
async function working(world: World): Promise<JobWorker> {
  const worker = await startWorker(world.deps, world.log, world.databaseUrl)
  closing({ close: () => worker.stop() })
  return worker
}
const jobsOf = (world: World) => listJobs(world.deps.db, { failed: false, limit: 9 })

describe('a mail', () => {
  it('arrives exactly once even if the SMTP server is down for a while', async () => {
    const port = await freePort()
    const world = await worldWith({ SMTP_URL: `smtp://127.0.0.1:${port}` })
    const { shown } = await oneMail(world)
    await working(world)
    const waiting = await until(async () => {
      const one = await shown()
      return one.attempts >= 2 && one.next_attempt_at !== null && one
    })
    expect(waiting).toMatchObject({ state: 'waiting', last_error: 'the mail server cannot be reached', sent_at: null })
    const office = closing(await postOffice({ port }))
    await until(async () => (await shown()).state === 'sent')
    await until(async () => (await jobsOf(world)).length === 0)
    await sleep(300)
    expect(office.mails).toHaveLength(1)
    expect(await shown()).toMatchObject({ last_error: null, next_attempt_at: null })
  })

  it('is given up for now when the server never ends its answer', async () => {
    const server = createServer((socket) => {
      socket.write('220 ready\r\n')
      const timer = setInterval(() => socket.write('250-more\r\n'), 20)
      socket.on('close', () => clearInterval(timer)).on('error', () => {})
    })
    closing({ close: () => void server.close() })
    const port = await freePort()
    await new Promise<void>((listening) => server.listen(port, '127.0.0.1', listening))
    const world = await worldWith({ SMTP_URL: `smtp://127.0.0.1:${port}` })
    const { shown } = await oneMail(world)
    const within = vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => {
      const ending = new AbortController()
      setTimeout(() => ending.abort(), 500)
      return ending.signal
    })
    closing({ close: () => within.mockRestore() })
    await working(world)
    await until(async () => (await shown()).last_error !== null)
    expect(await shown()).toMatchObject({ state: 'waiting', last_error: 'the mail server takes too long' })
    expect(within).toHaveBeenCalledWith(300_000)
  })

  it('keeps its Message-ID when the server defers it or hangs up halfway', async () => {
    const seen: (string | undefined)[] = []
    const office = closing(
      await postOffice({
        onMail: ({ mail }, session) => {
          seen.push(mail.messageId)
          if (seen.length === 1) throw reply(451, 'greylisted')
          if (seen.length === 2) (session as { _connection?: { close(): void } })._connection?.close()
          if (seen.length === 2) throw reply(421)
        },
      }),
    )
    const world = await worldWith({ SMTP_URL: office.url })
    const { shown } = await oneMail(world)
    const id = (await shown()).notification_id
    expect(await sendNotification(world.deps, id)).toEqual({ failure: 'SMTP DATA EMESSAGE 451' })
    expect((await shown()).last_error).toBe('the mail server does not accept for now: the mail (451)')
    expect(await sendNotification(world.deps, id)).toHaveProperty('failure')
    expect(await sendNotification(world.deps, id)).toEqual({})
    expect(await sendNotification(world.deps, id)).toEqual({})
    expect(office.mails).toHaveLength(1)
    expect(seen).toEqual(Array(3).fill(`<${id}@localhost>`))
    expect(await shown()).toMatchObject({ state: 'sent', attempts: 3 })
  })

  it('that is permanently refused is given up at once, delays no other, and can be retried', async () => {
    let refusing = true
    const office = closing(
      await postOffice({
        smtp: {
          onRcptTo: ({ address }, _session, done) =>
            done(refusing && address === 'lin@example.com' ? reply(550, '5.1.1 no lin@example.com here') : null),
        },
      }),
    )
    const world = await worldWith({ SMTP_URL: office.url })
    await working(world)
    const contacts = {
      product: { name: 'Lin', mail: 'lin@example.com' },
      business: { name: 'Bo', mail: 'bo@example.com' },
    }
    const passed = await passedRun(world, contacts)
    await notifyContacts(world.deps, passed)
    const shown = async () => (await notificationsOf(world.deps, passed.runId)).notifications
    await until(async () => (await shown()).every(({ state }) => state !== 'waiting'))
    const [lin, bo] = await shown()
    expect(lin).toMatchObject({
      state: 'failed',
      attempts: 1,
      last_error: 'the mail server does not accept: the address (550 5.1.1)',
    })
    expect(bo).toMatchObject({ state: 'sent' })
    await until(async () => (await jobsOf(world)).length === 0)
    expect(world.logged()).toContain('SMTP RCPT TO EENVELOPE 550 5.1.1')
    expect(world.logged()).not.toContain('lin@example.com')

    refusing = false
    const id = String(lin?.notification_id)
    const pressed = await Promise.all(Array.from({ length: 10 }, () => retryNotification(world.deps, passed.runId, id)))
    expect(pressed).toContain(true)
    await until(async () => (await shown())[0]?.state === 'sent')
    await until(async () => (await jobsOf(world)).length === 0)
    expect(office.to('lin@example.com')).toHaveLength(1)
    expect(office.to('bo@example.com')).toHaveLength(1)
    expect(await retryNotification(world.deps, passed.runId, id)).toBe(false)
    const other = await passedRun(world, contacts)
    expect(await retryNotification(world.deps, other.runId, id)).toBe(false)
    expect(await retryNotification(world.deps, passed.runId, 'no uuid')).toBe(false)
  })

  it('is not sent twice when it is retried while being sent', async () => {
    let arrive = () => {}
    const held = new Promise<void>((resolve) => {
      arrive = resolve
    })
    let talking = false
    const office = closing(
      await postOffice({
        onMail: () => {
          talking = true
          return held
        },
      }),
    )
    const world = await worldWith({ SMTP_URL: office.url })
    await working(world)
    const { passed, shown } = await oneMail(world)
    await until(() => talking)
    const { notification_id, next_attempt_at } = await shown()
    expect(next_attempt_at).toBeNull()
    for (let n = 0; n < 5; n++) expect(await retryNotification(world.deps, passed.runId, notification_id)).toBe(true)
    arrive()
    await until(async () => (await jobsOf(world)).length === 0)
    expect(office.mails).toHaveLength(1)
  })

  it('is sent at once when it is retried before its next attempt is due', async () => {
    const port = await freePort()
    const world = await worldWith({ SMTP_URL: `smtp://127.0.0.1:${port}` })
    const { passed, shown } = await oneMail(world)
    await world.pool.query("update graphile_worker._private_jobs set run_at = now() + interval '1 hour'")
    const office = closing(await postOffice({ port }))
    await working(world)
    const { notification_id, next_attempt_at } = await shown()
    expect(Number(next_attempt_at)).toBeGreaterThan(Date.now() + 3_000_000)
    await retryNotification(world.deps, passed.runId, notification_id)
    await until(() => office.mails.length === 1)
  })

  it('is given up after a day, and gets another day when it is retried', async () => {
    const world = await worldWith({ SMTP_URL: `smtp://127.0.0.1:${await freePort()}` })
    const { passed, shown } = await oneMail(world)
    const { notification_id } = await shown()
    world.clock.advance(86_399)
    expect(await sendNotification(world.deps, notification_id)).toHaveProperty('failure')
    world.clock.advance(1)
    expect(await sendNotification(world.deps, notification_id)).toEqual({ givenUp: 'SMTP CONN ESOCKET ECONNREFUSED' })
    expect(await shown()).toMatchObject({ state: 'failed', last_error: 'the mail server cannot be reached' })
    expect(await retryNotification(world.deps, passed.runId, notification_id)).toBe(true)
    expect(await sendNotification(world.deps, notification_id)).toHaveProperty('failure')
    expect(await shown()).toMatchObject({ state: 'waiting' })
  })

  it('is sent once even if the database goes away just as the mail is accepted', async () => {
    const admin = new pg.Client({ connectionString: inject('serverUrl') })
    await admin.connect()
    closing({ close: () => admin.end() })
    let name = ''
    let away = false
    const office = closing(
      await postOffice({
        onMail: async () => {
          await admin.query(`alter database ${name} with allow_connections false`)
          await admin.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name])
          away = true
        },
      }),
    )
    const world = await worldWith({ SMTP_URL: office.url })
    name = new URL(world.databaseUrl).pathname.slice(1)
    const { shown } = await oneMail(world)
    const { notification_id } = await shown()
    const sending = sendNotification(world.deps, notification_id)
    await until(() => away)
    await sleep(500)
    await admin.query(`alter database ${name} with allow_connections true`)
    expect(await sending).toEqual({})
    expect(await shown()).toMatchObject({ state: 'sent', attempts: 1 })
    expect(await sendNotification(world.deps, notification_id)).toEqual({})
    expect(office.mails).toHaveLength(1)
  })
})

describe('the SMTP server', () => {
  const PASSWORD = 'planted p@ss:wörd/%'
  const authUrl = (url: string, password = PASSWORD) =>
    url.replace('smtp://', `smtp://gate%40example.com:${encodeURIComponent(password)}@`)

  it('gets a password; a wrong one leaves mails waiting and appears in no log or record', async () => {
    const office = closing(
      await postOffice({
        smtp: {
          authOptional: false,
          onAuth: ({ username, password }, _session, done) =>
            username === 'gate@example.com' && password === PASSWORD
              ? done(null, { user: username })
              : done(reply(535, `no: ${username} ${password}`)),
        },
      }),
    )
    const wrong = await worldWith({ SMTP_URL: authUrl(office.url, `${PASSWORD}!`) })
    const first = await oneMail(wrong)
    await working(wrong)
    await until(async () => (await first.shown()).attempts >= 2)
    expect(await first.shown()).toMatchObject({ state: 'waiting', last_error: 'the mail server does not let us send' })
    const traces = wrong.logged() + JSON.stringify([await jobsOf(wrong), await first.shown()])
    expect(traces).toContain('SMTP AUTH PLAIN EAUTH 535')
    for (const trace of ['planted', 'gate@example', Buffer.from(PASSWORD).toString('base64').slice(0, 12)])
      expect(traces).not.toContain(trace)

    const right = await worldWith({ SMTP_URL: authUrl(office.url) })
    const second = await oneMail(right)
    expect(await sendNotification(right.deps, (await second.shown()).notification_id)).toEqual({})
    expect(office.mails.map(({ user }) => user)).toEqual(['gate@example.com'])
  })

  it('is not trusted with a certificate of no known authority', async () => {
    const office = closing(await postOffice({ smtp: { disabledCommands: [] } }))
    const world = await worldWith({ SMTP_URL: office.url })
    const { shown } = await oneMail(world)
    expect(await sendNotification(world.deps, (await shown()).notification_id)).toHaveProperty('failure')
    expect(office.mails).toEqual([])
  })

  it('gets the password over TLS only, unless it is on this machine', () => {
    expect(smtpOptions('smtp://u:p@mail.example')).toMatchObject({ host: 'mail.example', port: 587, requireTLS: true })
    expect(smtpOptions('smtps://u:p@mail.example')).toMatchObject({ port: 465, secure: true, requireTLS: false })
    expect(smtpOptions('smtp://mail.example:25')).toMatchObject({ port: 25, secure: false, requireTLS: false })
    for (const host of ['localhost', '127.0.0.1', '[::1]'])
      expect(smtpOptions(`smtp://u:p@${host}:1025`)).toMatchObject({
        requireTLS: false,
        auth: { user: 'u', pass: 'p' },
      })
    expect(smtpOptions('smtp://u:p@[::1]:1025').host).toBe('::1')
    expect(smtpOptions(authUrl('smtp://h'))).toMatchObject({ auth: { user: 'gate@example.com', pass: PASSWORD } })
  })

  it('that is remote and offers no TLS does not get the password', async () => {
    const office = closing(await postOffice())
    const { createTransport } = await import('nodemailer')
    const options = { ...smtpOptions('smtp://u:planted@mail.example'), host: '127.0.0.1', port: office.port }
    await expect(createTransport(options).sendMail({ from: 'a@b.c', to: 'd@e.f', text: 'x' })).rejects.toMatchObject({
      code: 'ETLS',
    })
  })

  it('that does not respond is given up within two minutes', () => {
    const { dnsTimeout, connectionTimeout, greetingTimeout, socketTimeout } = smtpOptions('smtp://h')
    expect([dnsTimeout, connectionTimeout, greetingTimeout, socketTimeout]).toEqual([10_000, 10_000, 30_000, 120_000])
  })
})

describe('without an SMTP server', () => {
  it('mails are written to a folder, once each, and the notifications name the folder', async () => {
    const DATA_DIR = mkdtempSync(join(tmpdir(), 'gatehouse-mail-'))
    closing({ close: () => rmSync(DATA_DIR, { recursive: true, force: true }) })
    const world = await worldWith({ DATA_DIR, PUBLIC_URL: 'http://[::1]:3000' })
    const { passed, shown } = await oneMail(world)
    const { notification_id } = await shown()
    expect(await sendNotification(world.deps, notification_id)).toEqual({})
    await world.pool.query("update sandbox_notification set state = 'waiting', sent_at = null")
    expect(await sendNotification(world.deps, notification_id)).toEqual({})
    const { folder } = await notificationsOf(world.deps, passed.runId)
    expect(folder).toBe(join(DATA_DIR, 'mail'))
    expect(readdirSync(String(folder))).toEqual([`${notification_id}.eml`])
    const mail = await PostalMime.parse(readFileSync(join(String(folder), `${notification_id}.eml`)))
    expect(mail).toMatchObject({ to: [{ name: 'Lin', address: 'lin@example.com' }] })
    expect(mail.text).toContain(passed.reportUrl)
  })

  it('a folder that cannot be written to is a failure that is retried', async () => {
    const world = await worldWith({ MAIL_FOLDER: '/etc/passwd/mail' })
    const { shown } = await oneMail(world)
    const { failure } = await sendNotification(world.deps, (await shown()).notification_id)
    expect(failure).toMatch(/^MAIL_FOLDER: ENOTDIR \(mkdir\)$/)
    expect(await shown()).toMatchObject({ state: 'waiting', last_error: 'the email could not be written' })
  })
})

describe('the settings', () => {
  it.each([
    ...[
      'http://mail.example',
      'smtp:',
      'smtp://',
      'mail.example:25',
      'smtp://u:planted%zz@h',
      'smtp://u:planted@h?debug=true',
    ],
    'smtp://planted@h/path',
  ])('refuse %s as SMTP_URL, without repeating it', (SMTP_URL) => {
    expect(() => readConfig({ SMTP_URL })).toThrow(/^SMTP_URL must be smtp\(s\):\/\//)
    expect(() => readConfig({ SMTP_URL })).not.toThrow(/planted/)
  })

  it.each(['nobody', 'a@b, c@d', 'A <a@b>, B <c@d>', 'A\r\nBcc: x <a@b>', '<a@b>', 'a@b c@d'])(
    'refuse %j as MAIL_FROM',
    (MAIL_FROM) => {
      expect(() => readConfig({ MAIL_FROM })).toThrow(/^MAIL_FROM must be/)
    },
  )

  it.each(['a@b.example', 'Gatehouse Sandbox <no-reply@b.example>', '沙箱 <a@b.example>'])(
    'accept %s as MAIL_FROM',
    (MAIL_FROM) => {
      expect(readConfig({ MAIL_FROM }).MAIL_FROM).toBe(MAIL_FROM)
    },
  )
})
