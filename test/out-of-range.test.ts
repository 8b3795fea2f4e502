import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { adminTokenHolder } from './console/person.ts'
import { ADMIN_TOKEN, openWorld, type World } from './harness.ts'

/** Numbers and times outside the range of PostgreSQL's types are bad input, never a server error. */

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const headers = { authorization: `Bearer ${ADMIN_TOKEN}` }
const ask = async (url: string) => {
  const answer = await world.app.inject({ url: `/admin/v1${url}`, headers })
  return { status: answer.statusCode, ...answer.json() }
}
const cursor = (...keys: unknown[]) => Buffer.from(JSON.stringify(keys)).toString('base64url')
const MOMENT = '2026-01-01T00:00:00.000001+00:00'
const ID = '11111111-1111-4111-8111-111111111111'
/** Values for the other parameters of a path. */
const KNOWN: Readonly<Record<string, string>> = { '{cid}': '1', '{partner_id}': '7001', '{app_key}': 'an-app' }
const TOO_LARGE = '9999999999999999999'

describe('a cursor', () => {
  it.each([
    ['/orders', cursor(MOMENT, TOO_LARGE)],
    ['/partners', cursor(MOMENT, TOO_LARGE)],
    ['/users', cursor(MOMENT, 2 ** 40, 'a')],
    ['/users', cursor(MOMENT, -(2 ** 40), 'a')],
    ['/users?passport=x', cursor(MOMENT, 2 ** 40, 'a', 'x')],
    ...['+16:00', '-23:59', '+15:60', '+1500', '+15'].flatMap((offset) => [
      ['/apps', cursor(`2026-01-01T00:00:00${offset}`, 'a')],
      ['/grants?app_key=x', cursor(`2026-01-01T00:00:00${offset}`, ID)],
    ]),
    ['/apps', cursor(`2026-01-01T00:00:00.${'1'.repeat(200)}Z`, 'a')],
    ['/jobs', cursor(TOO_LARGE)],
    ['/audit', Buffer.from(`999999999999999.${ID}`).toString('base64url')],
  ])('that is out of range is rejected by name: %s %s', async (path, after) => {
    const answer = await ask(`${path}${path.includes('?') ? '&' : '?'}after=${after}`)
    expect(answer).toMatchObject({ status: 400, rescode: 20007, data: { problems: [{ field: 'after' }] } })
  })

  it('that a list may issue is accepted', async () => {
    const largest = '9223372036854775807'
    for (const at of [MOMENT, '2026-01-01T08:00:00+08:00', '2026-01-01T00:00:00.5-03:30', '2026-01-01T00:00:00Z']) {
      expect(await ask(`/orders?after=${cursor(at, largest)}`)).toMatchObject({ status: 200 })
    }
    expect(await ask(`/users?after=${cursor(MOMENT, 2 ** 31 - 1, 'a')}`)).toMatchObject({ status: 200 })
  })
})

describe('a value that is out of range', () => {
  it.each([
    [`/explain?about=${TOO_LARGE}`, 'about'],
    [`/orders?partner_id=${TOO_LARGE}`, 'partner_id'],
  ])('is rejected by name as a filter: %s', async (path, field) => {
    expect(await ask(path)).toMatchObject({ status: 400, rescode: 20007, data: { problems: [{ field }] } })
  })

  it.each([
    `/orders/${TOO_LARGE}`,
    `/partners/${TOO_LARGE}`,
    `/partners/${TOO_LARGE}/members`,
    `/partners/${TOO_LARGE}/notices`,
    `/partners/${TOO_LARGE}/products`,
  ])('is bad input or not found as an id: %s', async (path) => {
    expect([400, 404]).toContain((await ask(path)).status)
  })

  it('causes no server error as the time of a filter', async () => {
    for (const from of ['-200000-01-01T00:00:00Z', '2026-01-01T00:00:00+23:59', '9999-12-31T23:59:59Z']) {
      const { status } = await ask(`/audit?from=${encodeURIComponent(from)}`)
      expect([200, 400], from).toContain(status)
    }
  })
})

describe('NUL, which PostgreSQL cannot store in text', () => {
  it('is bad input or not found in any parameter of a path, in the API and in the console', async () => {
    const spec = await world.app.inject({ url: '/admin/v1/openapi.json', headers })
    const operator = await adminTokenHolder(world)
    const failed: string[] = []
    for (const [path, methods] of Object.entries<object>(spec.json().paths)) {
      const names = [...path.matchAll(/\{\w+\}/g)].map(([name]) => name)
      for (const broken of names) {
        const given = names.reduce(
          (url, name) => url.replace(name, name === broken ? 'a%00b' : (KNOWN[name] ?? ID)),
          path,
        )
        for (const method of Object.keys(methods).filter((name) => /^(get|post|put|patch|delete)$/.test(name))) {
          const call = { method: method.toUpperCase() as 'GET', url: `/admin/v1${given}`, headers }
          const { statusCode } = await world.app.inject(method === 'get' ? call : { ...call, payload: {} })
          if (![400, 404].includes(statusCode)) failed.push(`${method} ${given}: ${statusCode}`)
        }
        const page = `/console${given}`
        const { status } = await operator.get(page)
        if (status >= 500) failed.push(`${page}: ${status}`)
      }
    }
    expect(failed).toEqual([])
  })
})

it('ids that are out of range cause no server error in the console search, signature tests and shared links', async () => {
  const operator = await adminTokenHolder(world)
  expect((await operator.get(`/console/search?q=${TOO_LARGE}`)).status).toBe(200)
  const tested = await world.app.inject({
    method: 'POST',
    url: '/order/test/ba',
    headers: {
      partnerid: TOO_LARGE,
      authorization: `MWS ${TOO_LARGE}:x`,
      date: 'x',
      'content-type': 'application/json',
    },
    payload: '{}',
  })
  expect(tested.statusCode).toBeLessThan(500)
  const shared = await world.app.inject(`/sandbox/shared/${TOO_LARGE}/${ID}?key=x`)
  expect(shared.statusCode).toBeLessThan(500)
})
