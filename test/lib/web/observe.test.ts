import { afterEach, describe, expect, it } from 'vitest'
import { openWorld, type World } from '../../harness.ts'

const PATH = '/oauth/v2/api/resource/get_userinfo'
const REFUSED = `${PATH}?access_token=nonsense`
const FAILURES = { LOG_LEVEL: 'info', LOG_REQUESTS: 'failures' }
let world: World
afterEach(() => world?.close())

type Line = Readonly<Record<string, unknown>>
const lines = (): Line[] =>
  world
    .logged()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
const requestLines = (): Line[] => lines().filter(({ msg }) => msg === 'request')
const summary = async (): Promise<Line | undefined> => {
  await world.app.close() // writes the summary
  return lines().find(({ msg }) => msg === 'requests of the last minute')
}
const post = (url: string, more = {}) => world.app.inject({ method: 'POST', url, ...more })

describe('with LOG_REQUESTS=failures', () => {
  it('a refusal is one line with id, route, code, failure and duration, but nothing of the query', async () => {
    world = await openWorld(FAILURES)
    const answer = await post(REFUSED)
    await post('/oauth/v2/api/token?app_key=some-app&app_secret=confidential')
    await post('/mtp/api/order/consume/notice')
    await post('/nowhere?phone=13800000000')
    expect(requestLines()).toMatchObject([
      {
        level: 30,
        request: answer.headers['x-request-id'],
        method: 'POST',
        route: PATH,
        status: 200,
        code: 20009,
        failure: 'token_forged',
        ms: expect.any(Number),
      },
      { route: '/oauth/v2/api/token', code: 20001, failure: 'credentials_wrong' },
      { route: '/mtp/api/order/consume/notice', code: 300 },
      { route: '(no route)', status: 404 },
    ])
    expect(world.logged()).not.toMatch(/nonsense|confidential|13800000000/)
  })

  it('an error of ours is logged even if many refusals were logged in the same second', async () => {
    world = await openWorld(FAILURES)
    await world.pool.query('alter table micro_app rename to elsewhere')
    await Promise.all(Array.from({ length: 30 }, () => post(REFUSED)))
    const answer = await post('/oauth/v2/api/token?app_key=some-app&app_secret=x')
    expect(answer.statusCode).toBe(500)
    expect(requestLines()).toContainEqual(expect.objectContaining({ status: 500, code: 20013 }))
  })

  it('a success is not logged', async () => {
    world = await openWorld(FAILURES)
    await world.app.inject('/healthz')
    expect(requestLines()).toEqual([])
  })

  it('a success that took longer than SLOW_MS is logged', async () => {
    world = await openWorld({ ...FAILURES, SLOW_MS: '1' })
    const slow = world.deps.rateLimiter.count
    Object.assign(world.deps.rateLimiter, {
      count: (...args: Parameters<typeof slow>) => {
        const until = performance.now() + 5
        while (performance.now() < until);
        return slow(...args)
      },
    })
    await world.app.inject('/sign-in')
    expect(requestLines()).toMatchObject([{ route: '/sign-in', status: 200 }])
    expect(requestLines()[0]?.ms).toBeGreaterThan(1)
  })

  it('ten lines a second are logged per caller and a hundred in total; the summary counts the others', async () => {
    world = await openWorld(FAILURES)
    const REFUSALS = 300
    const began = performance.now()
    await Promise.all(Array.from({ length: REFUSALS }, () => post(REFUSED)))
    const written = requestLines().length
    expect(written).toBeGreaterThanOrEqual(10)
    expect(written).toBeLessThanOrEqual(10 * (2 + Math.floor((performance.now() - began) / 1_000)))
    for (let network = 0; network < 200; network++) {
      await post(REFUSED, { remoteAddress: `10.0.${network}.1` })
    }
    const leftOut = REFUSALS + 200 - requestLines().length
    expect(leftOut).toBeGreaterThan(0)
    await world.app.inject('/healthz')
    const said = await summary()
    expect(said).toMatchObject({ level: 30, requests: REFUSALS + 201, refused: REFUSALS + 200, failed: 0, leftOut })
    expect(said?.kinds).toEqual({ [`${PATH} 200 20009`]: REFUSALS + 200 })
  })

  it('an error of ours is logged as a warning', async () => {
    world = await openWorld({ ...FAILURES, LOG_LEVEL: 'warn' })
    await world.pool.query('alter table micro_app rename to elsewhere')
    const answer = await post('/oauth/v2/api/token?app_key=some-app&app_secret=x')
    expect(answer.statusCode).toBe(500)
    expect(requestLines()).toMatchObject([{ level: 40, route: '/oauth/v2/api/token', status: 500, code: 20013 }])
  })

  it('an outage logs one stack a minute, not one per request', async () => {
    world = await openWorld(FAILURES)
    await world.pool.end()
    world.pool.end = async () => {} // closing the world ends it once more
    const send = () => post('/oauth/v2/api/token?app_key=some-app&app_secret=x')
    const answers = await Promise.all(Array.from({ length: 50 }, send))
    expect(new Set(answers.map((answer) => answer.statusCode))).toEqual(new Set([503]))
    expect(lines().filter(({ err }) => err !== undefined)).toHaveLength(1)
    expect(lines().length).toBeLessThan(25)
  })
})

describe('with another LOG_REQUESTS', () => {
  it('all: every request is logged', async () => {
    world = await openWorld({ LOG_LEVEL: 'info', LOG_REQUESTS: 'all' })
    await Promise.all(Array.from({ length: 30 }, () => post(REFUSED)))
    await world.app.inject('/healthz')
    expect(requestLines()).toHaveLength(31)
    expect(requestLines()).toContainEqual(expect.objectContaining({ route: '/healthz', status: 200, level: 30 }))
  })

  it('off: nothing is logged, not even a summary', async () => {
    world = await openWorld({ LOG_LEVEL: 'info', LOG_REQUESTS: 'off' })
    await post(REFUSED)
    expect(await summary()).toBeUndefined()
    expect(requestLines()).toEqual([])
  })
})
