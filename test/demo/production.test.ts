import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createUser } from '../../src/authorization/account/user.ts'
import { newUser } from '../../src/authorization/account/wire.ts'
import { createMicroApp, suspendMicroApp } from '../../src/authorization/registry/micro-app.ts'
import { newMicroApp } from '../../src/authorization/registry/wire.ts'
import { refuseDemoRows, removeDemo } from '../../src/demo/remove.ts'
import { seedDemo } from '../../src/demo/seed.ts'
import { suspendPartner } from '../../src/ticketing/partners/partner.ts'
import { Client, DEMO_APP } from '../acceptance/client.ts'
import { injectWire } from '../acceptance/http.ts'
import { gatehouse } from '../cli-runner.ts'
import { openWorld, SECRET_KEY, type World } from '../harness.ts'

let world: World
beforeEach(async () => {
  world = await openWorld({ PORT: '0' })
})
afterEach(() => world.close())

const count = async (table: string): Promise<number> =>
  (await world.pool.query(`select count(*)::int as n from ${table}`)).rows[0].n

describe('refuseDemoRows', () => {
  it('accepts a database that has never had the demo', async () => {
    await createMicroApp(world.deps, newMicroApp.parse({ name: 'Mine', hosts: ['example.com'], scopes: ['USER_INFO'] }))
    await expect(refuseDemoRows(world.deps)).resolves.toBeUndefined()
  })

  it('names what is active and the command that removes it', async () => {
    await seedDemo(world.deps)
    const problem = await refuseDemoRows(world.deps).catch((error: Error) => error.message)
    for (const name of ['demo-app', 'demo-oidc', 'demo-phone-only', 'demo-pending', 'alice', 'bob', '7001']) {
      expect(problem).toContain(name)
    }
    expect(problem).not.toContain('mallory') // blocked already
    expect(problem).toContain('npx gatehouse demo remove')
  })

  it('accepts a database whose demo is suspended and blocked', async () => {
    await seedDemo(world.deps)
    for (const key of ['demo-app', 'demo-oidc', 'demo-phone-only', 'demo-pending'])
      await suspendMicroApp(world.deps, key)
    await suspendPartner(world.deps, 7001n)
    await expect(refuseDemoRows(world.deps)).rejects.toThrow('alice')
    await world.pool.query("update user_profile set status = 'blocked'")
    await expect(refuseDemoRows(world.deps)).resolves.toBeUndefined()
  })

  it('accepts a database that has no tables yet', async () => {
    await world.pool.query('drop table micro_app cascade')
    await expect(refuseDemoRows(world.deps)).resolves.toBeUndefined()
  })
})

describe('removeDemo', () => {
  const mine = newUser.parse({
    cid: 1,
    user_id: '77',
    passport: 'carol',
    password: 'carol-password',
    name: 'Carol',
    big_avatar_url: 'https://pictures.example/carol.png',
  })

  it('removes everything of the demo and nothing else', async () => {
    await seedDemo(world.deps)
    await createUser(world.deps, mine)
    await createMicroApp(world.deps, newMicroApp.parse({ name: 'Mine', hosts: ['example.com'], scopes: ['USER_INFO'] }))
    const client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
    const alice = { passport: 'alice', password: 'alice-password' }
    const { access_token } = await client.getTokens(await client.signedIn(alice), DEMO_APP)
    // Rows as the purge and the limit on tokens leave them.
    await world.pool.query(
      `insert into used_code select routing_key, sha256('used'), grant_id, now(), now() from user_grant limit 1`,
    )
    await world.pool.query(
      `insert into ended_access_token select routing_key, sha256('ended'), grant_id, now() from user_grant limit 1`,
    )
    const removed = await removeDemo(world.deps)
    expect(removed).toEqual({ micro_apps: 4, users: 3, partners: 1, partners_kept: 0 })
    await expect(refuseDemoRows(world.deps)).resolves.toBeUndefined()
    expect(JSON.parse((await client.userInfo(access_token)).text)).toMatchObject({ rescode: 20009 })
    for (const table of [
      'user_grant',
      'authorization_code',
      'used_code',
      'access_token',
      'ended_access_token',
      'refresh_token',
      'consent_decision',
      'browser_session',
    ]) {
      expect([table, await count(table)]).toEqual([table, 0])
    }
    expect(await count('user_credential')).toBe(1)
    expect(await count('micro_app')).toBe(1)
    expect(await count('partner_secret')).toBe(0)
    expect(await gatehouse({ DATABASE_URL: world.databaseUrl, SECRET_KEY }, 'demo', 'remove')).toEqual({
      code: 0,
      stdout: 'this database contains nothing of the demo\n',
      stderr: '',
    })
    expect(await removeDemo(world.deps)).toEqual({ micro_apps: 0, users: 0, partners: 0, partners_kept: 0 })
  })

  it('keeps a partner that orders refer to, without its secrets and URLs, suspended', async () => {
    await seedDemo(world.deps)
    await world.pool.query(
      `insert into ticket_order (order_id, partner_id, partner_deal_id, state, state_since, quantity, buy_price, unit_price,
         total_price, request, created_at, updated_at)
       values (1, 7001, 'DEMO-BOAT', 'paid', now(), 1, 1, 1, 1, '{}', now(), now())`,
    )
    expect(await removeDemo(world.deps)).toMatchObject({ partners: 0, partners_kept: 1 })
    const { rows } = await world.pool.query('select status, base_url, interface_urls from partner')
    expect(rows).toEqual([{ status: 'suspended', base_url: null, interface_urls: {} }])
    expect(await count('partner_secret')).toBe(0)
    await expect(refuseDemoRows(world.deps)).resolves.toBeUndefined()
    expect(await removeDemo(world.deps)).toMatchObject({ partners: 0, partners_kept: 0 })
  })
})
