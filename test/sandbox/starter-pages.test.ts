import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { STARTER_PRODUCTS, STARTERS } from '../../src/sandbox/portal/starter-routes.ts'
import { INTERFACES } from '../../src/ticketing/interfaces/index.ts'
import { openWorld, type World } from '../harness.ts'
import { get, newSandboxPartner, type SandboxPartner, sessionOf } from './partners.ts'

/** The page of the starter programs and their downloads; test/interop/starters shows that they work. */

const CLIENT_ID = `it's-"q"-\\n-{{partnerId}}-<b>`
const FILES = ['seller.py', 'Seller.java', 'seller.php']

let world: World
let partner: SandboxPartner
let cookie: string
beforeAll(async () => {
  world = await openWorld({ PARTNER_URL: 'https://partners.example:8443' })
  partner = await newSandboxPartner(world, { client_id: CLIENT_ID })
  cookie = await sessionOf(world, partner)
})
afterAll(() => world.close())

const page = (path: string, language = 'en') => get(world, path, cookie, { 'accept-language': language })

describe('the page of the starter programs', () => {
  it.each([
    ['en', 'Starter programs', 'Product with delayed tickets'],
    ['zh-CN', '入门程序', '出票'],
  ])('offers every file, in %s', async (language, title, role) => {
    const { statusCode, body } = await page('/sandbox/starters', language)
    expect(statusCode).toBe(200)
    expect(body).toContain(`<h1>${title}</h1>`)
    expect(body).toContain(role)
    expect([...body.matchAll(/href="\/sandbox\/starters\/([^"]+)" download/g)].map(([, file]) => file)).toEqual(FILES)
    for (const id of Object.values(STARTER_PRODUCTS)) expect(body).toContain(`<code>${id}</code>`)
  })

  it.each(['/sandbox/signature', '/sandbox/docs'])('is linked from %s', async (path) => {
    expect((await page(path)).body).toContain('href="/sandbox/starters"')
  })

  it.each(['/sandbox/starters', '/sandbox/starters/seller.py'])('requires a session for %s', async (path) => {
    const { statusCode, headers } = await get(world, path)
    expect([statusCode, headers.location]).toEqual([302, `/sandbox/sign-in?return_to=${encodeURIComponent(path)}`])
  })
})

describe('a download', () => {
  it.each([
    ['seller.py', JSON.stringify(CLIENT_ID), '"', '# '],
    ['Seller.java', JSON.stringify(CLIENT_ID), '"', '// '],
    ['seller.php', `'it\\'s-"q"-\\\\n-{{partnerId}}-<b>'`, "'", '<?php\n// '],
  ])('%s has the ids as literals, and no secret', async (file, clientId, quote, start) => {
    const { statusCode, headers, body } = await page(`/sandbox/starters/${file}`)
    expect(statusCode).toBe(200)
    expect(headers).toMatchObject({
      'content-disposition': `attachment; filename="${file}"`,
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    })
    expect(body).toContain(clientId)
    expect(body).toContain(`${quote}${partner.partner_id}${quote}`)
    expect(body).toContain(`${quote}https://partners.example:8443${quote}`)
    expect(body).not.toContain(partner.client_secret)
    expect(body).not.toContain('{{clientId}}')
    // It begins with how to run it, in three steps, and is ASCII, which compilers in every locale can read.
    expect(body.startsWith(start)).toBe(true)
    expect(body.split('\n').slice(0, 8).join('\n')).toMatch(/ 1\. .*CLIENT_SECRET.* 2\. .* 3\. /s)
    expect(body).toMatch(/^[\n -~]*$/)
  })

  it.each(['seller', 'SELLER.PY', 'python.txt', '..%2fpython.txt', 'constructor'])(
    'does not exist under the name %s',
    async (file) => {
      expect((await page(`/sandbox/starters/${file}`)).statusCode).toBe(404)
    },
  )
})

it.each(STARTERS)('$file has every interface, and sells a product for every role of a test run', ({ fill }) => {
  for (const { defaultPath } of INTERFACES) expect(fill({})).toMatch(new RegExp(`["']${defaultPath}["']`))
  for (const id of Object.values(STARTER_PRODUCTS)) expect(fill({})).toMatch(new RegExp(`["']${id}["']`))
})
