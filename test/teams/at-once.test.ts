import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { eraseUser } from '../../src/authorization/people/person-data.ts'
import { formsOf } from '../acceptance/form.ts'
import { header } from '../acceptance/http.ts'
import { MANY_CONNECTIONS, openWorld, type World } from '../harness.ts'
import { untilLocked } from '../locks.ts'
import {
  APP_FORM,
  clientOf,
  type Developer,
  founder,
  joined,
  person,
  registered,
  tokenFor,
  withAuthenticator,
} from './people.ts'

/**
 * Races between two changes of a team, its app or its people: a lock holds one of them between its reads and its
 * writes.
 */

let world: World
beforeAll(async () => {
  world = await openWorld(MANY_CONNECTIONS)
})
afterAll(() => world?.close())

/** Locks still held after a failure, which would keep the pool from closing. */
const heldLocks = new Set<() => Promise<void>>()
afterEach(async () => {
  for (const release of heldLocks) await release()
})

/** Locks the rows of the query until `release`. */
async function hold(text: string, values: unknown[]) {
  const held = await world.pool.connect()
  const release = async () => {
    if (!heldLocks.delete(release)) return
    await held.query('commit')
    held.release()
  }
  heldLocks.add(release)
  await held.query('begin')
  await held.query(text, values)
  return { query: held.query.bind(held), release }
}
const holdApp = (appKey: string) => hold('select from micro_app where app_key = $1 for update', [appKey])
const approve = (requestId: string) =>
  clientOf(world).admin('POST', `/app-requests/${requestId}/approve`) as Promise<unknown>
const give = (appKey: string, team_id: string) =>
  clientOf(world).admin('POST', `/apps/${appKey}/give`, { team_id }) as Promise<unknown>
const rolesOf = async (team: string): Promise<string[]> =>
  (await world.pool.query('select role from team_member where team_id = $1 order by role', [team])).rows.map(
    ({ role }) => role,
  )

describe('an app assigned to another team', () => {
  it('keeps no request of its former team, even one sent meanwhile', async () => {
    const [owner, other] = [await founder(world), await founder(world)]
    const appKey = await registered(owner)
    const held = await holdApp(appKey)
    const asked = owner.browser.send('POST', `/developer/apps/${appKey}/request`, {})
    await untilLocked(world.pool)
    const given = give(appKey, other.team)
    await Promise.race([given, untilLocked(world.pool, 2)])
    await held.release()
    expect(header(await asked, 'location')).toBe(`/developer/apps/${appKey}?done=asked`)
    await given
    const { rows } = await world.pool.query('select state from app_request where app_key = $1', [appKey])
    expect(rows).toEqual([{ state: 'withdrawn' }])
  })

  it('is not changed by a pending form of a member of both teams', async () => {
    const [owner, other] = [await founder(world), await founder(world)]
    const appKey = await registered(owner)
    await world.pool.query(
      `insert into team_member (member_id, team_id, routing_key, cid, user_id, role, joined_at)
       select gen_random_uuid(), $2, routing_key, cid, user_id, 'owner', joined_at from team_member where team_id = $1`,
      [owner.team, other.team],
    )
    const held = await holdApp(appKey)
    const changed = owner.browser.send('POST', `/developer/apps/${appKey}/edit`, { ...APP_FORM, name: 'Changed' })
    await untilLocked(world.pool)
    await held.query('update team_app set team_id = $2 where app_key = $1', [appKey, other.team])
    await held.release()
    expect((await changed).status).toBe(404)
  })
})

describe('a link to join', () => {
  it('that is replaced meanwhile admits nobody', async () => {
    const owner = await founder(world)
    const someone = await person(world)
    const mail = 'late@example.com'
    await owner.browser.send('POST', `/developer/teams/${owner.team}/invite`, { mail, role: 'developer' })
    const token = await tokenFor(world, mail)
    const held = await hold('select from team where team_id = $1 for update', [owner.team])
    const answer = someone.browser.send('POST', '/developer/join', { token })
    await untilLocked(world.pool)
    await held.query("update team_invitation set link_hash = 'another' where mail = $1", [mail])
    await held.release()
    expect((await answer).status).toBe(404)
    expect(await rolesOf(owner.team)).toEqual(['owner'])
  })
})

describe('a team', () => {
  it('keeps an owner when one is erased while the other leaves', async () => {
    const owner = await founder(world)
    const other = await joined(world, owner, 'owner')
    await joined(world, owner)
    const held = await hold('select from team_member where member_id = $1 for update', [other.memberId])
    const left = other.browser.send('POST', `/developer/teams/${owner.team}/leave`, {})
    await untilLocked(world.pool)
    const erased = eraseUser(world.deps, { cid: owner.cid, user_id: owner.userId })
    await Promise.race([erased, untilLocked(world.pool, 2)])
    await held.release()
    await Promise.all([left, erased])
    expect(await rolesOf(owner.team)).toEqual(['owner'])
  })
})

describe('an operator’s change of an app', () => {
  const liveApp = async (owner: Developer & { team: string }) => {
    const appKey = await registered(owner)
    await world.pool.query("update micro_app set stage = 'live' where app_key = $1", [appKey])
    return appKey
  }

  it('is not undone by an earlier request, even if the team sets a webhook meanwhile', async () => {
    const owner = await founder(world)
    await withAuthenticator(world, owner)
    const appKey = await liveApp(owner)
    await owner.browser.send('POST', `/developer/apps/${appKey}/edit`, { ...APP_FORM, name: 'Asked for' })
    world.clock.advance(1)
    const held = await holdApp(appKey)
    const path = `/developer/apps/${appKey}/webhook`
    const set = owner.browser.send('POST', path, { webhook_url: 'https://hooks.example.com/' })
    await untilLocked(world.pool)
    await held.query("update micro_app set hosts = '{fixed.example.com}', updated_at = $2 where app_key = $1", [
      appKey,
      world.clock.now(),
    ])
    world.clock.advance(1)
    await held.release()
    expect((await set).status).toBe(200)
    const { rows } = await world.pool.query('select request_id from app_request where app_key = $1', [appKey])
    await expect(approve(rows[0].request_id)).rejects.toThrow('the app was changed since this was asked for')
    const { rows: apps } = await world.pool.query('select hosts from micro_app where app_key = $1', [appKey])
    expect(apps).toEqual([{ hosts: ['fixed.example.com'] }])
  })

  it('to the webhook alone does not block a pending approval', async () => {
    const owner = await founder(world)
    const appKey = await liveApp(owner)
    await owner.browser.send('POST', `/developer/apps/${appKey}/edit`, { ...APP_FORM, name: 'Asked for' })
    const { rows } = await world.pool.query('select request_id from app_request where app_key = $1', [appKey])
    world.clock.advance(1)
    const held = await holdApp(appKey)
    const approved = approve(rows[0].request_id)
    await untilLocked(world.pool)
    const now = world.clock.now()
    await held.query('update micro_app set updated_at = $2 where app_key = $1', [appKey, now])
    await held.query('update app_request set based_on = $2 where app_key = $1', [appKey, now])
    await held.release()
    expect(await approved).toMatchObject({ state: 'approved' })
  })

  it('of the secret makes a concurrent request for a secret fail with 409', async () => {
    const owner = await founder(world)
    await withAuthenticator(world, owner)
    const appKey = await liveApp(owner)
    const held = await holdApp(appKey)
    const path = `/developer/apps/${appKey}/secret`
    const made = owner.browser.send('POST', path, { replaces: '' })
    await untilLocked(world.pool)
    await held.query(
      "insert into micro_app_secret (app_key, secret_hash, hashed_with, created_at) values ($1, 'hash', 'key', $2)",
      [appKey, world.clock.now()],
    )
    await held.release()
    expect((await made).status).toBe(409)
  })
})

describe('the form for a new webhook secret', () => {
  it('works even if the present secret cannot be decrypted any more', async () => {
    const owner = await founder(world)
    await withAuthenticator(world, owner)
    const appKey = await registered(owner)
    const path = `/developer/apps/${appKey}/webhook`
    await owner.browser.send('POST', path, { webhook_url: 'https://hooks.example.com/' })
    await world.pool.query('update micro_app set webhook_secret = $2 where app_key = $1', [appKey, Buffer.alloc(60)])
    const form = formsOf((await owner.browser.open(path)).text).find((one) => one.action === `${path}/secret`)
    if (!form) throw new Error('no form')
    const made = await owner.browser.submit(form, { overlap_s: '0' })
    expect([made.status, /whsec_/.test(made.text)]).toEqual([200, true])
  })

  it('makes one secret if it is resent by a reload, so that the former one keeps its overlap', async () => {
    const owner = await founder(world)
    await withAuthenticator(world, owner)
    const appKey = await registered(owner)
    const path = `/developer/apps/${appKey}/webhook`
    await owner.browser.send('POST', path, { webhook_url: 'https://hooks.example.com/' })
    const former = 'select former_webhook_secret as secret from micro_app where app_key = $1'
    const action = `${path}/secret`
    const form = formsOf((await owner.browser.open(path)).text).find((one) => one.action === action)
    if (!form) throw new Error('no form')
    expect((await owner.browser.submit(form, { overlap_s: '86400' })).status).toBe(200)
    const { rows: before } = await world.pool.query(former, [appKey])
    expect((await owner.browser.submit(form, { overlap_s: '86400' })).status).toBe(409)
    expect((await world.pool.query(former, [appKey])).rows).toEqual(before)
  })
})
