import { describe, expect, it, onTestFinished } from 'vitest'
import { jsTicket } from '../../src/authorization/resource/wire.ts'
import { Client, dataOf, tokenSetOf } from '../acceptance/client.ts'
import { expectFailure } from '../acceptance/expectations.ts'
import { injectWire } from '../acceptance/http.ts'
import { openWorld } from '../harness.ts'
import { CITUS_URL } from '../one-table.ts'

/** Area A works with every way of planning statements (DATABASE_PLANNING). */

const AT_ONCE = 5

/** On Citus the server's plan_cache_mode applies, whatever the setting says. */
describe.each([
  ['forced', CITUS_URL ? 'auto' : 'force_generic_plan'],
  ['server', 'auto'],
])('with DATABASE_PLANNING=%s', (planning, mode) => {
  it('authorize, exchange, refresh, A4, A5 and A6 work, alone and in batches', async () => {
    const world = await openWorld({ DATABASE_PLANNING: planning })
    onTestFinished(() => world.close())
    expect((await world.pool.query('show plan_cache_mode')).rows).toEqual([{ plan_cache_mode: mode }])
    const client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
    const fixed = await client.makeApp()
    const rotating = await client.makeApp({ refresh_policy: 'rotating' })
    const user = await client.makeUser()

    async function walk(app: typeof fixed): Promise<void> {
      const browser = await client.signedIn(user, app)
      const consented = await client.getCode(browser, app)
      const first = tokenSetOf(await client.exchange(app, consented))
      const next = tokenSetOf(await client.refresh(app, first.refresh_token))
      for (const { access_token } of [first, next]) {
        expect(dataOf(await client.phone(access_token))).toEqual({ phone_number: '13900000000' })
        expect(dataOf(await client.userInfo(access_token))).toMatchObject({ uinfo: { user_id: user.user_id } })
        expect(jsTicket(access_token)).toMatch(/^[0-9a-f]{32}$/)
      }
      expectFailure(await client.exchange(app, consented), { rescode: 20013 })
    }
    await walk(fixed)
    await Promise.all(Array.from({ length: AT_ONCE }, (_, n) => walk(n % 2 ? fixed : rotating)))
  })
})
