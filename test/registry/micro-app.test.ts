import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  approveMicroApp,
  createMicroApp,
  listMicroApps,
  putLive,
  showMicroApp,
  suspendMicroApp,
  updateMicroApp,
} from '../../src/authorization/registry/micro-app.ts'
import { newMicroApp } from '../../src/authorization/registry/wire.ts'
import { hashSecret } from '../../src/platform/lib/crypto/keys.ts'
import { parseInput } from '../../src/platform/lib/json/input.ts'
import { openWorld, type World } from '../harness.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const input = (fields: object = {}) =>
  parseInput(newMicroApp, { name: 'Tickets', hosts: ['example.com'], scopes: ['USER_INFO'], ...fields })
const noSuchApp = { rescode: 20007, message: 'Invalid request: no such micro-app' }

describe('createMicroApp', () => {
  it('generates key and secret, and shows the secret only once', async () => {
    const { app_secret, ...app } = await createMicroApp(world.deps, input())
    expect(app.app_key).toMatch(/^[0-9a-f]{24}$/)
    expect(app_secret).toMatch(/^ghas_\w{49}$/)
    expect(app).toMatchObject({ name: 'Tickets', status: 'approved', created_at: world.clock.now() })
    const shown = await showMicroApp(world.deps, app.app_key)
    expect(shown).toEqual({
      ...app,
      secrets: [{ created_at: world.clock.now(), ends_at: null, last_used_at: null }],
    })
    expect(JSON.stringify(shown)).not.toContain(app_secret)
  })

  it('stores only a keyed hash of the secret', async () => {
    const { app_key, app_secret } = await createMicroApp(world.deps, input())
    const { rows } = await world.pool.query('select * from micro_app_secret where app_key = $1', [app_key])
    expect(rows).toHaveLength(1)
    expect(rows[0].secret_hash).toEqual(hashSecret(world.deps.keys, app_secret ?? ''))
  })

  it('accepts a given key and secret', async () => {
    const app = await createMicroApp(world.deps, input({ app_key: 'given', status: 'pending' }), {
      secret: 'given-secret',
    })
    expect(app).toMatchObject({ app_key: 'given', app_secret: 'given-secret', status: 'pending' })
  })

  it('refuses a taken key and leaves the existing app unchanged', async () => {
    const first = await createMicroApp(world.deps, input({ app_key: 'taken' }))
    await expect(createMicroApp(world.deps, input({ app_key: 'taken', name: 'Other' }))).rejects.toMatchObject({
      problems: [{ field: 'app_key', problem: 'is already taken' }],
    })
    expect(await showMicroApp(world.deps, 'taken')).toMatchObject({ name: first.name, secrets: [{ ends_at: null }] })
  })
})

describe('listMicroApps', () => {
  it('lists the oldest first', async () => {
    world.clock.advance(1)
    const { app_key } = await createMicroApp(world.deps, input({ name: 'Last' }))
    const { apps } = await listMicroApps(world.deps, { limit: 100 })
    expect(apps.at(-1)).toMatchObject({ app_key, name: 'Last' })
    expect(apps.length).toBeGreaterThan(1)
  })
})

describe('updateMicroApp', () => {
  it('refuses a change that would leave neither hosts nor redirect URIs', async () => {
    const { app_key } = await createMicroApp(world.deps, input({ redirect_uris: ['https://example.com/cb'] }))
    expect(await updateMicroApp(world.deps, app_key, { hosts: [] })).toMatchObject({ hosts: [] })
    await expect(updateMicroApp(world.deps, app_key, { name: 'Y', redirect_uris: [] })).rejects.toMatchObject({
      problems: [{ field: 'hosts', problem: 'is required where there are no redirect URIs' }],
    })
    expect(await showMicroApp(world.deps, app_key)).toMatchObject({
      name: 'Tickets',
      redirect_uris: ['https://example.com/cb'],
    })
    const swapped = { hosts: ['example.com'], redirect_uris: [] }
    expect(await updateMicroApp(world.deps, app_key, swapped)).toMatchObject(swapped)
  })

  it('refuses a change that would leave a public client without a redirect URI', async () => {
    const { app_key } = await createMicroApp(world.deps, input({ redirect_uris: ['https://example.com/cb'] }))
    await updateMicroApp(world.deps, app_key, { token_auth_methods: ['none'] })
    await expect(updateMicroApp(world.deps, app_key, { redirect_uris: [] })).rejects.toMatchObject({
      problems: [{ field: 'redirect_uris' }],
    })
    const byHost = await createMicroApp(world.deps, input())
    await expect(updateMicroApp(world.deps, byHost.app_key, { token_auth_methods: ['none'] })).rejects.toMatchObject({
      problems: [{ field: 'redirect_uris' }],
    })
  })

  it('refuses such a change that its team requested before the app became a public client', async () => {
    const { app_key } = await createMicroApp(world.deps, input(), { stage: 'development' })
    const asPublic = parseInput(updateMicroApp.input, {
      token_auth_methods: ['none'],
      redirect_uris: ['http://localhost/cb'],
    })
    await updateMicroApp(world.deps, app_key, asPublic)
    const approval = { requestId: 'r', admit: () => {} }
    await expect(putLive(world.deps, app_key, { redirect_uris: [] }, approval)).rejects.toMatchObject({
      problems: [{ field: 'redirect_uris' }],
    })
    expect(await showMicroApp(world.deps, app_key)).toMatchObject({ ...asPublic, stage: 'development' })
  })

  it('changes only the given fields', async () => {
    const fields = { logo_url: 'https://example.com/l.png', redirect_uris: ['https://example.com/cb'] }
    const { app_secret: _, ...app } = await createMicroApp(world.deps, input(fields))
    world.clock.advance(5)
    const updated_at = world.clock.now()
    const renamed = await updateMicroApp(world.deps, app.app_key, { name: 'Renamed', http_allowed: false })
    expect(renamed).toEqual({ ...app, name: 'Renamed', http_allowed: false, updated_at })
    const cleared = await updateMicroApp(world.deps, app.app_key, { logo_url: null, redirect_uris: [], scopes: [] })
    expect(cleared).toEqual({ ...renamed, logo_url: null, redirect_uris: [], scopes: [] })
    const refresh = { refresh_days: 90, refresh_policy: 'rotating', hosts: ['*.example.com'] } as const
    expect(await updateMicroApp(world.deps, app.app_key, { ...refresh, hosts: [...refresh.hosts] })).toEqual({
      ...cleared,
      ...refresh,
    })
    expect(await updateMicroApp(world.deps, app.app_key, {})).toMatchObject(refresh)
  })
})

describe('approveMicroApp and suspendMicroApp', () => {
  it('set the status, any number of times', async () => {
    const { app_key } = await createMicroApp(world.deps, input({ status: 'pending' }))
    expect((await approveMicroApp(world.deps, app_key)).status).toBe('approved')
    expect((await suspendMicroApp(world.deps, app_key)).status).toBe('suspended')
    expect((await suspendMicroApp(world.deps, app_key)).status).toBe('suspended')
    expect((await approveMicroApp(world.deps, app_key)).status).toBe('approved')
  })
})

it.each(['unknown', '', 'with\u0000nul', '../x', 'x'.repeat(65)])(
  'every operation refuses the unknown app %j',
  async (appKey) => {
    await expect(showMicroApp(world.deps, appKey)).rejects.toMatchObject(noSuchApp)
    await expect(updateMicroApp(world.deps, appKey, { name: 'x' })).rejects.toMatchObject(noSuchApp)
    await expect(approveMicroApp(world.deps, appKey)).rejects.toMatchObject(noSuchApp)
    await expect(suspendMicroApp(world.deps, appKey)).rejects.toMatchObject(noSuchApp)
  },
)
