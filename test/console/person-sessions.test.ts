import { afterAll, beforeAll, expect, it } from 'vitest'
import { signIn } from '../../src/authorization/account/sign-in.ts'
import { ROLES, type Role } from '../../src/platform/lib/web/admin-auth.ts'
import { ADMIN_TOKEN, openWorld, type World } from '../harness.ts'
import { addressOf, type Filled, fill, USER } from './filled.ts'
import { type Person, signedInAs } from './person.ts'

/** Operators view the browser sessions and sign-ins of a person, and end a session. */

let world: World
let filled: Filled
let as: (role: Role) => Person
beforeAll(async () => {
  world = await openWorld()
  filled = await fill(world)
  const signed = await signedInAs(world, ROLES)
  as = (role) => signed(role).person
  const user = { cid: 1, user_id: 'ada', passport: 'ada', password: 'long enough', name: 'Ada' }
  const payload = { ...user, big_avatar_url: 'https://a.example/x.png' }
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` }
  await world.app.inject({ method: 'POST', url: '/admin/v1/users', headers, payload })
  for (const address of ['192.0.2.1', '192.0.2.2']) {
    world.clock.advance(1)
    await signIn(world.deps, { passport: 'ada', password: 'long enough', address })
  }
})
afterAll(() => world.close())

const ADA = 'cid=1&user_id=ada'
const sessions = async () => (await world.pool.query("select 1 from browser_session where user_id = 'ada'")).rows.length

it('sessions and sign-ins are listed for support and above, and each view is audited', async () => {
  expect((await as('viewer').get(addressOf('/users/user', filled))).text).not.toContain('/users/sign-ins')
  expect((await as('viewer').get(`/console/users/sessions?${ADA}`)).status).toBe(403)
  const listed = (await as('support').get(`/console/users/sessions?${ADA}`)).text
  expect(listed).toMatch(/192\.0\.2\.2[\s\S]*192\.0\.2\.1/)
  expect((await as('support').get(`/console/users/sign-ins?${ADA}&limit=1`)).text).toContain('rel="next"')
  const { rows } = await world.pool.query("select event from audit_event where event like 'user_%_read'")
  expect(rows.map(({ event }) => event)).toEqual(['user_sessions_read', 'user_sign_ins_read'])
})

it('a session can be ended only for the person that it belongs to', async () => {
  const { text } = await as('support').get(`/console/users/sessions?${ADA}`)
  const [, href = ''] = /href="(\/console\/users\/end-session\?[^"]+)"/.exec(text) ?? []
  const address = href.replaceAll('&amp;', '&')
  expect(await sessions()).toBe(2)
  const others = address.replace(ADA, String(new URLSearchParams({ cid: String(USER.cid), user_id: USER.user_id })))
  expect((await as('support').submit(others)).status).toBe(404)
  expect(await sessions()).toBe(2)
  expect((await as('support').submit(address)).status).toBe(303)
  expect(await sessions()).toBe(1)
  expect((await as('support').submit(address)).status).toBe(404)
})
