import cookie from '@fastify/cookie'
import inter from '@fontsource-variable/inter/package.json' with { type: 'json' }
import Fastify from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { localized } from '../../../src/platform/lib/localized-text.ts'
import { registerPages, sendErrorPage, sendPage } from '../../../src/platform/lib/web/page.ts'
import { invalidRequest, tooManyRequests } from '../../../src/platform/lib/web/rescode.ts'

const app = Fastify()
const NASTY = `<img src=x onerror=alert(1)>"'&`
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'

beforeAll(async () => {
  await app.register(cookie)
  await registerPages(app, 'http://localhost')
  app.get('/home', (request, reply) => sendPage(request, reply, 'index', { demoUrl: null }))
  app.get('/leaving', (request, reply) => sendPage(request, reply, 'index', { demoUrl: null }, { leadsOutside: true }))
  app.get('/broken', (request, reply) =>
    sendErrorPage(request, reply, invalidRequest(localized('body-is', { problem: NASTY })), false),
  )
  app.get('/limited', (request, reply) => sendErrorPage(request, reply, tooManyRequests(90), false))
})
afterAll(() => app.close())

const get = (url: string, headers: Record<string, string> = {}) => app.inject({ url, headers })

describe('a page', () => {
  it('carries the headers that keep it private and unframed, and allows no script', async () => {
    const { headers } = await get('/home')
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'cross-origin-opener-policy': 'same-origin',
      'permissions-policy': expect.stringContaining('camera=(), '),
      'content-security-policy':
        "default-src 'none';style-src 'self';font-src 'self';img-src 'self' https: data:;" +
        "form-action 'self';base-uri 'none';frame-ancestors 'none'",
    })
    // Headers that helmet adds by default.
    expect(headers).toMatchObject({
      'cross-origin-resource-policy': 'same-origin',
      'origin-agent-cluster': '?1',
      'x-dns-prefetch-control': 'off',
      'x-download-options': 'noopen',
      'x-permitted-cross-domain-policies': 'none',
      'x-xss-protection': '0',
    })
  })

  it('that leads outside has the same policy without form-action, and no opener policy', async () => {
    const { headers } = await get('/leaving')
    expect(headers).not.toHaveProperty('cross-origin-opener-policy')
    expect(headers['content-security-policy']).toBe(
      "default-src 'none';style-src 'self';font-src 'self';img-src 'self' https: data:;" +
        "base-uri 'none';frame-ancestors 'none'",
    )
  })

  it('escapes text from outside', async () => {
    const { body } = await get('/broken', { accept: BROWSER })
    expect(body).not.toContain('<img src=x')
    expect(body).toContain('&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;')
    expect(body).not.toMatch(/<script|<[^>]*\s(style|on\w+)=/i)
  })

  it('comes in the requested language and remembers the choice', async () => {
    const chosen = await get('/home?x=1&ui_locales=zh-CN', { 'accept-language': 'en' })
    expect(chosen.body).toContain('<html lang="zh-CN">')
    expect(chosen.body).toContain('href="?x=1&amp;ui_locales=en"')
    expect(chosen.headers['set-cookie']).toMatch(
      /^gatehouse_lang=zh-CN; Max-Age=31536000; Path=\/; HttpOnly; SameSite=Lax$/,
    )
    const later = await get('/home', { cookie: 'gatehouse_lang=zh-CN' })
    expect(later.body).toContain('<html lang="zh-CN">')
    expect(later.headers['set-cookie']).toBeUndefined()
    expect((await get('/home?ui_locales=fr')).headers['set-cookie']).toBeUndefined()
  })

  it('remembers the language in a Secure __Host- cookie if browsers use https, even behind a proxy', async () => {
    const secure = Fastify()
    await secure.register(cookie)
    await registerPages(secure, 'https://gate.example')
    secure.get('/home', (request, reply) => sendPage(request, reply, 'index', { demoUrl: null }))
    const chosen = await secure.inject('/home?ui_locales=zh-CN')
    const later = await secure.inject({ url: '/home', headers: { cookie: '__Host-gatehouse_lang=zh-CN' } })
    await secure.close()
    expect(chosen.headers['set-cookie']).toMatch(
      /^__Host-gatehouse_lang=zh-CN; Max-Age=31536000; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    )
    expect(later.body).toContain('<html lang="zh-CN">')
  })

  it('links to assets that may be cached forever', async () => {
    const { body } = await get('/home')
    const addresses = [...body.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, address]) => String(address))
    expect(addresses.length).toBeGreaterThanOrEqual(3)
    for (const address of addresses) {
      const { statusCode, headers } = await get(address)
      expect(statusCode).toBe(200)
      expect(headers['cache-control']).toBe('public, max-age=31536000, immutable')
    }
  })

  it('has its typeface in files that may be cached forever, with the version in their URLs', async () => {
    const { body: css } = await get('/assets/gatehouse.css')
    const files = [...new Set([...css.matchAll(/url\("(?!data:)([^"]+)"\)/g)].map(([, file]) => String(file)))]
    expect(files).toHaveLength(2)
    for (const file of files) {
      expect(file).toMatch(new RegExp(`^inter-[a-z-]+\\.woff2\\?v=${inter.version}$`))
      const { statusCode, headers } = await get(`/assets/${file}`)
      expect([statusCode, headers['content-type']]).toEqual([200, 'font/woff2'])
      expect(headers['cache-control']).toBe('public, max-age=31536000, immutable')
    }
    expect(Number((await get(`/assets/${files.at(-1)}`)).headers['content-length'])).toBeLessThan(50_000)
  })

  it.each([
    '/assets/pico.css',
    '/assets/inter-greek-wght-normal.woff2',
    '/assets/../layout.eta',
    '/assets/%2e%2e/layout.eta',
    '/assets/',
    '/assets/x.css',
  ])('has no other assets: %s', async (url) => {
    expect((await get(url)).statusCode).toBe(404)
  })
})

describe('an error', () => {
  it('is a page for browsers, with code, message and request id', async () => {
    const { statusCode, headers, body } = await get('/broken', { accept: BROWSER })
    expect(statusCode).toBe(200)
    expect(headers['content-type']).toBe('text/html; charset=utf-8')
    expect(body).toContain('<strong>20007</strong>')
    expect(body).toContain('Invalid request: the body is &lt;img')
    expect(body).toMatch(/<code>req-\w+<\/code>/)
  })

  it('is the JSON envelope for everybody else', async () => {
    const { headers, json } = await get('/broken', { accept: '*/*' })
    expect(Object.keys(headers).sort()).toEqual([
      'cache-control',
      'connection',
      'content-length',
      'content-type',
      'date',
      'referrer-policy',
      'x-content-type-options',
    ])
    expect(headers['content-type']).toBe('application/json; charset=utf-8')
    expect(json()).toEqual({ rescode: 20007, data: { message: `Invalid request: the body is ${NASTY}` } })
  })

  it('tells when to try again', async () => {
    const { statusCode, headers, body } = await get('/limited', { accept: BROWSER })
    expect(statusCode).toBe(429)
    expect(headers['retry-after']).toBe('90')
    expect(body).toContain('Try again in 2 minutes.')
  })
})
