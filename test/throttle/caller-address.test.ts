import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { Client } from '../acceptance/client.ts'
import { injectWire, queryOf } from '../acceptance/http.ts'
import { FORM, form } from '../account/people.ts'
import { ADMIN_TOKEN, openWorld, type World } from '../harness.ts'

/** Limits per address behind a trusted proxy, with any spelling in X-Forwarded-For. */

const [PAGES, AUTHORIZE, FAILURES, PASSWORDS] = [12, 10, 4, 6]
const PROXY = '10.0.0.5'

let world: World
let client: Client
beforeAll(async () => {
  world = await openWorld({
    TRUST_PROXY: '10.0.0.0/8,::ffff:192.168.0.0/112,fd00::/8',
    PAGES_PER_MINUTE: String(PAGES),
    AUTHORIZE_PER_MINUTE: String(AUTHORIZE),
    CLIENT_FAILURES: String(FAILURES),
    SIGN_IN_FAILURES_PER_PASSPORT: String(PASSWORDS),
    SIGN_IN_FAILURES_PER_ADDRESS: String(PASSWORDS),
  })
  client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
})
afterAll(() => world?.close())

let host = 0
let port = 40_000
beforeEach(() => {
  host += 1
})

interface Sent {
  readonly method?: 'GET' | 'POST'
  readonly url: string
  readonly headers?: Record<string, string>
  readonly payload?: string
}

const from = (forwarded: string, { headers = {}, ...sent }: Sent, remoteAddress = PROXY) =>
  world.app.inject({ ...sent, headers: { ...headers, 'x-forwarded-for': forwarded }, remoteAddress })
/** How many of these requests were refused with 429. */
const refusedOf = async (times: number, forwarded: (time: number) => string, sent: Sent, remoteAddress = PROXY) => {
  let refused = 0
  for (let time = 0; time < times; time++) {
    const { statusCode } = await from(forwarded(time), sent, remoteAddress)
    if (statusCode === 429) refused++
  }
  return refused
}
const page = { url: '/no/such/page', headers: { accept: 'text/html' } }

/** Values of X-Forwarded-For that denote the same caller, but differ in each request. */
const SAME_CALLER: readonly [what: string, forwarded: (time: number) => string][] = [
  ['an IPv4 address with a port', () => `198.51.100.${host}:${port++}`],
  ['an IPv6 address in brackets with a port', () => `[2001:db8:${host}::1]:${port++}`],
  ['a mapped IPv4 address with a port', () => `[::ffff:198.51.100.${host}]:${port++}`],
  ['an IPv6 address in other spellings', (time) => `2001:${['db8', 'DB8', '0db8'][time % 3]}:${host}:0::${time + 1}`],
  ['an IPv6 address with a zone', (time) => `2001:db8:${host}::1%eth${time}`],
  ['a forged first entry', (time) => `203.0.113.${time}, 198.51.100.${host}:${port++}`],
  [
    'a forged first entry behind two proxies',
    (time) => `203.0.113.${time}, 198.51.100.${host}:${port++}, 10.9.9.9:443,`,
  ],
]

describe('one caller counts as one', () => {
  it.each(SAME_CALLER)('for pages: %s', async (_what, forwarded) => {
    expect(await refusedOf(PAGES + 3, forwarded, page)).toBe(3)
    expect((await from(`198.51.101.${host}`, page)).statusCode, 'its neighbour').toBe(404)
  })

  it('for wrong passwords', async () => {
    const payload = form({ passport: `nobody-${host}`, password: 'wrong' })
    const sent = { method: 'POST', url: '/sign-in', headers: FORM, payload } as const
    expect(await refusedOf(PASSWORDS + 3, () => `198.51.100.${host}:${port++}`, sent)).toBe(3)
  })

  it('for wrong passwords with one account after another', async () => {
    let refused = 0
    for (let time = 0; time < PASSWORDS + 3; time++) {
      const payload = form({ passport: `nobody-${host}-${time}`, password: 'wrong' })
      const sent = { method: 'POST', url: '/sign-in', headers: FORM, payload } as const
      if ((await from(`[2001:db8:${host}::${time}]:${port++}`, sent)).statusCode === 429) refused++
    }
    expect(refused).toBe(3)
  })

  it('for wrong secrets of an app', async () => {
    const { app_key } = await client.makeApp()
    const query = queryOf({ app_key, app_secret: 'wrong', grant_type: 'refresh_token', refresh_token: 'x' })
    const sent = { method: 'POST', url: `/oauth/v2/api/token?${query}` } as const
    expect(await refusedOf(FAILURES + 3, () => `198.51.100.${host}:${port++}`, sent)).toBe(3)
  })

  it.each(['/oauth/v2/authorize', '/oauth2/authorize'])('for %s', async (url) => {
    expect(await refusedOf(AUTHORIZE + 3, () => `198.51.100.${host}:${port++}`, { url })).toBe(3)
  })
})

describe('an entry that is not an address', () => {
  it.each(['unknown', '_hidden', '203.0.113.999', 'shop.example', '"203.0.113.9"', ''])(
    '%j counts as the proxy that sent it, whatever precedes it',
    async (entry) => {
      const proxy = `10.1.0.${host}`
      expect(await refusedOf(PAGES + 3, (time) => `203.0.113.${time}, ${entry}`, page, proxy)).toBe(entry ? 3 : 0)
      const inFront = (time: number) => `203.0.113.${time}, ${entry}${time}, 192.168.0.${host}:${port++}`
      expect(await refusedOf(PAGES + 3, inFront, page, '10.0.0.6')).toBe(3)
    },
  )

  it('is logged once, with the address of the proxy but not the entry', () => {
    const lines = world.logged().split('\n')
    const warnings = lines.filter((line) => line.includes('whose last entry is no address'))
    expect(warnings).toHaveLength(1)
    expect(JSON.parse(warnings[0] ?? '')).toMatchObject({ level: 40, address: expect.stringMatching(/^(10|192)\./) })
  })
})

it('an address is stored in one normal form, in the audit log too', async () => {
  const sent = { url: '/admin/v1/apps', headers: { authorization: `Bearer not-${ADMIN_TOKEN}` } }
  for (const forwarded of ['198.51.100.207:40001', '[2001:DB8:0::207]:40001', '::FFFF:198.51.100.208']) {
    await from(forwarded, sent)
  }
  await world.app.inject({ ...sent, remoteAddress: '::FFFF:198.51.100.209' })
  const { rows } = await world.pool.query(
    `select address from audit_event where event = 'operator_sign_in_failed' order by address`,
  )
  const kept = ['198.51.100.207', '198.51.100.208', '198.51.100.209', '2001:db8::207']
  expect(rows.map(({ address }) => address)).toEqual(kept)
})

describe('X-Forwarded-For from a proxy that is not trusted', () => {
  it('is not used', async () => {
    expect(await refusedOf(PAGES + 3, (time) => `203.0.113.${time}`, page, `192.0.2.${host}`)).toBe(3)
  })

  it('is logged once, with the address of the proxy', () => {
    const lines = world.logged().split('\n')
    const warnings = lines.filter((line) => line.includes('that is not in TRUST_PROXY'))
    expect(warnings).toHaveLength(1)
    expect(JSON.parse(warnings[0] ?? '')).toMatchObject({ level: 40, address: expect.stringMatching(/^192\.0\.2\./) })
  })

  it('is logged once if TRUST_PROXY is empty', async () => {
    const bare = await openWorld()
    const warnings = () => bare.logged().match(/TRUST_PROXY is empty/g)?.length ?? 0
    expect(warnings()).toBe(0)
    const headers = { 'x-forwarded-for': '203.0.113.9:40001' }
    for (let time = 0; time < 3; time++) await bare.app.inject({ url: '/healthz', headers })
    await bare.close()
    expect(warnings()).toBe(1)
    expect(bare.logged()).toMatch(/"level":40[^\n]*TRUST_PROXY/)
    expect(bare.logged()).not.toContain('203.0.113.9')
    expect(world.logged()).not.toContain('TRUST_PROXY is empty')
  })
})
