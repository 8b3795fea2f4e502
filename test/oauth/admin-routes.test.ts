import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADMIN_TOKEN, openWorld, type World } from '../harness.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

describe('GET /admin/v1/grants', () => {
  it.each([
    ['', 'is required, or app_key'],
    ['cid=&', 'must be a number'],
    ['cid=%20&', 'must be a number'],
    ['cid=0x1&', 'must be a number'],
    ['cid=1e0&', 'must be a number'],
    ['cid=1&cid=1&', 'must be a number'],
  ])('rejects ?%suser_id=10001', async (query, problem) => {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` }
    const response = await world.app.inject({ url: `/admin/v1/grants?${query}user_id=10001`, headers })
    expect(response.statusCode).toBe(400)
    expect(response.json()).toMatchObject({ rescode: 20007, data: { problems: [{ field: 'cid', problem }] } })
  })
})
