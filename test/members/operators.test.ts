import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createOperator } from '../../src/operations/operators/index.ts'
import { gatehouse } from '../cli-runner.ts'
import { ADMIN_TOKEN, openWorld, SECRET_KEY, type World } from '../harness.ts'
import { newSandboxPartner, type SandboxPartner, signIn } from '../sandbox/partners.ts'
import { joined, signInMember } from './people.ts'

/** Operators manage members over the admin API and on the command line. */

let world: World
let partner: SandboxPartner
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())
beforeEach(async () => {
  partner = await newSandboxPartner(world)
  await world.pool.query('delete from failed_attempt')
})

async function call(method: 'GET' | 'POST', path: string, body?: object, token = ADMIN_TOKEN) {
  const headers = { authorization: `Bearer ${token}` }
  const url = `/admin/v1/partners/${partner.partner_id}/members${path}`
  const response = await world.app.inject({ method, url, headers, ...(body ? { payload: body } : {}) })
  return { status: response.statusCode, ...response.json() }
}
const run = (...args: string[]) =>
  gatehouse({ DATABASE_URL: world.databaseUrl, SECRET_KEY }, 'partner', 'members', ...args)
const OWNER = { mail: 'owner@example.com', role: 'owner' }

describe('/admin/v1/partners/:partner_id/members', () => {
  it('lists, invites and removes', async () => {
    expect(await call('GET', '')).toMatchObject({ status: 200, data: { members: [] } })
    const invited = await call('POST', '', OWNER)
    expect(invited).toMatchObject({
      status: 200,
      data: { members: [{ ...OWNER, joined_at: null, mail_state: 'waiting' }] },
    })
    expect(Object.keys(invited.data.members[0]).sort()).toEqual(
      [
        'invitation_counts',
        'invited_at',
        'invited_until',
        'joined_at',
        'mail',
        'mail_error',
        'mail_state',
        'member_id',
        'role',
      ].sort(),
    )
    expect(await call('POST', '/remove', { mail: 'OWNER@example.com' })).toMatchObject({ data: { members: [] } })
  })

  it('masks the mail addresses of contacts and members for viewers', async () => {
    const payload = { name: 'Lin', mail: 'lin@example.com' }
    await joined(world, partner, OWNER.mail)
    const url = `/admin/v1/partners/${partner.partner_id}`
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` }
    await world.app.inject({ method: 'PUT', url: `${url}/contacts/product`, headers, payload })
    const seenBy = async (role: 'viewer' | 'support') => {
      const { token } = await createOperator(world.deps, { name: `of-${role}`, role, days: 1 })
      const request = { headers: { authorization: `Bearer ${token}` } }
      const one = (await world.app.inject({ url, ...request })).json()
      const list = (await world.app.inject({ url: '/admin/v1/partners?limit=1000', ...request })).json()
      const listed = list.data.partners.find(
        ({ partner_id }: { partner_id: unknown }) => String(partner_id) === String(partner.partner_id),
      )
      const { data } = (await world.app.inject({ url: `${url}/members`, ...request })).json()
      return [one.data.contacts.product.mail, listed.contacts.product.mail, data.members[0].mail]
    }
    expect(await seenBy('viewer')).toEqual(['l***@example.com', 'l***@example.com', 'o***@example.com'])
    expect(await seenBy('support')).toEqual(['lin@example.com', 'lin@example.com', OWNER.mail])
  })

  it('refuses with a message, and serves only operators', async () => {
    await joined(world, partner, OWNER.mail)
    expect(await call('POST', '', OWNER)).toMatchObject({
      status: 400,
      rescode: 20007,
      data: { message: 'Invalid request: this address belongs to a member already, or is invited' },
    })
    const { data } = await call('POST', '', { mail: 'x', role: 'boss' })
    expect(data.problems.map(({ field }: { field: string }) => field)).toEqual(['mail', 'role'])
    expect(await call('POST', '/remove', { mail: 'else@example.com' })).toMatchObject({ status: 404 })
    expect(await call('GET', '', undefined, 'x')).toMatchObject({ status: 401 })
    const unknown = await world.app.inject({
      url: '/admin/v1/partners/99999/members',
      headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    })
    expect(unknown.statusCode).toBe(404)
  })
})

describe('gatehouse partner members', () => {
  const id = () => String(partner.partner_id)

  it('lists, invites and removes', async () => {
    expect((await run('list', id())).stdout).toBe('no members\n')
    const invited = await run('invite', id(), '--mail', OWNER.mail, '--role', 'owner')
    expect(invited).toMatchObject({ code: 0, stderr: '' })
    expect(invited.stdout).toMatch(/^owner {2}\S+Z {2}- +yes +waiting +owner@example\.com$/m)
    expect(JSON.parse((await run('list', id(), '--json')).stdout)).toMatchObject({ members: [OWNER] })
    expect((await run('remove', id(), '--mail', 'Owner@Example.com')).stdout).toMatch(/^members +-$/m)
  })

  it('removes even the last owner, so that the clientSecret can sign in again', async () => {
    await joined(world, partner, OWNER.mail)
    expect((await signIn(world, partner)).statusCode).toBe(403)
    expect((await run('remove', id(), '--mail', OWNER.mail)).code).toBe(0)
    world.clock.advance(1)
    expect((await signIn(world, partner)).statusCode).toBe(303)
    expect((await signInMember(world, partner, OWNER.mail)).statusCode).toBe(403)
    const { rows } = await world.pool.query(
      "select actor, partner_id, detail from audit_event where event = 'member_removed' and actor = 'cli'",
    )
    expect(rows.at(-1)).toMatchObject({ partner_id: id(), detail: { joined: true } })
  })

  it('reports what is wrong', async () => {
    expect((await run('invite', id(), '--mail', 'x')).stderr).toMatch(
      /^--mail +must be an email address.*\n--role +is required/,
    )
    expect(await run('invite', id(), '--mail', 'dev@example.com', '--role', 'developer')).toMatchObject({
      code: 1,
      stderr: 'the first member must be an owner\n',
    })
    expect((await run('remove', id(), '--mail', 'else@example.com')).stderr).toBe('no such member\n')
  })
})
