import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Client } from '../acceptance/client.ts'
import { header, injectWire } from '../acceptance/http.ts'
import { openWorld, type World } from '../harness.ts'
import { bodyOf, StandardApp } from './app.ts'

/** Discovery documents, and CORS for registered origins. */

const ORIGIN = 'https://spa.example.com'

let world: World
let client: Client
let rp: StandardApp
beforeAll(async () => {
  world = await openWorld()
  client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
  rp = await StandardApp.make(client, { cors_origins: [ORIGIN] })
})
afterAll(() => world?.close())

const DOCUMENTS = ['/.well-known/openid-configuration', '/.well-known/oauth-authorization-server']

describe('discovery', () => {
  it.each(DOCUMENTS)('%s names the issuer and its capabilities, and is cacheable', async (path) => {
    const answer = await client.call('GET', path)
    expect(bodyOf(answer)).toMatchObject({
      issuer: world.deps.config.PUBLIC_URL,
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
      request_parameter_supported: false,
    })
    expect(header(answer, 'cache-control')).toBe('public, max-age=300')
  })

  it('names existing endpoints', async () => {
    const document = bodyOf(await client.call('GET', DOCUMENTS[0] ?? ''))
    const urls = Object.entries(document).filter(([name]) => /_endpoint$|_uri$/.test(name))
    expect(urls).toHaveLength(8)
    for (const [, url] of urls) {
      const { origin, pathname } = new URL(String(url))
      expect(origin).toBe(new URL(world.deps.config.PUBLIC_URL).origin)
      for (const method of ['GET', 'POST']) {
        const { status, text } = await client.call(method, pathname)
        expect([method, pathname, status, text.slice(0, 60)]).not.toContain(404)
      }
    }
  })
})

describe('a page of a registered origin', () => {
  const preflight = (path: string, origin: string) =>
    client.call('OPTIONS', path, { origin, 'access-control-request-method': 'POST' })

  it.each(['/oauth2/token', '/oauth2/userinfo', '/oauth2/revoke', '/oauth2/jwks', ...DOCUMENTS])(
    'may call %s',
    async (path) => {
      const asked = await preflight(path, ORIGIN)
      expect(asked.status).toBe(204)
      expect(header(asked, 'access-control-allow-origin')).toBe(ORIGIN)
      expect(header(asked, 'access-control-allow-headers')).toBe('Authorization, Content-Type')
      expect(header(asked, 'access-control-allow-credentials')).toBe('')
      const method = /token|revoke/.test(path) ? 'POST' : 'GET'
      for (const [origin, allowed] of [
        [ORIGIN, ORIGIN],
        ['https://evil.example', ''],
        ['null', ''],
      ] as const) {
        const answer = await client.call(method, path, { origin })
        expect([header(answer, 'access-control-allow-origin'), header(answer, 'vary')]).toEqual([allowed, 'Origin'])
      }
      expect((await preflight(path, 'https://evil.example')).status).toBe(403)
    },
  )

  it.each(['/oauth2/authorize', '/oauth2/introspect', '/oauth2/par', '/oauth2/logout'])(
    'may not call %s',
    async (path) => {
      const answers = [await preflight(path, ORIGIN), await client.call('POST', path, { origin: ORIGIN })]
      for (const answer of answers) expect(header(answer, 'access-control-allow-origin')).toBe('')
    },
  )

  it('may not call anything once the app is suspended', async () => {
    await client.suspend(rp.app)
    world.clock.advance(10)
    expect(header(await client.call('GET', '/oauth2/jwks', { origin: ORIGIN }), 'access-control-allow-origin')).toBe('')
  })
})
