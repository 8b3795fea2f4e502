import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type JobWorker, startWorker } from '../../../src/operations/jobs/worker.ts'
import { listJobs } from '../../../src/platform/db/jobs-store.ts'
import { notificationsOf, notifyContacts } from '../../../src/sandbox/portal/notify/notifications.ts'
import { MANY_CONNECTIONS, openWorld, type World } from '../../harness.ts'
import { until } from '../../until.ts'
import { passedRun } from './passed-run.ts'
import { hook, type PostOffice, postOffice } from './post-office.ts'

let world: World
let office: PostOffice
let worker: JobWorker
let webhook: Awaited<ReturnType<typeof hook>>
beforeAll(async () => {
  office = await postOffice()
  webhook = await hook(200)
  world = await openWorld({
    ...MANY_CONNECTIONS,
    SMTP_URL: office.url,
    PUBLIC_URL: 'https://gate.example',
    PARTNER_ADDRESS_ALLOW: '127.0.0.1',
  })
  worker = await startWorker(world.deps, world.log, world.databaseUrl)
})
afterAll(async () => {
  await worker.stop()
  await office.close()
  webhook.close()
  await world.close()
})

const done = () => until(async () => (await listJobs(world.deps.db, { failed: false, limit: 9 })).length === 0)
const both = () => ({
  product: { name: '林工', mail: 'lin@example.com', webhook_url: `${webhook.url}?token=planted-in-the-url` },
  business: { name: 'Bo', mail: 'bo@example.com' },
})

describe('contacts', () => {
  it('are notified by mail, in both languages, and by webhook where there is one', async () => {
    const passed = await passedRun(world, both())
    expect(await notificationsOf(world.deps, passed.runId)).toEqual({ folder: null, notifications: [] })
    expect(await notifyContacts(world.deps, passed)).toBe(3)
    await done()

    const [mail, ...more] = office.to('lin@example.com')
    expect(more).toEqual([])
    const { notifications } = await notificationsOf(world.deps, passed.runId)
    expect(mail?.mail).toMatchObject({
      from: { name: 'Gatehouse', address: 'no-reply@gate.example' },
      to: [{ name: '林工', address: 'lin@example.com' }],
      subject: '湖畔 Tickets 的联调测试已通过 / 湖畔 Tickets: integration passed',
      messageId: `<${notifications[0]?.notification_id}@gate.example>`,
      date: world.clock.now().toISOString(),
    })
    const text = String(mail?.mail.text)
    expect(text).toContain(
      '林工，您好：\n\n湖畔 Tickets 已通过联调测试：第 3 次测试，时间 2026-05-06 18:34（北京时间）。',
    )
    expect(text).toContain('run 3, on 2026-05-06 10:34 (UTC).')
    expect(text.split('\n').filter((line) => line === passed.reportUrl)).toHaveLength(2)
    expect(text).toContain('you are the product contact of 湖畔 Tickets')
    // Each contact is told its own next step, in both languages.
    expect(text).toContain('What to do next: check in the report')
    expect(text).toContain('接下来请您：在报告中核对')
    const business = String(office.to('bo@example.com')[0]?.mail.text)
    expect(business).toContain('What to do next: contact your business contact at the platform')
    expect(business).toContain('接下来请您：联系平台的商务对接人')
    expect(office.to('bo@example.com')[0]?.mail.text).toContain('登记的商务对接人')
    expect(webhook.deliveries).toHaveLength(1)

    const sent = { state: 'sent', attempts: 1, last_error: null, sent_at: world.clock.now(), next_attempt_at: null }
    expect(notifications).toMatchObject([
      { ...sent, role: 'product', channel: 'mail', address: 'l***@example.com' },
      { ...sent, role: 'product', channel: 'webhook', address: `${new URL(webhook.url).origin}/…` },
      { ...sent, role: 'business', channel: 'mail', address: 'b***@example.com' },
    ])
    expect(JSON.stringify(notifications)).not.toContain('planted')
  })

  it('are each notified once, despite ten simultaneous requests and a later one', async () => {
    const passed = await passedRun(world, both())
    const [mails, deliveries] = [office.mails.length, webhook.deliveries.length]
    const queued = await Promise.all(
      Array.from({ length: 10 }, () => world.deps.db.tx((db) => notifyContacts({ ...world.deps, db }, passed))),
    )
    expect(queued.sort()).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 3])
    await done()
    expect(await notifyContacts(world.deps, passed)).toBe(0)
    await done()
    expect(office.mails).toHaveLength(mails + 2)
    expect(webhook.deliveries).toHaveLength(deliveries + 1)
  })

  it('are not notified when the transaction is rolled back', async () => {
    const passed = await passedRun(world, both())
    const mails = office.mails.length
    const failing = world.deps.db.tx(async (db) => {
      await notifyContacts({ ...world.deps, db }, passed)
      throw new Error('something else went wrong')
    })
    await expect(failing).rejects.toThrow('something else')
    expect((await notificationsOf(world.deps, passed.runId)).notifications).toEqual([])
    await done()
    expect(office.mails).toHaveLength(mails)
  })

  it('are notified all or none, even without a transaction of the caller', async () => {
    const passed = await passedRun(world, both())
    const rule = "add constraint broken check (role <> 'business') not valid"
    await world.pool.query(`alter table sandbox_notification ${rule}`)
    await expect(notifyContacts(world.deps, passed)).rejects.toThrow('broken')
    await world.pool.query('alter table sandbox_notification drop constraint broken')
    expect((await notificationsOf(world.deps, passed.runId)).notifications).toEqual([])
    expect(await notifyContacts(world.deps, passed)).toBe(3)
    await done()
  })

  it('may be missing', async () => {
    expect(await notifyContacts(world.deps, await passedRun(world, {}))).toBe(0)
  })
})

describe('a name or an address', () => {
  it.each([
    ['Eve\r\nBcc: evil@example.net\r\n\r\nbody', 'eve@example.com'],
    ['Eve" <evil@example.net>, "x', 'eve@example.com'],
    ['Eve', 'eve@example.com\r\nRCPT TO:<evil@example.net>'],
    ['Eve', 'eve@example.com, evil@example.net'],
    ['Eve', 'eve@example.com> <evil@example.net'],
  ])('cannot add a recipient or a header: %j, %j', async (name, address) => {
    const passed = await passedRun(world, { product: { name: 'Eve', mail: 'eve@example.com' } })
    const before = office.mails.length
    // Bypasses the registry, which would refuse it.
    await world.pool.query('update partner_contact set name = $1, mail = $2 where partner_id = $3', [
      name,
      address,
      passed.partnerId,
    ])
    await notifyContacts(world.deps, passed)
    const ended = await until(async () => {
      const [one] = (await notificationsOf(world.deps, passed.runId)).notifications
      return (one?.attempts ?? 0) > 0 && one
    })
    for (const { recipients, raw } of office.mails.slice(before)) {
      expect(recipients).toHaveLength(1)
      expect(recipients).not.toContain('evil@example.net')
      expect(raw.split('\r\n\r\n')[0]).not.toMatch(/^(Bcc|RCPT)/im)
    }
    expect(ended.last_error ?? '').not.toContain('evil')
    await world.pool.query('delete from sandbox_notification where run_id = $1', [passed.runId])
    await world.pool.query('delete from graphile_worker._private_jobs where locked_at is null')
  })
})
