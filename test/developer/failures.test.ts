import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Client } from '../acceptance/client.ts'
import { visibleText } from '../acceptance/form.ts'
import { header } from '../acceptance/http.ts'
import { openWorld, type World } from '../harness.ts'
import { clientOf, type Developer, founder, registered, tester } from '../teams/people.ts'
import { until } from '../until.ts'

/** The page on which developers find the refused requests of their app (mistakes.test.ts tests the advice it gives). */

let world: World
let client: Client
let owner: Developer & { team: string }
let app: { app_key: string; app_secret: string; redirect_uri: string }
beforeAll(async () => {
  world = await openWorld()
  client = clientOf(world)
  owner = await founder(world)
  app = { app_key: await registered(owner), app_secret: '', redirect_uri: 'http://localhost:8000/callback' }
})
afterAll(() => world?.close())

const seen = async (query = '') =>
  visibleText((await owner.browser.open(`/developer/apps/${app.app_key}/failures${query}`)).text).replace(/\s+/g, ' ')
const authorize = (changes: Record<string, string | undefined>) => async () => {
  const browser = await tester(world, owner, app.app_key)
  return browser.open(client.authorizePath(client.request(app, { scope: 'USER_INFO', ...changes })))
}

it('the page shows what was received beside what is registered, and no personal data', async () => {
  const answer = await authorize({ redirect_uri: 'http://localhost:8000/elsewhere?secret=1' })()
  const id = String(answer.headers['x-request-id'])
  await until(async () => (await seen(`?request_id=${id}`)).includes('How to fix it'))
  const text = await seen(`?request_id=${id}`)
  expect(text).toContain('Received redirect_uri http://localhost:8000/elsewhere?…')
  expect(text).toContain('Registered http://localhost:8000/callback')
  expect(await seen()).not.toMatch(/test-[0-9a-f]{8}|ghac_|ghat_|secret=1/)
})

it('the page finds a request by its number in any case, behind a thousand later ones of strangers', async () => {
  const insert = (id: string, at: number, proved: boolean) =>
    world.pool.query(
      `insert into refused_request (request_id, at, endpoint, method, status, rescode, parameters, app_key, proved,
         routing_key)
       select ${id}, $1, 'A2', 'GET', 200, 20007, '', $2, $3, 0 from generate_series(1, $4)`,
      [new Date(world.clock.now().getTime() - at), app.app_key, proved, proved ? 1 : 1_001],
    )
  const id = 'ab3d7f8e-4f7e-4c1e-9d4e-27c9d1a0beef'
  await insert(`'${id}'::uuid`, 60_000, true)
  await insert('gen_random_uuid()', 1_000, false)
  for (const written of [id, id.toUpperCase()]) {
    expect(await seen(`?request_id=${written}`)).not.toContain('has this number')
  }
  expect(await seen()).toContain('names this app without a secret')
  expect(await seen('?proved=1')).not.toContain('names this app without a secret')
  expect(await seen('?page=20')).toContain('Newer')
  expect(await seen('?page=20')).not.toContain('Older')
})

it('the page of one app shows no request of another, even by its request id', async () => {
  const other = await founder(world)
  const made = await registered(other)
  const { rows } = await world.pool.query('select request_id from refused_request where app_key = $1 limit 1', [
    app.app_key,
  ])
  const page = await other.browser.open(`/developer/apps/${made}/failures?request_id=${rows[0].request_id}`)
  expect(visibleText(page.text)).toContain('No refused request of this app has this number.')
})

it('the error page links to the failure, which only the developers of the app can see', async () => {
  for (const path of ['/oauth/v2/authorize?response_type=code&app_key=', '/oauth2/authorize?client_id=']) {
    const wrong = await client.call('GET', `${path}${app.app_key}&redirect_uri=x`, { accept: 'text/html' })
    const [, link = ''] = /href="(\/developer\/failures\?request_id=[0-9a-f-]{36})"/.exec(wrong.text) ?? []
    expect(link).toContain(wrong.headers['x-request-id'])
    expect(visibleText(wrong.text)).toContain('For the developer of the app')
    const target = `/developer/apps/${app.app_key}/failures${link.slice(link.indexOf('?'))}`
    await until(async () => (await owner.browser.send('GET', link)).headers.location === target || undefined)
    const other = await (await founder(world)).browser.open(link)
    expect(visibleText(other.text)).toContain('No refused request of your apps has this number.')
    expect(header(await client.newBrowser().send('GET', link), 'location')).toMatch(/^\/sign-in\?return_to=/)
  }
})

it('the error page for an unknown app links nowhere and says what to compare', async () => {
  for (const path of ['/oauth/v2/authorize?response_type=code&app_key=x', '/oauth2/authorize?client_id=x']) {
    const { text } = await client.call('GET', path, { accept: 'text/html' })
    expect(visibleText(text)).toContain('No app has this ID here.')
    expect(text).not.toContain('/developer/failures')
  }
})

it('error pages do not address developers if they do not concern them, or if DEVELOPERS is off', async () => {
  const html = { accept: 'text/html' }
  expect((await client.call('GET', '/nothing-here', html)).text).not.toContain('for-developer')
  const without = await openWorld({ DEVELOPERS: 'off' })
  const answer = await clientOf(without).call('GET', '/oauth/v2/authorize?response_type=token', html)
  expect(answer.text).not.toContain('for-developer')
  await without.close()
})
