import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { keepHistory } from '../../src/operations/metrics/index.ts'

import { Client } from '../acceptance/client.ts'
import { header, injectWire } from '../acceptance/http.ts'
import { toNextPage } from '../browser.ts'
import { freePort } from '../free-port.ts'
import { ADMIN_TOKEN, openWorld, type World } from '../harness.ts'
import { browsing, fits, LOOKS, type Look, picture } from '../sandbox/browse.ts'
import { until } from '../until.ts'
import { COOKIE, signedInAs } from './person.ts'

/** How an operator investigates: from the overview to a failed call, and from a request id to the reason of the rejection. */

/** Editors and admins see the same pages with more buttons. */
const ROLES = ['viewer', 'support'] as const
let world: World
let origin: string
let partners: Server
let refusedId: string
let as: (role: (typeof ROLES)[number]) => { readonly person: { readonly cookie: string } }
const { visit, tab } = browsing()

beforeAll(async () => {
  partners = createServer((request, reply) => {
    reply.statusCode = request.url?.startsWith('/failing') ? 502 : 200
    reply.end('<html>Bad Gateway</html>')
  })
  await new Promise<void>((resolve) => partners.listen(0, '127.0.0.1', resolve))
  const address = `127.0.0.1:${(partners.address() as AddressInfo).port}`
  const port = await freePort()
  origin = `http://localhost:${port}`
  world = await openWorld({ PUBLIC_URL: origin, PARTNER_ADDRESS_ALLOW: address })
  await world.app.listen({ host: '127.0.0.1', port })
  const client = new Client(injectWire(world.app), origin)
  const app = await client.makeApp({})
  const end = keepHistory(world.deps)
  refusedId = header(await client.exchange(app, { code: 'none', state: 'none' }), 'x-request-id')
  for (const [name, times] of [
    ['Failing seller', 3],
    ['Odd seller', 1],
  ] as const) {
    const folder = name.split(' ')[0]?.toLowerCase()
    const { partner_id } = await admin('/partners', { name, base_url: `http://${address}/${folder}` })
    for (let n = 0; n < times; n++) await admin(`/partners/${partner_id}/products/pull`, {})
  }
  await end()
  await until(async () => (await world.pool.query('select 1 from refused_request')).rows.length > 0)
  as = await signedInAs(world, ROLES)
})
afterAll(async () => {
  await world.close()
  partners.close()
})

async function admin(path: string, payload: object) {
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` }
  return (await world.app.inject({ method: 'POST', url: `/admin/v1${path}`, headers, payload })).json().data
}

async function open(role: (typeof ROLES)[number], look: Look, path = ''): Promise<Page> {
  const context = await visit(look)
  await context.addCookies([{ name: COOKIE, value: as(role).person.cookie, url: origin }])
  return tab(context, `${origin}/console${path}`)
}

describe.each(ROLES)('as %s', (role) => {
  it.each(LOOKS)('three clicks show which partner fails most and why, on a $size in $locale', async (look) => {
    const page = await open(role, look)
    await picture(page, `console-troubles-${role}`, look)
    await toNextPage(page, () => page.locator('td a[href^="/console/partners/"]').first().click())
    expect(await page.locator('h1').textContent()).toContain('Failing seller')
    await picture(page, `console-troubles-partner-${role}`, look)
    await toNextPage(page, () => page.locator('a[href*="/console/traffic?partner_id="]').first().click())
    await toNextPage(page, () => page.locator('tr', { hasText: '502' }).first().locator('a').first().click())
    expect(await page.locator('main').textContent()).toMatch(/HTTP.*\s*502/)
    expect(await fits(page)).toBe(true)
    await picture(page, `console-troubles-call-${role}`, look)
  })

  it.each(LOOKS)('the search box shows why a request was rejected, on a $size in $locale', async (look) => {
    const page = await open(role, look)
    const box = page.getByRole('searchbox').first()
    if (!(await box.isVisible())) await page.locator('header .menu summary').click()
    await box.fill(refusedId)
    await toNextPage(page, () => box.press('Enter'))
    expect(page.url()).toBe(`${origin}/console/requests/${refusedId}`)
    expect(await page.locator('main').textContent()).toContain('A2')
    await picture(page, `console-troubles-request-${role}`, look)
  })
})

it('a form sent after the session has ended leads to the sign-in, which returns to its page', async () => {
  const page = await open('support', { size: 'desktop', locale: 'en' }, '/own-sign-in')
  await page.fill('#code', '000000')
  await page.context().clearCookies()
  await toNextPage(page, () => page.click('main button'))
  await page.getByText('Your session has ended.').waitFor()
  expect(await page.inputValue('input[name=return_to]')).toBe('/console/own-sign-in#unsent')
})
