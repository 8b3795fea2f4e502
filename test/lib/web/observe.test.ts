import { afterEach, describe, expect, it } from 'vitest'
import { openWorld, type World } from '../../harness.ts'

const REFUSED = '/oauth/v2/api/resource/get_userinfo?access_token=nonsense'
let world: World
afterEach(() => world?.close())

const requestLines = (): Record<string, unknown>[] =>
  world
    .logged()
    .split('\n')
    .filter((line) => line.includes('"msg":"request"'))
    .map((line) => JSON.parse(line))

const REFUSALS = 300

describe('above debug', () => {
  const sampledLines = (): Record<string, unknown>[] =>
    world
      .logged()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))

  it('refusals leave one line a kind and minute, with how many there were, and nothing of the query', async () => {
    world = await openWorld({ LOG_LEVEL: 'info' })
    const ask = (url: string) => world.app.inject({ method: 'POST', url })
    await Promise.all(Array.from({ length: REFUSALS }, () => ask(REFUSED)))
    await ask('/oauth/v2/api/token?app_key=some-app&app_secret=confidential')
    await ask('/mtp/api/order/consume/notice')
    world.app.sampledLog.close()
    expect(sampledLines()).toMatchObject([
      { level: 30, msg: 'request refused', route: '/oauth/v2/api/resource/get_userinfo', code: 20009 },
      { level: 30, msg: 'request refused', route: '/oauth/v2/api/token', code: 20001 },
      { level: 30, msg: 'request refused', route: '/mtp/api/order/consume/notice', code: 300 },
      { level: 30, leftOut: REFUSALS - 1 },
    ])
    expect(world.logged()).not.toMatch(/nonsense|confidential/)
  })

  it('an outage leaves one stack a minute, not one a request', async () => {
    world = await openWorld({ LOG_LEVEL: 'info' })
    await world.pool.end()
    world.pool.end = async () => {} // closing the world ends it once more
    const ask = () => world.app.inject({ method: 'POST', url: '/oauth/v2/api/token?app_key=some-app&app_secret=x' })
    const answers = await Promise.all(Array.from({ length: 50 }, ask))
    expect(new Set(answers.map((answer) => answer.statusCode))).toEqual(new Set([503]))
    const stacks = world
      .logged()
      .split('\n')
      .filter((line) => line.includes('"stack"'))
    expect(stacks).toHaveLength(1)
    expect(world.logged().split('\n').length).toBeLessThan(5)
  })
})

describe('the line a request', () => {
  it('is written at debug, without the query', async () => {
    world = await openWorld({ LOG_LEVEL: 'debug' })
    const answer = await world.app.inject({ method: 'POST', url: REFUSED })
    expect(requestLines()).toMatchObject([
      { level: 20, route: '/oauth/v2/api/resource/get_userinfo', code: 20009, request: answer.headers['x-request-id'] },
    ])
    expect(world.logged()).not.toContain('nonsense')
  })

  it('is not written at info', async () => {
    world = await openWorld({ LOG_LEVEL: 'info' })
    await world.app.inject({ method: 'POST', url: REFUSED })
    expect(requestLines()).toEqual([])
  })

  it('but always where the fault was ours', async () => {
    world = await openWorld({ LOG_LEVEL: 'warn' })
    await world.pool.query('alter table micro_app rename to elsewhere')
    const answer = await world.app.inject({ method: 'POST', url: '/oauth/v2/api/token?app_key=some-app&app_secret=x' })
    expect(answer.statusCode).toBe(500)
    expect(requestLines()).toMatchObject([{ level: 40, route: '/oauth/v2/api/token', status: 500, code: 20013 }])
  })
})
