import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sendAppEvents, tellOfEndingSecrets } from '../../src/authorization/app-events/index.ts'
import { visibleText } from '../acceptance/form.ts'
import { type Answer, header } from '../acceptance/http.ts'
import { openWorld, type World } from '../harness.ts'
import { DISGUISES } from '../outbound/disguises.ts'
import { hook } from '../sandbox/notify/post-office.ts'
import {
  clientOf,
  type Developer,
  founder,
  joined,
  registered,
  secretOf,
  signInAgain,
  tester,
  withAuthenticator,
} from '../teams/people.ts'
import { until } from '../until.ts'

/** How a team sets, tests and monitors the webhook of its app, with a real receiver. */

let world: World
let strict: World
let owner: Developer & { team: string }
const closing: (() => void)[] = []
beforeAll(async () => {
  world = await openWorld({ PARTNER_ADDRESS_ALLOW: '127.0.0.1', CODE_DUPLICATE_WINDOW_S: '0' })
  strict = await openWorld({ DEMO: 'off' })
  owner = await founder(world)
  await withAuthenticator(world, owner)
})
afterAll(async () => {
  for (const close of closing) close()
  await world?.close()
  await strict?.close()
})

const { signal } = new AbortController()
const seen = (answer: Answer) => visibleText(answer.text).replace(/\s+/g, ' ')
const secretIn = ({ text }: Answer): string => /<pre[^>]*>(whsec_[^<]+)<\/pre>/.exec(text)?.[1] ?? ''
const send = (appKey: string) => sendAppEvents(world.deps, appKey, signal)

async function receiver(...statuses: [number, ...number[]]) {
  const opened = await hook(...statuses)
  closing.push(opened.close)
  return opened
}

type Delivery = Awaited<ReturnType<typeof hook>>['deliveries'][number]
/** Signs with the library of the specification; its verification would compare timestamps with the real clock. */
function verifies(secret: string, delivery: Delivery | undefined): boolean {
  const { headers, body } = delivery as Delivery
  const at = new Date(Number(headers['webhook-timestamp']) * 1_000)
  const signature = new Webhook(secret).sign(String(headers['webhook-id']), at, body)
  return String(headers['webhook-signature']).split(' ').includes(signature)
}
const eventsIn = (deliveries: readonly Delivery[]) => deliveries.map(({ body }) => JSON.parse(body))

/** An app with a webhook; requires that the owner has signed in recently. */
async function withWebhook(url: string, by = owner, where = world) {
  const appKey = await registered(by)
  const path = `/developer/apps/${appKey}/webhook`
  const answer = await by.browser.send('POST', path, { webhook_url: url })
  if (header(answer, 'location')?.startsWith('/sign-in')) throw new Error(`sign in anew: ${where.clock.now()}`)
  return { appKey, path, answer, secret: secretIn(answer) }
}
const press = (path: string, what: string, form = {}) => owner.browser.send('POST', `${path}/${what}`, form)

describe('the webhook of an app', () => {
  it('is set by an owner with a second factor, and its secret is shown once', async () => {
    const { url } = await receiver(204)
    const newcomer = await founder(world)
    const withoutFactor = await withWebhook(url, newcomer)
    expect([withoutFactor.answer.status, seen(withoutFactor.answer)]).toEqual([
      403,
      expect.stringContaining('For this, your account needs'),
    ])
    const { path, secret, appKey } = await withWebhook(url)
    expect(secret).toMatch(/^whsec_/)
    expect(seen(await owner.browser.open(path))).toContain('Make a new signing secret')
    expect((await owner.browser.open(path)).text).not.toContain(secret)
    const again = await owner.browser.send('POST', path, { webhook_url: url })
    expect([again.status, header(again, 'location')]).toEqual([303, `${path}?done=same`])
    expect(seen(await owner.browser.open(`${path}?done=same`))).toContain('If you have not copied it, make a new one')
    const { rows } = await world.pool.query('select actor, detail from audit_event where app_key = $1', [appKey])
    expect(JSON.stringify(rows) + world.logged()).not.toContain(secret)
    expect(new Set(rows.map(({ actor }) => actor))).toEqual(new Set(['user']))
    expect(header(await owner.browser.send('POST', path, { webhook_url: '' }), 'location')).toBe(`${path}?done=removed`)
  })

  it('is not changed by a form without a URL', async () => {
    const { url } = await receiver(204)
    const { appKey, path } = await withWebhook(url)
    expect((await owner.browser.send('POST', path, {})).status).toBe(400)
    const { rows } = await world.pool.query('select webhook_url from micro_app where app_key = $1', [appKey])
    expect(rows).toEqual([{ webhook_url: url }])
  })

  it('must not have a private, unencrypted or invalid URL', async () => {
    const strange = await founder(strict)
    await withAuthenticator(strict, strange)
    const appKey = await registered(strange)
    const path = `/developer/apps/${appKey}/webhook`
    for (const webhook_url of [
      ...['http://hooks.example.com/', 'https://localhost/hook', 'https://127.0.0.1/hook', 'https://[::1]/'],
      ...['https://10.1.2.3/hook', 'https://169.254.169.254/latest', 'https://a.localhost./', 'https://localhost./'],
      ...DISGUISES.map((host) => `https://${host}/`),
      ...['https://u:p@hooks.example.com/', 'https://hooks.example.com/#x', 'nonsense', 'javascript:alert(1)'],
    ]) {
      const answer = await strange.browser.send('POST', path, { webhook_url })
      expect([webhook_url, answer.status]).toEqual([webhook_url, 400])
      expect(answer.text).toContain('Nothing was changed')
    }
    const { rows } = await strict.pool.query('select webhook_url from micro_app where app_key = $1', [appKey])
    expect(rows).toEqual([{ webhook_url: null }])
    expect((await strange.browser.send('POST', path, { webhook_url: 'https://hooks.example.com/' })).status).toBe(200)
  })

  it('can be tested at most five times a minute, and the list shows each response', async () => {
    const { url, deliveries } = await receiver(204, 302, 500, 204)
    const { path, secret, appKey } = await withWebhook(url)
    for (const status of [204, 302, 500]) {
      expect(header(await press(path, 'test'), 'location')).toBe(`${path}?done=tested`)
      await send(appKey)
      expect(seen(await owner.browser.open(path))).toContain(`Answer: ${status}`)
      world.clock.advance(1)
    }
    expect(eventsIn(deliveries)[0]).toEqual({
      type: 'webhook.test',
      timestamp: expect.any(String),
      data: { app_key: appKey },
    })
    expect(deliveries.every((one) => verifies(secret, one))).toBe(true)
    for (let n = 0; n < 2; n++) await press(path, 'test')
    const refused = await press(path, 'test')
    expect([refused.status, seen(refused)]).toEqual([429, expect.stringContaining('Wait a minute')])
    expect(Number(header(refused, 'retry-after'))).toBeGreaterThan(0)
  })

  it('gets an event again under the same id on request, whatever its state', async () => {
    const { url, deliveries } = await receiver(410, 200)
    const { path, appKey } = await withWebhook(url)
    await press(path, 'test')
    world.clock.advance(3 * 86_400 + 1) // delivery is given up
    await send(appKey)
    // After three days the owner has to sign in again.
    expect(eventsIn(deliveries)).toHaveLength(1)
    const page = await openAfterSignIn(path)
    expect(seen(page)).toContain('Given up')
    const id = /events\/([0-9a-f-]{36})\/retry/.exec(page.text)?.[1] ?? ''
    for (let n = 0; n < 2; n++) {
      expect(header(await press(path, `events/${id}/retry`), 'location')).toBe(`${path}?done=again`)
      await send(appKey)
      expect(seen(await owner.browser.open(path))).toContain('Delivered')
    }
    expect(deliveries.map(({ headers }) => headers['webhook-id'])).toEqual([id, id, id])
    const { path: ofAnother } = await withWebhook(url)
    expect((await press(ofAnother, `events/${id}/retry`)).status).toBe(404)
    expect((await press(path, 'events/3b9d0c1e-0000-4000-8000-000000000000/retry')).status).toBe(404)
    expect((await press(path, 'events/nonsense/retry')).status).toBe(404)
  })

  it('is signed with the newest two secrets only, and the page warns before another is made', async () => {
    const { url, deliveries } = await receiver(200)
    const { path, secret, appKey } = await withWebhook(url)
    const secrets = [secret]
    const warned: boolean[] = []
    for (let made = 0; made < 2; made++) {
      const { text } = await owner.browser.open(path)
      warned.push(text.includes('the older one stops signing at once'))
      const replaces = /name="replaces" value="([^"]+)"/.exec(text)?.[1] ?? ''
      secrets.push(secretIn(await press(path, 'secret', { overlap_s: '604800', replaces })))
    }
    expect(warned).toEqual([false, true])
    await press(path, 'test')
    await send(appKey)
    expect(secrets.map((one) => verifies(one, deliveries.at(-1)))).toEqual([false, true, true])
  })

  it('is signed with both secrets until the old one ends, and with neither after the URL changes', async () => {
    const { url, deliveries } = await receiver(200)
    const { path, secret, appKey } = await withWebhook(url)
    const replaces = /name="replaces" value="([^"]+)"/.exec((await owner.browser.open(path)).text)?.[1] ?? ''
    const next = secretIn(await press(path, 'secret', { overlap_s: '3600', replaces }))
    const signedBy = async () => {
      await press(path, 'test')
      await send(appKey)
      return [secret, next].map((one) => verifies(one, deliveries.at(-1)))
    }
    expect(await signedBy()).toEqual([true, true])
    world.clock.advance(3_600)
    await openAfterSignIn(path)
    expect(await signedBy()).toEqual([false, true])
    const moved = secretIn(await owner.browser.send('POST', path, { webhook_url: `${url}/moved` }))
    expect(await signedBy()).toEqual([false, false])
    expect(verifies(moved, deliveries.at(-1))).toBe(true)
  })

  it('of a live app changes immediately, even while a request for approval is pending', async () => {
    const appKey = await registered(owner)
    await world.pool.query("update micro_app set stage = 'live' where app_key = $1", [appKey])
    const app = `/developer/apps/${appKey}`
    const changes = { redirect_uris: 'https://app.example.com/callback', name: 'Renamed' }
    await owner.browser.send('POST', `${app}/edit`, { ...formOf(), ...changes })
    world.clock.advance(1)
    const { url, deliveries } = await receiver(200)
    await owner.browser.send('POST', `${app}/webhook`, { webhook_url: url })
    const client = clientOf(world)
    const { requests } = await client.admin('GET', '/app-requests')
    const { request_id } =
      (requests as { request_id: string; app_key: string }[]).find((one) => one.app_key === appKey) ?? {}
    await client.admin('POST', `/app-requests/${request_id}/approve`)
    await send(appKey)
    expect(eventsIn(deliveries)).toEqual([
      { type: 'app.approved', timestamp: expect.any(String), data: { app_key: appKey, request_id, kind: 'change' } },
    ])
    const shown = (await client.admin('GET', `/apps/${appKey}`)) as { name: string; webhook_url: string }
    expect(shown).toMatchObject({ name: 'Renamed', webhook_url: url })
  })

  it('ends when operators give the app to another team, not when they give it to the same one', async () => {
    const { url, deliveries } = await receiver(200)
    const { appKey, path } = await withWebhook(url)
    const other = await founder(world)
    const give = (team_id: string) => clientOf(world).admin('POST', `/apps/${appKey}/give`, { team_id })
    expect(await give(owner.team)).toMatchObject({ webhook_removed: false })
    expect(await clientOf(world).admin('GET', `/apps/${appKey}`)).toMatchObject({ webhook_url: url })
    await press(path, 'test')
    expect(await give(other.team)).toMatchObject({ webhook_removed: true })
    await send(appKey)
    expect(deliveries).toEqual([])
    const { rows } = await world.pool.query('select webhook_url, webhook_secret from micro_app where app_key = $1', [
      appKey,
    ])
    expect(rows).toEqual([{ webhook_url: null, webhook_secret: null }])
    expect((await owner.browser.open(path)).status).toBe(404)
    expect(seen(await other.browser.open(path))).not.toContain(url)
  })

  it('gets no event for a request that is returned, or whose approval fails', async () => {
    const { url, deliveries } = await receiver(200)
    const { appKey } = await withWebhook(url)
    const client = clientOf(world)
    const requestApproval = async () => {
      await owner.browser.send('POST', `/developer/apps/${appKey}/request`, {})
      const { requests } = await client.admin('GET', '/app-requests')
      return (requests as { request_id: string; app_key: string }[]).find((one) => one.app_key === appKey)?.request_id
    }
    await client.admin('POST', `/app-requests/${await requestApproval()}/return`, { remark: 'What is it for?' })
    const second = await requestApproval()
    await world.pool.query(
      'alter table audit_event add constraint refuses check (event <> $$app_request_approved$$) not valid',
    )
    await expect(client.admin('POST', `/app-requests/${second}/approve`)).rejects.toThrow()
    await world.pool.query('alter table audit_event drop constraint refuses')
    await send(appKey)
    expect(deliveries).toEqual([])
    await client.admin('POST', `/app-requests/${second}/approve`)
    await send(appKey)
    expect(eventsIn(deliveries).map(({ type, data }) => [type, data.kind])).toEqual([['app.approved', 'live']])
  })

  it('gets one event for each secret that expires within a week', async () => {
    const { url, deliveries } = await receiver(200)
    const { appKey } = await withWebhook(url)
    const silent = await registered(owner)
    const client = clientOf(world)
    for (const key of [appKey, silent]) {
      await client.admin('POST', `/apps/${key}/rotate-secret`)
      await client.admin('POST', `/apps/${key}/rotate-secret`, { overlap_s: 8 * 86_400 })
    }
    const ends_at = new Date(world.clock.now().getTime() + 8 * 86_400_000).toISOString()
    const runChecks = async () => {
      await Promise.all([1, 2].map(() => tellOfEndingSecrets(world.deps, signal)))
      await send(appKey)
    }
    await runChecks()
    expect(deliveries).toEqual([])
    world.clock.advance(86_400)
    await runChecks()
    await runChecks()
    expect(eventsIn(deliveries)).toEqual([
      {
        type: 'secret.expiring',
        timestamp: expect.any(String),
        data: { app_key: appKey, created_at: expect.any(String), ends_at },
      },
    ])
    await openAfterSignIn(`/developer/apps/${silent}/webhook`)
    await owner.browser.send('POST', `/developer/apps/${silent}/webhook`, { webhook_url: url })
    await runChecks()
    await send(silent)
    expect(eventsIn(deliveries).map(({ data }) => data.app_key)).toEqual([appKey, silent])
    world.clock.advance(8 * 86_400)
    await runChecks()
    expect(deliveries).toHaveLength(2)
  })

  it('that is down for a day gets all events later, possibly out of order, each under its own id', async () => {
    await openAfterSignIn('/developer')
    const { url, deliveries } = await receiver(503, 200, 503, 503, 200)
    const { path, appKey } = await withWebhook(url)
    await press(path, 'test')
    await send(appKey) // 503
    world.clock.advance(10)
    await press(path, 'test')
    await send(appKey) // the second event gets 200, then the first one again 503
    expect(eventsIn(deliveries)).toHaveLength(3)
    world.clock.advance(86_400)
    await send(appKey) // 503, but delivery is not given up yet
    world.clock.advance(600)
    await send(appKey)
    const [first, second, firstAgain, aDayLater, last] = deliveries
    const idOf = (one: Delivery | undefined) => one?.headers['webhook-id']
    expect([firstAgain, aDayLater, last].map(idOf)).toEqual([first, first, first].map(idOf))
    expect([last?.body, firstAgain?.body]).toEqual([first?.body, first?.body])
    const times = eventsIn(deliveries).map(({ timestamp }) => timestamp)
    expect(times[1] > times[4]).toBe(true)
    expect(idOf(second)).not.toBe(idOf(first))
    const { rows } = await world.pool.query(
      'select state, attempts from app_event where app_key = $1 order by created_at',
      [appKey],
    )
    expect(rows).toEqual([
      { state: 'sent', attempts: 4 },
      { state: 'sent', attempts: 1 },
    ])
  })

  it('that never answers delays no other app, and gets the event again', async () => {
    await openAfterSignIn('/developer')
    let calls = 0
    const server = createServer((_request, response) => {
      calls++
      if (calls > 1) response.writeHead(200).end()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    closing.push(() => {
      server.closeAllConnections()
      server.close()
    })
    const slow = await withWebhook(`http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`)
    const quick = await receiver(200)
    const other = await withWebhook(quick.url)
    await press(slow.path, 'test')
    await press(other.path, 'test')
    const sending = send(slow.appKey)
    await until(async () => calls === 1)
    expect(await send(other.appKey)).toEqual({})
    expect(quick.deliveries).toHaveLength(1)
    expect(await sending).toEqual({ failure: expect.stringMatching(/^webhook: /) })
    expect(seen(await owner.browser.open(slow.path))).toContain('It did not respond in time')
    expect(await send(slow.appKey)).toEqual({})
    expect(calls).toBe(2)
  })

  it('does not show the team whom an event was about', async () => {
    await openAfterSignIn('/developer')
    const { url } = await receiver(200)
    const { appKey, path } = await withWebhook(url)
    const app_secret = await secretOf(owner, appKey)
    const browser = await tester(world, owner, appKey)
    const app = { app_key: appKey, app_secret, redirect_uri: 'http://localhost:8000/callback' }
    await clientOf(world).getTokens(browser, app, { scope: 'USER_INFO' })
    await browser.send('POST', '/account/apps/withdraw', { app_key: appKey })
    const { rows } = await world.pool.query('select user_id from app_event where app_key = $1', [appKey])
    const page = await owner.browser.open(path)
    expect(seen(page)).toContain('grant.revoked')
    expect(rows).toHaveLength(1)
    expect(page.text).not.toContain(rows[0].user_id)
    const member = await joined(world, owner)
    expect(seen(await member.browser.open(path))).toContain('grant.revoked')
  })
})

const formOf = () => ({
  kind: 'server',
  hosts: '',
  logo_url: '',
  scope_USER_INFO: '1',
  reason_USER_INFO: 'The name stands on the ticket',
})

/** The page after signing in again, as the last sign-in is too old to change anything, or has ended. */
async function openAfterSignIn(path: string): Promise<Answer> {
  await signInAgain(world, owner)
  return owner.browser.open(path)
}
