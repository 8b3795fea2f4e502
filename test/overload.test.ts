import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BODY_HAS_MS, UNREAD_MS, unreadMs } from '../src/platform/lib/web/request-limit.ts'
import { MANY_CONNECTIONS, openWorld, type World } from './harness.ts'
import { until } from './until.ts'

/** Requests beyond capacity are rejected immediately: 503 with Retry-After, in the format of the called endpoint. */

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

let origin: string
beforeAll(async () => {
  origin = await world.app.listen({ host: '127.0.0.1', port: 0 })
})

const agent = new Agent()
afterAll(() => agent.close())

async function call(method: 'GET' | 'POST', path: string, headers: Record<string, string> = {}, body = '') {
  const sent = { method, headers, dispatcher: agent, ...(body === '' ? {} : { body }) }
  const answer = await request(`${origin}${path}`, sent)
  return { statusCode: answer.statusCode, headers: answer.headers, body: await answer.body.text() }
}
const inProgressOf = async ({ deps }: World): Promise<number> => {
  const metric = await deps.metrics.registry.getSingleMetric('gatehouse_http_requests_in_progress')?.get()
  return metric?.values[0]?.value ?? -1
}

/** Fills the capacity with notices that wait for a locked table; the returned function releases them. */
async function fill(): Promise<() => Promise<void>> {
  const lock = await world.pool.connect()
  await lock.query('begin; lock table partner')
  const held = Array.from({ length: MOST }, () =>
    call('POST', CONSUME, { authorization: 'MWS somebody:AAAA', date: 'Tue, 05 May 2026 06:11:34 GMT' }, '{}'),
  )
  await until(async () => (await inProgressOf(world)) === MOST)
  return async () => {
    await lock.query('rollback')
    lock.release()
    for (const { statusCode } of await Promise.all(held)) expect(statusCode).toBe(200)
  }
}

describe('at the limit of requests in progress', () => {
  it('further requests are rejected, each in its own format, and served again afterwards', async () => {
    const letGo = await fill()
    const read = await call('POST', '/oauth/v2/api/resource/get_userinfo?access_token=x')
    const notice = await call('POST', CONSUME, { partnerid: '7001' })
    const paid = await call('POST', '/rhone/mtp/api/order/pay/notice', { partnerid: '7001' })
    const english = await call('GET', '/', { accept: 'text/html' })
    const chinese = await call('GET', '/?ui_locales=zh-CN', { accept: 'text/html' })
    const standard = await call('POST', '/oauth2/token')
    // The default Accept header of Java's HTTP client.
    const java = { accept: 'text/html, image/gif, image/jpeg, */*; q=0.2' }
    const inJava = await Promise.all([
      call('POST', '/oauth/v2/api/token', java),
      call('GET', '/oauth2/userinfo', java),
      call('GET', '/.well-known/openid-configuration', java),
      call('POST', CONSUME, java),
    ])
    const health = await call('GET', '/healthz')
    await letGo()
    expect(JSON.parse(read.body)).toEqual({ rescode: 20013, data: { message: 'Server error' } })
    expect(JSON.parse(standard.body)).toEqual({
      error: 'temporarily_unavailable',
      error_description: 'try again later',
    })
    expect(JSON.parse(notice.body)).toEqual({
      code: 300,
      describe: 'the platform cannot respond now; try again later',
      partnerId: '7001',
    })
    for (const { headers } of inJava) expect(headers['content-type']).toMatch(/json/)
    expect(JSON.parse(paid.body), 'some read 300 as "received"').toMatchObject({ code: 400, partnerId: '7001' })
    expect(english.body).toContain('Not available right now')
    expect(chinese.body).toContain('\u6682\u65f6\u65e0\u6cd5\u5904\u7406')
    expect(english.body).toContain(String(english.headers['x-request-id']))
    expect(english.headers['content-security-policy']).toContain("default-src 'none'")
    for (const { statusCode, headers } of [read, standard, notice, paid, english, chinese]) {
      expect([statusCode, headers['retry-after'], headers['cache-control']]).toEqual([503, '2', 'no-store'])
      expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
    }
    expect(health.statusCode, 'the process is alive').toBe(200)
    expect(world.logged()).toContain('too many requests in progress')
    const counted = await world.deps.metrics.registry.getSingleMetricAsString('gatehouse_http_requests_total')
    expect(counted).toContain('route="(refused for load)",outcome="failed"} 10')
    for (let n = 0; n < 3 * MOST; n++) expect((await call('GET', '/', { accept: 'text/html' })).statusCode).toBe(200)
  })
})

describe('bodies that arrive a byte at a time', () => {
  it('have to make room for other requests after a while', async () => {
    const { port } = new URL(origin)
    const began = performance.now()
    const slow = Array.from({ length: MOST }, () => {
      const socket = connect(Number(port), '127.0.0.1')
      const headers = 'Host: a\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 5000'
      socket.on('error', () => {})
      socket.write(`POST /sign-in HTTP/1.1\r\n${headers}\r\n\r\n`)
      return socket
    })
    const sending = setInterval(() => slow.map((socket) => socket.write('a')), 100)
    await until(async () => (await inProgressOf(world)) === MOST)
    const first = await call('GET', '/')
    const isSoon = performance.now() - began < BODY_HAS_MS
    if (isSoon) expect(first.statusCode).toBe(503)
    await until(async () => (await call('GET', '/', { accept: 'text/html' })).statusCode === 200)
    const took = performance.now() - began
    clearInterval(sending)
    for (const socket of slow) socket.destroy()
    expect(took, 'not at once').toBeGreaterThanOrEqual(isSoon ? BODY_HAS_MS : 0)
    expect(took, 'long before the limit on the whole request').toBeLessThan(20_000)
    await until(async () => (await inProgressOf(world)) === 0)
  })
})

describe('a caller that was rejected and retries immediately', () => {
  it.each([
    ['/oauth/v2/api/token', ''],
    ['/oauth/v2/api/token', '{}'],
    [CONSUME, '{}'],
    ['/sandbox/api/runs', '{}'],
  ])('is not read for a moment, while a new connection is rejected immediately: %s %s', async (path, sentBody) => {
    const ask = async (dispatcher: Agent) => {
      const began = performance.now()
      const sent = { method: 'POST', body: sentBody, dispatcher } as const
      const { statusCode, body } = await request(`${origin}${path}`, sent)
      await body.dump()
      return { statusCode, ms: performance.now() - began }
    }
    const tried = async () => {
      const caller = new Agent({ connections: 1 })
      const other = new Agent({ connections: 1 })
      const letGo = await fill()
      const began = performance.now()
      expect(await ask(caller)).toMatchObject({ statusCode: 503 })
      const again = ask(caller)
      const fresh = await ask(other)
      await letGo()
      const soon = performance.now() - began < UNREAD_MS
      const { statusCode, ms } = await again
      await Promise.all([caller.close(), other.close()])
      return { soon, fresh, statusCode, ms, since: performance.now() - began }
    }
    // On a busy machine, the pause may be over before the capacity is free again: then try once more.
    const { fresh, statusCode, ms, since } = await until(async () => {
      const found = await tried()
      return found.soon && found
    })
    expect(fresh.statusCode).toBe(503)
    expect(fresh.ms).toBeLessThan(ms)
    expect(since).toBeGreaterThan(UNREAD_MS - 10)
    expect(statusCode, 'by then there is room').toBeLessThan(500)
  })
})

describe('the pause of a rejected connection', () => {
  it.each([
    [1, 250],
    [1_000, 250],
    [3_000, 750],
    [4_000, 1_000],
    [100_000, 1_000],
  ])('grows with the number of such connections, to leave time for other requests: %i, %i ms', (connections, ms) => {
    expect(unreadMs(connections)).toBe(ms)
  })
})

describe('pipelined requests on one connection', () => {
  const MAX_UNANSWERED = 16
  const READ =
    'POST /oauth/v2/api/resource/get_userinfo?access_token=x HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n'
  const WAITS = `POST ${CONSUME} HTTP/1.1\r\nHost: x\r\nAuthorization: MWS somebody:AAAA\r\nDate: Tue, 05 May 2026 06:11:34 GMT\r\nContent-Length: 2\r\n\r\n{}`

  let wide: World
  beforeAll(async () => {
    wide = await openWorld({ MAX_REQUESTS: '100', LOG_LEVEL: 'info' })
    await wide.app.listen({ host: '127.0.0.1', port: 0 })
  })
  afterAll(() => wide?.close())

  async function send(text: string, { app }: World = wide): Promise<{ socket: Socket; received: () => string }> {
    const socket = connect({ host: '127.0.0.1', port: (app.server.address() as AddressInfo).port, noDelay: true })
    socket.on('error', () => {})
    let received = ''
    socket.setEncoding('utf8').on('data', (part: string) => {
      received += part
    })
    await once(socket, 'connect')
    socket.write(text)
    return { socket, received: () => received }
  }
  const statusesOf = (text: string): string[] =>
    [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status = '']) => status)
  it.each([1, 2, MAX_UNANSWERED])('are answered in order and the connection stays open: %i', async (times) => {
    const { socket, received } = await send(READ.repeat(times))
    await until(() => statusesOf(received()).length === times)
    socket.write(READ)
    await until(() => statusesOf(received()).length === times + 1)
    expect(new Set(statusesOf(received()))).toEqual(new Set(['200']))
    expect(received()).not.toMatch(/connection: close/i)
    socket.destroy()
  })

  it('are answered up to the sixteenth; the next is rejected and the connection closed', async () => {
    const { socket, received } = await send(READ.repeat(MAX_UNANSWERED + 20))
    await until(() => socket.closed)
    expect(statusesOf(received())).toEqual([...Array(MAX_UNANSWERED).fill('200'), '503'])
    expect(received().split('HTTP/1.1 503')[1]).toMatch(/\r\nconnection: close\r\n/i)
    expect(wide.logged()).toContain('too many requests that wait for an answer on one connection')
  })

  it.each([
    ['a read', READ],
    ['the shortest', 'GET / HTTP/1.1\r\nHost:x\r\n\r\n'],
  ])('are mostly not even parsed once the connection is closed: %s', async (_name, text) => {
    const { server } = wide.app
    let read = 0
    const count = () => void read++
    server.on('request', count)
    const { socket } = await send(text.repeat(2_000))
    await until(() => socket.closed)
    server.off('request', count)
    expect(read).toBeLessThan(100)
    expect(await inProgressOf(wide)).toBe(0)
  })

  it('are not handled beyond the limit: a thousand of them close the connection', async () => {
    const requestCount = async () => (await wide.deps.metrics.requests.totals()).reduce((sum, one) => sum + one, 0)
    const before = await requestCount()
    const { socket } = await send(READ.repeat(1_000))
    await until(() => socket.closed)
    await until(async () => (await inProgressOf(wide)) === 0)
    expect((await requestCount()) - before).toBeLessThanOrEqual(MAX_UNANSWERED + 1)
  })

  it('no longer count as in progress once their connection is gone, answered or not', async () => {
    const lock = await wide.pool.connect()
    await lock.query('begin; lock table partner')
    const sent = await Promise.all([1, 5, MAX_UNANSWERED, MAX_UNANSWERED + 3].map((times) => send(WAITS.repeat(times))))
    await until(async () => (await inProgressOf(wide)) === 1 + 5 + 2 * MAX_UNANSWERED)
    for (const { socket } of sent) socket.destroy()
    await until(async () => (await inProgressOf(wide)) === 0)
    await lock.query('rollback')
    lock.release()
    await sleep(100) // for the responses that nobody waits for any more
    expect(await inProgressOf(wide)).toBe(0)
  })
})

describe('idle connections', () => {
  it('are closed to make room for requests, first those that have never sent one', async () => {
    const most = 64
    const small = await openWorld({ MAX_CONNECTIONS: String(most) })
    await small.app.listen({ host: '127.0.0.1', port: 0 })
    const { port } = small.app.server.address() as AddressInfo
    const open = async (): Promise<Socket> => {
      const socket = connect({ port, host: '127.0.0.1' })
      socket.on('error', () => {})
      socket.resume()
      await once(socket, 'connect')
      return socket
    }
    const asking = new Agent({ connections: 1, keepAliveTimeout: 60_000 })
    const ask = async (dispatcher: Agent) => {
      const { statusCode, body } = await request(`http://127.0.0.1:${port}/healthz`, { dispatcher })
      await body.dump()
      return statusCode
    }
    expect(await ask(asking)).toBe(200)
    const silent: Socket[] = []
    for (let n = 0; n < 2 * most; n++) silent.push(await open())
    const fresh = new Agent({ connections: 1 })
    expect([await ask(fresh), await ask(asking)]).toEqual([200, 200])
    await until(() => silent.filter(({ closed }) => !closed).length < most)
    expect(silent.findLastIndex(({ closed }) => closed)).toBeLessThan(silent.findIndex(({ closed }) => !closed))
    for (const socket of silent) socket.destroy()
    await Promise.all([asking.close(), fresh.close()])
    await small.close()
  })
})

describe('sign-in', () => {
  it('rejects requests beyond the queue immediately, in the language of the browser', async () => {
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
