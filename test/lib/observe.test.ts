import { afterEach, describe, expect, it } from 'vitest'
import { openWorld, type World } from '../harness.ts'

const REFUSED = '/oauth/v2/api/resource/get_userinfo?access_token=nonsense'
let world: World
afterEach(() => world?.close())

const requestLines = (): Record<string, unknown>[] =>
  world
    .logged()
    .split('\n')
    .filter((line) => line.includes('"msg":"request"'))
    .map((line) => JSON.parse(line))

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
