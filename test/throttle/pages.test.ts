import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openWorld, type World } from '../harness.ts'

const MOST = 20
let world: World
beforeAll(async () => {
  world = await openWorld({ PAGES_PER_MINUTE: String(MOST) })
})
afterAll(() => world.close())

let host = 0
beforeEach(() => {
  host += 1
})

const HTML = { accept: 'text/html' }
const get = (url: string, headers: Record<string, string> = HTML, remoteAddress = `192.0.2.${host}`) =>
  world.app.inject({ url, headers, remoteAddress })

async function statuses(url: string, times: number): Promise<number[]> {
  const all: number[] = []
  for (let time = 0; time < times; time++) all.push((await get(url)).statusCode)
  return all
}

describe('pages', () => {
  it.each([
    ['/', 200],
    ['/sign-in', 200],
    ['/sandbox/sign-in', 200],
    ['/no/such/page', 404],
    ['/oauth/v2/nothing', 404],
    ['/sandbox/nothing', 404],
  ])('%s is shown up to the limit per minute, then answered with 429 and Retry-After', async (url, status) => {
    const all = await statuses(url, MOST + 3)
    expect(all).toEqual([...Array(MOST).fill(status), 429, 429, 429])
    const page = await get(url)
    expect(Number(page.headers['retry-after'])).toBeGreaterThan(0)
    expect(page.headers['content-type']).toMatch(/^text\/html/)
    expect((await get(url, { accept: '*/*' })).json()).toMatchObject({ rescode: 20003 })
  })

  it('are counted together per address', async () => {
    await statuses('/', MOST / 2)
    await statuses('/no/such/page', MOST / 2)
    expect(await statuses('/sign-in', 1)).toEqual([429])
    expect((await get('/sign-in', HTML, '198.51.100.1')).statusCode).toBe(200)
  })

  it('have sixteen times the limit for an IPv6 /48, which a single /64 cannot use up', async () => {
    const ask = async (network: number) =>
      (await get('/no/such/page', HTML, `2001:db8:${host}:${network.toString(16)}::1`)).statusCode
    for (let time = 0; time < 17 * MOST; time++) await ask(0)
    expect([await ask(0), await ask(1)]).toEqual([429, 404])
    const all: number[] = []
    for (let network = 2; network < 18; network++) for (let time = 0; time < MOST; time++) all.push(await ask(network))
    expect(all.indexOf(429)).toBe(15 * MOST - 1)
  })

  it('are counted separately from API calls, which have their own limits', async () => {
    await statuses('/', MOST + 1)
    const remoteAddress = `192.0.2.${host}`
    const call = (url: string) => world.app.inject({ method: 'POST', url, remoteAddress })
    expect((await call('/oauth/v2/api/resource/get_userinfo?access_token=x')).json()).toMatchObject({ rescode: 20009 })
    expect((await call('/mtp/api/order/consume/notice')).json()).toMatchObject({ code: 300 })
    expect((await get('/healthz')).statusCode).toBe(200)
  })
})
