import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOperator } from '../../src/operations/operators/index.ts'
import { maskedMail } from '../../src/platform/lib/web/admin-auth.ts'
import { Client, type User } from '../acceptance/client.ts'
import { injectWire } from '../acceptance/http.ts'
import { type Person, signedInAs } from '../console/person.ts'
import { openWorld, type World } from '../harness.ts'

/** A viewer sees neither how to reach a person nor the secrets in webhook URLs, wherever they are shown; support does. */

const MAIL = 'reachable@example.com'
const HIDDEN = ['reachable@', 'secret-in-path']
const INTERFACE = 'https://seller.example.com/api?name=order-create&key=secret-in-path'
const WEBHOOK = 'https://hooks.example.com/secret-in-path?key=secret-in-path'

let world: World
let user: User
let paths: { readonly api: readonly string[]; readonly pages: readonly string[] }
const tokens = new Map<string, string>()
let people: (role: 'viewer' | 'support') => { readonly person: Person }
beforeAll(async () => {
  world = await openWorld({ PARTNER_ADDRESS_ALLOW: '127.0.0.1' })
  const client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
  user = await client.makeUser({ passport: MAIL })
  const { app_key } = await client.makeApp({ webhook_url: WEBHOOK })
  const { partner_id } = await client.admin('POST', '/partners', {
    name: 'Told',
    interface_urls: { 'order-create': INTERFACE },
    contacts: { product: { name: 'Lin', mail: 'lin@example.com', webhook_url: WEBHOOK } },
  })
  await client.admin('PATCH', `/partners/${partner_id}`, { interface_urls: { 'order-query': INTERFACE } })
  const { rows } = await world.pool.query(
    `insert into partner_call (call_id, partner_id, interface, url, request_headers, request_body, started_at, duration_ms, cause)
     values (gen_random_uuid(), $1, 'order-query', $2, '{}', '{}', $3, 1, 'operator') returning call_id`,
    [partner_id, INTERFACE, world.clock.now()],
  )
  for (const role of ['viewer', 'support'] as const)
    tokens.set(role, (await createOperator(world.deps, { name: `a-${role}`, role, days: 1 })).token)
  people = await signedInAs(world, ['viewer', 'support'])
  const person = `/users/${user.cid}/${user.user_id}`
  paths = {
    api: [
      '/users',
      person,
      '/apps',
      `/apps/${app_key}`,
      '/partners',
      `/partners/${partner_id}`,
      '/audit',
      `/traffic/${rows[0].call_id}`,
    ],
    pages: [
      ...['/users', '/users?export=csv', '/users?export=ndjson', `/users/user?cid=${user.cid}&user_id=${user.user_id}`],
      ...['/apps?export=ndjson', `/apps/${app_key}`, '/partners?export=ndjson', `/partners/${partner_id}`],
      ...['/audit', `/traffic/${partner_id}/call/${rows[0].call_id}`],
      `/search?q=${user.cid}/${user.user_id}`,
    ],
  }
})
afterAll(() => world.close())

const asked = (role: string, path: string) =>
  world.app.inject({ url: `/admin/v1${path}`, headers: { authorization: `Bearer ${tokens.get(role)}` } })

async function hiddenTextsSeenBy(role: 'viewer' | 'support'): Promise<string[]> {
  const { person } = people(role)
  const answers: string[] = []
  for (const path of paths.api) {
    const { statusCode, body } = await asked(role, path)
    expect(statusCode, path).toBe(200)
    answers.push(body)
  }
  for (const path of paths.pages) answers.push((await person.get(`/console${path}`)).text)
  return [...paths.api, ...paths.pages].filter((_, place) => HIDDEN.some((text) => answers[place]?.includes(text)))
}

describe('a viewer', () => {
  it('sees mail addresses of people and URLs of webhooks masked', async () => {
    expect(await hiddenTextsSeenBy('viewer')).toEqual([])
    expect((await asked('viewer', `/users/${user.cid}/${user.user_id}`)).json().data.passport).toBe('r***@example.com')
    expect(['lin', '林', 'a@b@example.com', ''].map(maskedMail)).toEqual(['l***', '林***', 'a***@example.com', ''])
    expect((await asked('viewer', '/apps')).json().data.apps).toMatchObject([
      { webhook_url: 'https://hooks.example.com/…' },
    ])
  })

  it('cannot find out an address letter by letter', async () => {
    const { statusCode, json } = await asked('viewer', '/users?passport=reach')
    expect([statusCode, json().data.message]).toEqual([403, expect.stringContaining('needs the role support')])
    const found = await people('viewer').person.get('/console/search?q=reach')
    expect([found.status, found.text.includes('/console/users/user')]).toEqual([200, false])
  })
})

describe('support', () => {
  it('sees them, and searches by them', async () => {
    expect((await hiddenTextsSeenBy('support')).length).toBeGreaterThan(10)
    expect((await asked('support', '/users?passport=reach')).json().data.users).toMatchObject([{ passport: MAIL }])
    expect((await people('support').person.get('/console/search?q=reach')).location).toContain('/console/users/user')
  })
})
