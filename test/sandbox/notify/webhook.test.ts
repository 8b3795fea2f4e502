import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { notifyContacts, type Passed, sendNotification } from '../../../src/sandbox/portal/notify/notifications.ts'
import { rotateWebhookSecret, setContact, webhookSecret } from '../../../src/ticketing/partners/contact.ts'
import { rotatePartnerSecret } from '../../../src/ticketing/partners/secret.ts'
import { freePort } from '../../free-port.ts'
import { openWorld, type World } from '../../harness.ts'
import { onlyNotification, passedRun, SECRET } from './passed-run.ts'
import { hook } from './post-office.ts'

let world: World
let strict: World
const hooks: { close(): void }[] = []
beforeAll(async () => {
  world = await openWorld({ PARTNER_ADDRESS_ALLOW: '127.0.0.1' })
  strict = await openWorld({ DEMO: 'off' })
})
afterAll(async () => {
  for (const one of hooks) one.close()
  await world.close()
  await strict.close()
})

const receiver = async (...statuses: [number, ...number[]]) => {
  const opened = await hook(...statuses)
  hooks.push(opened)
  return opened
}

/** Creates a partner whose product contact is notified by this webhook only. */
async function notifiedByWebhook(
  where: World,
  webhook_url: string,
): Promise<{ passed: Passed; secret: string; attempt: () => Promise<object> }> {
  const { webhookSecret: secret, ...passed } = await passedRun(where, {
    product: { name: 'Lin', mail: 'lin@example.com', webhook_url },
  })
  await notifyContacts(where.deps, passed)
  await where.pool.query("delete from sandbox_notification where channel = 'mail'")
  const { notification_id } = await onlyNotification(where, passed)
  return { passed, secret, attempt: () => sendNotification(where.deps, notification_id) }
}

/** Follows the Standard Webhooks specification. Not by its library, which would look at the real clock. */
function verifies(
  secret: string,
  { headers, body }: { headers: NodeJS.Dict<string | string[]>; body: string },
): boolean {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
  const expected = `v1,${createHmac('sha256', key).update(signed).digest('base64')}`
  return String(headers['webhook-signature']).split(' ').includes(expected)
}

describe('a webhook', () => {
  it('receives who passed and where the report is, signed', async () => {
    const { url, deliveries } = await receiver(204)
    const { passed, secret, attempt } = await notifiedByWebhook(world, `${url}?token=1`)
    expect(await attempt()).toEqual({})
    const [delivery] = deliveries
    expect(delivery?.path).toBe('/hook?token=1')
    expect(JSON.parse(String(delivery?.body))).toEqual({
      type: 'sandbox.run.passed',
      timestamp: '2026-05-06T10:34:20.000Z',
      data: {
        partnerId: String(passed.partnerId),
        runId: passed.runId,
        runNumber: 3,
        passedAt: '2026-05-06T10:34:20.000Z',
        reportUrl: passed.reportUrl,
        role: 'product',
      },
    })
    const shown = await onlyNotification(world, passed)
    expect(delivery?.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'webhook-id': shown.notification_id,
      'webhook-timestamp': String(Date.parse('2026-05-06T10:34:20Z') / 1000),
    })
    expect(secret).toMatch(/^whsec_[0-9A-Za-z+/]{32}$/)
    expect(delivery && verifies(secret, delivery)).toBe(true)
    // The clientSecret, which moves money, signs nothing that is sent to another endpoint.
    for (const other of [SECRET, btoa(SECRET)]) expect(delivery && verifies(other, delivery)).toBe(false)
    expect(shown).toMatchObject({ channel: 'webhook', state: 'sent', attempts: 1, last_error: null })
  })

  it('is called again until it answers 2xx, with the same id and body and a fresh signature', async () => {
    const { url, deliveries } = await receiver(500, 302, 410, 200)
    const { passed, secret, attempt } = await notifiedByWebhook(world, url)
    for (const status of [500, 302, 410]) {
      expect(await attempt()).toEqual({ failure: `webhook: HTTP status ${status}` })
      expect(await onlyNotification(world, passed)).toMatchObject({
        state: 'waiting',
        last_error: `the webhook responded with HTTP status ${status}`,
      })
      world.clock.advance(60)
    }
    expect(await attempt()).toEqual({})
    expect(await attempt()).toEqual({})
    expect(deliveries.map(({ path }) => path)).toEqual(Array(4).fill('/hook'))
    expect(new Set(deliveries.map(({ body }) => body)).size).toBe(1)
    expect(new Set(deliveries.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    expect(new Set(deliveries.map(({ headers }) => headers['webhook-timestamp'])).size).toBe(4)
    for (const delivery of deliveries) expect(verifies(secret, delivery)).toBe(true)
    expect(await onlyNotification(world, passed)).toMatchObject({ state: 'sent', attempts: 4, last_error: null })
  })

  it('is signed with the new secret once that is rotated, and is unaffected by rotating the clientSecret', async () => {
    const { url, deliveries } = await receiver(500, 500, 200)
    const { passed, secret, attempt } = await notifiedByWebhook(world, url)
    await rotatePartnerSecret(world.deps, passed.partnerId, { overlap_s: 60 })
    await attempt()
    const { webhook_secret } = await rotateWebhookSecret(world.deps, passed.partnerId, 'product')
    await attempt()
    const [before, after] = deliveries
    expect(before && verifies(secret, before)).toBe(true)
    expect(after && [secret, webhook_secret].map((one) => verifies(one, after))).toEqual([false, true])
  })

  it('keeps its secret while its URL stays, and gets a new one with another URL', async () => {
    const { passed } = await notifiedByWebhook(world, 'https://a.example/hook')
    const set = async (webhook_url: string | null, name = 'Lin') =>
      (await setContact(world.deps, passed.partnerId, { role: 'product', name, mail: 'lin@example.com', webhook_url }))
        .webhook_secret
    const secretOf = (url: string) => webhookSecret(world.deps, { partnerId: passed.partnerId, role: 'product', url })
    const first = await secretOf('https://a.example/hook')
    expect(first).toMatch(/^whsec_[0-9A-Za-z+/]{32}$/)
    expect(await set('https://a.example/hook', 'Wang')).toBeUndefined()
    expect(await secretOf('https://a.example/hook')).toEqual(first)
    expect(await set('https://b.example/hook')).toMatch(/^whsec_/)
    expect(await secretOf('https://b.example/hook')).not.toEqual(first)
    expect(await secretOf('https://a.example/hook')).toBeUndefined()
    expect(await set(null)).toBeUndefined()
    await expect(rotateWebhookSecret(world.deps, passed.partnerId, 'product')).rejects.toThrow('no webhook')
    expect(await set('https://b.example/hook')).toMatch(/^whsec_/)
  })

  it('at a private address is not called, and its error reads as if nobody listened there', async () => {
    const { url, deliveries } = await receiver(200)
    const { port } = new URL(url)
    for (const blocked of [
      url,
      `http://localhost:${port}/hook`,
      `http://2130706433:${port}/hook`,
      `http://[::ffff:127.0.0.1]:${port}/hook`,
      'http://169.254.169.254/latest/meta-data',
    ]) {
      const { passed, attempt } = await notifiedByWebhook(strict, blocked)
      expect(await attempt()).toEqual({ failure: expect.stringMatching(/^webhook: address/) })
      expect(await onlyNotification(strict, passed)).toMatchObject({
        state: 'waiting',
        last_error: 'the webhook cannot be reached',
      })
    }
    expect(deliveries).toEqual([])
    const { passed, attempt } = await notifiedByWebhook(world, `http://127.0.0.1:${await freePort()}/hook`)
    expect(await attempt()).toEqual({ failure: 'webhook: connect (ECONNREFUSED)' })
    expect(await onlyNotification(world, passed)).toMatchObject({
      state: 'waiting',
      last_error: 'the webhook cannot be reached',
    })
  })

  it('leaves no secret and no URL in the records of a failure', async () => {
    const { url } = await receiver(500) // echoes the headers, signature included
    const { attempt } = await notifiedByWebhook(world, `${url}/planted?token=planted`)
    await attempt()
    const { rows } = await world.pool.query('select last_error from sandbox_notification')
    const traces = JSON.stringify(rows) + world.logged()
    for (const trace of ['planted', SECRET, 'v1,']) expect(traces).not.toContain(trace)
  })

  it('whose secret cannot be decrypted is an error of the platform, and is retried', async () => {
    const { url, deliveries } = await receiver(200)
    const { passed, attempt } = await notifiedByWebhook(world, url)
    await world.pool.query(
      "update partner_contact set webhook_secret = webhook_secret || '\\x00' where partner_id = $1",
      [passed.partnerId],
    )
    expect(await attempt()).toEqual({ failure: expect.stringMatching(/sealed secret cannot be opened/) })
    expect(await onlyNotification(world, passed)).toMatchObject({
      state: 'waiting',
      last_error: 'an error of the platform',
    })
    expect(deliveries).toEqual([])
  })
})
