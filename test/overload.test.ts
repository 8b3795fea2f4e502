import type { AddressInfo } from 'node:net'
import { Agent, request } from 'undici'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MANY_CONNECTIONS, openWorld, type World } from './harness.ts'

/** More than can be done at once is refused at once, by 503 with Retry-After in the form of whoever is called. */

const CONSUME = '/mtp/api/order/consume/notice'
const MOST = 2
const WAITING = 1

let world: World
beforeAll(async () => {
  world = await openWorld({
    ...MANY_CONNECTIONS,
    MAX_REQUESTS: String(MOST),
    SIGN_IN_QUEUE: String(WAITING),
    LOG_LEVEL: 'info',
  })
})
afterAll(() => world?.close())

const call = (method: 'GET' | 'POST', url: string, headers: Record<string, string> = {}, payload = '') =>
  world.app.inject({ method, url, headers, payload })

/** As many notices as may be at work, each of which waits for a locked table; the function returned lets them go on. */
async function fill(): Promise<() => Promise<void>> {
  const lock = await world.pool.connect()
  await lock.query('begin; lock table partner')
  const held = Array.from({ length: MOST }, () =>
    call('POST', CONSUME, { authorization: 'MWS somebody:AAAA', date: 'Tue, 05 May 2026 06:11:34 GMT' }, '{}'),
  )
  await new Promise((resolve) => setTimeout(resolve, 100))
  return async () => {
    await lock.query('rollback')
    lock.release()
    for (const { statusCode } of await Promise.all(held)) expect(statusCode).toBe(200)
  }
}

describe('with as many requests at work as may be', () => {
  it('others are refused, each in its own form, and afterwards served', async () => {
    const letGo = await fill()
    const read = await call('POST', '/oauth/v2/api/resource/get_userinfo?access_token=x')
    const notice = await call('POST', CONSUME, { partnerid: '7001' })
    const english = await call('GET', '/', { accept: 'text/html' })
    const chinese = await call('GET', '/?ui_locales=zh-CN', { accept: 'text/html' })
    const health = await call('GET', '/healthz')
    await letGo()
    expect(read.json()).toEqual({ rescode: 20013, data: { message: 'Server error' } })
    expect(notice.json()).toEqual({
      code: 300,
      describe: 'the platform cannot respond now; try again later',
      partnerId: '7001',
    })
    expect(english.body).toContain('Not available right now')
    expect(chinese.body).toContain('\u6682\u65f6\u65e0\u6cd5\u5904\u7406')
    for (const { statusCode, headers } of [read, notice, english, chinese]) {
      expect([statusCode, headers['retry-after']]).toEqual([503, '2'])
    }
    expect(health.statusCode, 'the process is alive').toBe(200)
    expect(world.logged()).toContain('too many requests in progress')
    for (let n = 0; n < 3 * MOST; n++) expect((await call('GET', '/', { accept: 'text/html' })).statusCode).toBe(200)
  })
})

describe('whoever was refused and comes back at once', () => {
  beforeAll(() => world.app.listen({ host: '127.0.0.1', port: 0 }))

  it.each([
    ['/oauth/v2/api/token', ''],
    ['/oauth/v2/api/token', '{}'],
    [CONSUME, '{}'],
    ['/sandbox/api/runs', '{}'],
  ])('is not read for a moment on that connection; a new caller is refused at once: %s %s', async (path, sentBody) => {
    const { port } = world.app.server.address() as AddressInfo
    const ask = async (dispatcher: Agent) => {
      const began = performance.now()
      const sent = { method: 'POST', body: sentBody, dispatcher } as const
      const { statusCode, body } = await request(`http://127.0.0.1:${port}${path}`, sent)
      await body.dump()
      return { statusCode, ms: performance.now() - began }
    }
    const caller = new Agent({ connections: 1 })
    const other = new Agent({ connections: 1 })
    const letGo = await fill()
    expect(await ask(caller)).toMatchObject({ statusCode: 503 })
    const again = ask(caller)
    const fresh = await ask(other)
    await letGo()
    const { statusCode, ms } = await again
    expect(fresh.statusCode).toBe(503)
    expect(fresh.ms).toBeLessThan(ms)
    expect(ms).toBeGreaterThan(200)
    expect(statusCode, 'by then there is room').toBeLessThan(500)
    await Promise.all([caller.close(), other.close()])
  })
})

describe('sign-in', () => {
  it('refuses at once who would have to wait behind too many others, and says so in their language', async () => {
    const app = await openWorld({ SIGN_IN_QUEUE: String(WAITING) })
    const form = {
      accept: 'text/html',
      'content-type': 'application/x-www-form-urlencoded',
      'accept-language': 'zh-CN',
    }
    const answers = await Promise.all(
      Array.from({ length: 12 }, () =>
        app.app.inject({ method: 'POST', url: '/sign-in', headers: form, payload: 'passport=nobody&password=wrong' }),
      ),
    )
    await app.close()
    const refused = answers.filter(({ statusCode }) => statusCode === 503)
    expect(refused).toHaveLength(12 - 2 - WAITING)
    for (const { headers, body } of refused) {
      expect(headers['retry-after']).toBe('2')
      expect(body).toContain('\u6682\u65f6\u65e0\u6cd5\u5904\u7406')
    }
  })
})
