import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { roleFor } from '../../src/operations/console/permissions.ts'
import { SECTIONS } from '../../src/operations/console/sections/index.ts'
import { createOperator } from '../../src/operations/operators/index.ts'
import { ROLES, type Role } from '../../src/platform/lib/web/admin-auth.ts'
import { openWorld, type World } from '../harness.ts'
import { addressOf, type Filled, fill } from './filled.ts'
import { COOKIE, Person, signedInAs } from './person.ts'

/** Attacks on the console: forged forms, wrong roles, guessed URLs. */

let world: World
let filled: Filled
let as: Awaited<ReturnType<typeof signedInAs<Role>>>
beforeAll(async () => {
  world = await openWorld()
  filled = await fill(world)
  as = await signedInAs(world, ROLES)
  await createOperator(world.deps, { name: 'somebody', role: 'viewer', days: 1 })
})
afterAll(() => world.close())

const FORMS = SECTIONS.flatMap(({ forms = [] }) => forms)
const PAGES = SECTIONS.flatMap(({ lists = [], details = [] }) => [...lists, ...details])
const suspend = () => addressOf('/apps/:app_key/suspend', filled)
const statusOf = async () => (await world.pool.query('select status from micro_app')).rows[0].status

describe('a form', () => {
  it('without the mark of its session, or with that of another, changes nothing', async () => {
    const { person } = as('editor')
    const foreign = await as('admin').person.mark(suspend())
    expect(foreign).not.toBe('')
    for (const form_of of ['', 'x', foreign]) {
      expect((await person.post(suspend(), { form_of })).status).toBe(403)
    }
    expect((await person.post(suspend())).status).toBe(403)
    expect(await statusOf()).toBe('approved')
  })

  it('sent from another site changes nothing, even with the right mark', async () => {
    const { person } = as('editor')
    const form_of = await person.mark(suspend())
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': undefined, origin: 'https://evil.example' },
      { 'sec-fetch-site': undefined, origin: 'null' },
    ]) {
      expect((await person.post(suspend(), { form_of }, headers)).status).toBe(403)
    }
    expect(await statusOf()).toBe('approved')
  })

  it.each(FORMS.map(({ path }) => [path]))('for %s is accepted only from its own session and site', async (path) => {
    await world.pool.query('delete from rate_count')
    const { person } = as('admin')
    const changes = async () => (await world.pool.query('select count(*)::int as rows from audit_event')).rows[0].rows
    const [own, foreign, before] = [
      await person.mark(suspend()),
      await as('editor').person.mark(suspend()),
      await changes(),
    ]
    const fields = { reason: 'because', overlap_s: '1', days: '1', role: 'admin', name: 'new', token_name: 'new' }
    for (const form_of of ['', foreign]) {
      expect((await person.post(addressOf(path, filled), { ...fields, form_of })).status).toBe(403)
    }
    for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { 'sec-fetch-site': undefined, origin: 'null' }]) {
      expect((await person.post(addressOf(path, filled), { ...fields, form_of: own }, headers)).status).toBe(403)
    }
    expect(await changes()).toBe(before)
  })

  it('sent from another site signs nobody in or out', async () => {
    const { person } = as('viewer')
    const headers = { 'sec-fetch-site': 'cross-site' }
    expect((await person.post('/console/sign-out', {}, headers)).status).toBe(403)
    expect((await person.get('/console')).status).toBe(200)
    expect((await new Person(world).post('/console/sign-in', { token: 'x' }, headers)).status).toBe(403)
  })

  it('sent as JSON is rejected', async () => {
    const { person } = as('editor')
    const answer = await person.post(suspend(), {}, { 'content-type': 'application/json' })
    expect(answer.status).toBeGreaterThanOrEqual(400)
    expect(await statusOf()).toBe('approved')
  })

  it('changes nothing when it is only opened', async () => {
    const { person } = as('admin')
    const before = (await world.pool.query('select count(*)::int as rows from audit_event')).rows
    for (const { path } of FORMS) await person.get(addressOf(path, filled))
    expect((await world.pool.query('select count(*)::int as rows from audit_event')).rows).toEqual(before)
  })
})

describe('each change', () => {
  const cases = FORMS.flatMap(({ path, operation }) =>
    ROLES.filter((role) => ROLES.indexOf(role) < ROLES.indexOf(roleFor(operation))).map(
      (role) => [path, operation, role] as const,
    ),
  )

  it.each(cases)('%s (%s) is denied to a %s, and the denial is audited', async (path, operation, role) => {
    const { person, name } = as(role)
    await world.pool.query('delete from rate_count')
    const form_of = await person.mark(suspend())
    const rows = async () =>
      (
        await world.pool.query(
          "select 1 from audit_event where event = 'operator_refused' and actor_name = $1 and target = $2 and outcome = 'refused'",
          [name, operation],
        )
      ).rows.length
    const before = await rows()
    const answer = await person.post(addressOf(path, filled), { form_of, role: 'admin', reason: 'because' })
    expect(answer.status).toBe(403)
    expect(answer.text).toContain('Your role does not allow this')
    expect(answer.text).toMatch(new RegExp(`needs the role ${roleFor(operation)}`, 'i'))
    expect(await rows()).toBe(before + 1)
  })

  it('is linked only for roles that may make it', async () => {
    const page = addressOf('/apps/:app_key', filled)
    expect((await as('viewer').person.get(page)).text).not.toContain('/suspend')
    expect((await as('support').person.get(page)).text).not.toContain('/suspend')
    expect((await as('editor').person.get(page)).text).toContain('/suspend')
    expect((await as('editor').person.get('/console')).text).not.toContain('href="/console/operators"')
  })
})

describe('a page', () => {
  it.each([...PAGES, { path: '' }, { path: '/search' }].map(({ path }) => [path]))(
    '%s redirects to the sign-in without the session of an operator',
    async (path) => {
      const address = addressOf(path, filled)
      const foreign = (await as('viewer').person.get('/console')).status
      expect(foreign).toBe(200)
      const { rows } = await world.pool.query(
        "select encode(session_hash, 'base64') as hash from operator_session limit 1",
      )
      for (const cookie of ['', 'nonsense', rows[0].hash, `ghos_${'A'.repeat(48)}`, `ghof_${'A'.repeat(48)}`]) {
        const answer = await new Person(world, cookie).get(address)
        expect([answer.status, answer.location.split('?')[0]]).toEqual([302, '/console/sign-in'])
      }
    },
  )

  it.each(PAGES.map(({ path, operation }) => [path, operation]))(
    '%s (%s) is shown only to roles that may see it',
    async (path, operation) => {
      for (const role of ROLES) {
        const { status } = await as(role).person.get(addressOf(path, filled))
        const may = ROLES.indexOf(role) >= ROLES.indexOf(roleFor(operation))
        expect(status, role).toBe(may ? 200 : 403)
      }
    },
  )

  it('does not exist on the public listener if operators have their own', async () => {
    const { buildApp } = await import('../../src/app.ts')
    const parts = { deps: world.deps, log: world.log, readiness: { draining: false }, isForOperators: () => false }
    const app = await buildApp(parts)
    const headers = { cookie: `${COOKIE}=${as('admin').person.cookie}` }
    for (const url of ['/console', '/console/sign-in', '/console/apps']) {
      expect((await app.inject({ url, headers })).statusCode).toBe(404)
    }
    await app.close()
  })
})
