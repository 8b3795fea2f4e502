import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openWorld, type World } from './harness.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const SECRETS = 'app_secret=a-secret&code=a-code&access_token=a-token'

describe('a path that does not exist', () => {
  it.each([
    ['POST', '//oauth/v2/api/token'],
    ['POST', '/OAUTH/v2/api/token'],
    ['POST', '/oauth/v2/api/token/'],
    ['GET', '/assets/nothing'],
    ['GET', '/sign-in/'],
  ] as const)('gets 404 without echoing the query: %s %s', async (method, path) => {
    const response = await world.app.inject({ method, url: `${path}?${SECRETS}` })
    expect(response.statusCode).toBe(404)
    expect(response.json()).toEqual({ rescode: 20007, data: { message: 'Invalid request: no such path' } })
    expect(response.headers).toMatchObject({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' })
  })

  it('gets an HTML page in a browser', async () => {
    const response = await world.app.inject({ url: `/nothing?${SECRETS}`, headers: { accept: 'text/html' } })
    expect(response.statusCode).toBe(404)
    expect(response.headers['content-type']).toBe('text/html; charset=utf-8')
    expect(response.body).toContain('20007')
  })
})

describe('an invalid Content-Type', () => {
  it.each(['json', '', 'utf-8', '/'])('still yields 404 or 405 where those apply: %j', async (type) => {
    const statusOf = async (method: 'POST' | 'PUT', url: string, payload?: string) => {
      const body = payload === undefined ? {} : { payload }
      return (await world.app.inject({ method, url, headers: { 'content-type': type }, ...body })).statusCode
    }
    for (const body of [undefined, 'x']) {
      for (const path of ['/nothing', '/oauth/v2/nothing', '/oauth2/nothing'])
        expect(await statusOf('POST', path, body)).toBe(404)
      for (const path of ['/oauth/v2/api/token', '/oauth2/token', '/healthz'])
        expect(await statusOf('PUT', path, body)).toBe(405)
    }
  })
})

describe('a path that looks like the pattern of a route', () => {
  it.each(['/oauth/v2/:a(', '/oauth/v2/*a/b', '/oauth/v2/:name', '/oauth/v2/*'])(
    'is simply unknown: %s',
    async (url) => {
      const response = await world.app.inject({ method: 'POST', url })
      expect(response.statusCode).toBe(404)
      expect(response.json()).toMatchObject({ rescode: 20007 })
    },
  )
})

describe('a body that is too long', () => {
  it.each([
    ['/sign-in', 'application/x-www-form-urlencoded', `passport=${'x'.repeat(20_000)}`],
    ['/console/sign-in', 'application/x-www-form-urlencoded', `name=${'x'.repeat(2_000_000)}`],
    ['/admin/v1/apps', 'application/json', JSON.stringify({ name: 'x'.repeat(2_000_000) })],
  ])('is rejected for its length: %s', async (url, type, payload) => {
    const headers = { 'content-type': type, authorization: `Bearer ${world.deps.config.ADMIN_TOKEN}` }
    const response = await world.app.inject({ method: 'POST', url, headers, payload })
    expect(response.statusCode).toBe(400)
    expect(response.body).toContain('the body is longer than this address takes')
  })
})
