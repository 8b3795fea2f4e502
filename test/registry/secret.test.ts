import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createMicroApp } from '../../src/authorization/registry/micro-app.ts'
import {
  findAppWithFailures,
  findMicroAppForAuthentication,
  noteSecretUse,
  rotateSecret,
} from '../../src/authorization/registry/secret.ts'
import { newMicroApp } from '../../src/authorization/registry/wire.ts'
import { addSeconds } from '../../src/platform/lib/clock.ts'
import { hashSecret } from '../../src/platform/lib/crypto/keys.ts'
import { parseInput } from '../../src/platform/lib/json/input.ts'
import { throttleKey } from '../../src/platform/throttle/attempts.ts'
import { countFailure } from '../../src/platform/throttle/attempts-store.ts'
import { MANY_CONNECTIONS, openWorld, type World } from '../harness.ts'
import { untilLocked } from '../locks.ts'

let world: World
beforeAll(async () => {
  world = await openWorld(MANY_CONNECTIONS)
})
afterAll(() => world.close())

const create = async () => {
  const input = parseInput(newMicroApp, { name: 'X', hosts: ['example.com'], scopes: ['USER_INFO'] })
  const { app_secret, ...app } = await createMicroApp(world.deps, input)
  return { ...app, app_secret: app_secret ?? '' }
}
const rotate = (appKey: string, overlap_s = 60) => rotateSecret(world.deps, appKey, { overlap_s })
const SECRET_DATES = { created_at: new Date(0), ends_at: null, last_used_at: null }
const hashOf = (secret: string) => hashSecret(world.deps.keys, secret)
const liveHashes = async (appKey: string) =>
  (await findMicroAppForAuthentication(world.deps, appKey))?.secrets.map((secret) => secret.secret_hash)

describe('rotateSecret', () => {
  it('keeps the old secret valid beside the new one until the overlap ends', async () => {
    const { app_key, app_secret: first } = await create()
    world.clock.advance(1)
    const { app_secret: second, secrets } = await rotate(app_key)
    expect(secrets).toEqual([
      { created_at: world.clock.now(), ends_at: null, last_used_at: null },
      { created_at: addSeconds(world.clock.now(), -1), ends_at: addSeconds(world.clock.now(), 60), last_used_at: null },
    ])
    expect(await liveHashes(app_key)).toEqual([hashOf(second), hashOf(first)])
    world.clock.advance(59)
    expect(await liveHashes(app_key)).toHaveLength(2)
    world.clock.advance(1)
    expect(await liveHashes(app_key)).toEqual([hashOf(second)])
  })

  it('begins the overlap when it has waited for other changes of the app', async () => {
    const { app_key } = await create()
    const other = await world.pool.connect()
    onTestFinished(() => other.release())
    await other.query('begin')
    await other.query('select from micro_app where app_key = $1 for update', [app_key])
    const rotated = rotate(app_key, 5)
    await untilLocked(world.pool)
    world.clock.advance(10)
    await other.query('commit')
    const now = world.clock.now()
    expect((await rotated).secrets).toMatchObject([{ created_at: now }, { ends_at: addSeconds(now, 5) }])
  })

  it('keeps at most two valid: one that was already ending ends at once', async () => {
    const { app_key } = await create()
    const { app_secret: second } = await rotate(app_key, 86_400)
    world.clock.advance(1)
    const { app_secret: third } = await rotate(app_key, 86_400)
    expect(await liveHashes(app_key)).toEqual([hashOf(third), hashOf(second)])
  })

  it('keeps the secret in use rather than a newer unused one, whose response may have been lost', async () => {
    const { app_key, app_secret: first } = await create()
    const noteUse = async (secret: string) =>
      noteSecretUse(world.deps, { app_key }, { ...SECRET_DATES, secret_hash: hashOf(secret) })
    await noteUse(first)
    await rotate(app_key, 3_600)
    world.clock.advance(60)
    const { app_secret: third, secrets } = await rotate(app_key, 86_400)
    expect(await liveHashes(app_key)).toEqual([hashOf(third), hashOf(first)])
    expect(secrets[1]?.ends_at, 'no later than announced').toEqual(addSeconds(world.clock.now(), 3_540))
    await noteUse(third)
    const { app_secret: fourth } = await rotate(app_key, 86_400)
    expect(await liveHashes(app_key)).toEqual([hashOf(fourth), hashOf(third)])
    const { app_secret: fifth } = await rotate(app_key, 0)
    expect(await liveHashes(app_key)).toEqual([hashOf(fifth)])
  })

  it('without overlap ends the old secret at once', async () => {
    const { app_key } = await create()
    const { app_secret } = await rotate(app_key, 0)
    expect(await liveHashes(app_key)).toEqual([hashOf(app_secret)])
  })

  it('done many times concurrently leaves one secret without an end and one that ends', async () => {
    const { app_key } = await create()
    const rotated = await Promise.all(Array.from({ length: 20 }, () => rotate(app_key)))
    const found = await findMicroAppForAuthentication(world.deps, app_key)
    expect(found?.secrets.map((secret) => secret.ends_at === null).sort()).toEqual([false, true])
    const given = rotated.map(({ app_secret }) => hashOf(app_secret).toString('hex'))
    for (const { secret_hash } of found?.secrets ?? []) expect(given).toContain(secret_hash.toString('hex'))
  })

  it.each(['unknown', 'with\u0000nul'])('refuses the unknown app %j', async (appKey) => {
    await expect(rotate(appKey)).rejects.toMatchObject({ rescode: 20007 })
  })
})

describe('findMicroAppForAuthentication', () => {
  it('returns the app and its valid secrets, with Date and Buffer values', async () => {
    const { app_secret, ...app } = await create()
    const secret = { created_at: app.created_at, ends_at: null, last_used_at: null }
    expect(await findMicroAppForAuthentication(world.deps, app.app_key)).toEqual({
      ...app,
      secrets: [{ secret_hash: hashOf(app_secret), ...secret }],
    })
  })

  it.each(['unknown', '', 'with\u0000nul', '\ud800'])('finds no app %j', async (appKey) => {
    expect(await findMicroAppForAuthentication(world.deps, appKey)).toBeUndefined()
  })
})

describe('findAppWithFailures', () => {
  const WINDOW_S = 300
  const subjectOf = (text: string) => throttleKey(world.deps.keys, 'client', text)
  const failed = async (subject: Buffer, times: number) => {
    for (let time = 0; time < times; time++) await countFailure(world.deps.db, subject, world.clock.now(), WINDOW_S)
    return { failures: times, windowEndsAt: addSeconds(world.clock.now(), WINDOW_S) }
  }
  const find = (appKey: string, subject: Buffer) => {
    const countedBy = `${appKey}\n${subject.toString('hex')}`
    return findAppWithFailures(world.deps, { appKey, countedBy, subject: () => subject })
  }

  it('returns app and failures independently of each other', async () => {
    const { app_key } = await create()
    const subject = subjectOf('each')
    expect(await find(app_key, subject)).toMatchObject({ failures: undefined, app: { app_key }, secrets: [{}] })
    const failures = await failed(subject, 2)
    expect(await find(app_key, subject)).toMatchObject({ failures, app: { app_key } })
    for (const appKey of ['unknown', '', 'with\u0000nul', '\ud800']) {
      expect(await find(appKey, subject), appKey).toEqual({ app: undefined, secrets: [], failures })
    }
  })

  it('reads only the fields that every call needs, no URIs or keys', async () => {
    const { app_key } = await create()
    const { app } = await find(app_key, subjectOf('least'))
    expect(Object.keys(app ?? {}).sort(), 'fields with everyCall').toEqual([
      ...['app_key', 'id_token_alg', 'refresh_days', 'refresh_policy', 'scopes', 'status'],
      'token_auth_methods',
      'valid_from',
    ])
  })

  it('computes the key of the failures once for concurrent calls', async () => {
    const { app_key } = await create()
    const subject = vi.fn(() => subjectOf('together'))
    const caller = { appKey: app_key, countedBy: 'together', subject }
    const found = await Promise.all(Array.from({ length: 20 }, () => findAppWithFailures(world.deps, caller)))
    expect(found.map(({ app }) => app?.app_key)).toEqual(Array(20).fill(app_key))
    expect(subject).toHaveBeenCalledOnce()
  })

  it('ignores failures whose window is over', async () => {
    const subject = subjectOf('over')
    const failures = await failed(subject, 1)
    world.clock.advance(WINDOW_S - 1)
    expect(await find('unknown', subject)).toEqual({ app: undefined, secrets: [], failures })
    world.clock.advance(1)
    expect(await find('unknown', subject)).toEqual({ app: undefined, secrets: [], failures: undefined })
  })

  it('gives each of many concurrent calls its own result', async () => {
    const [one, other] = [await create(), await create()]
    const { app_secret: second } = await rotate(one.app_key)
    const [guessed, fresh] = [subjectOf('guessed'), subjectOf('new')]
    const failures = await failed(guessed, 3)
    const hashes = (secrets: readonly { secret_hash: Buffer }[] = []) => secrets.map((each) => each.secret_hash)
    const asked = await Promise.all([
      findMicroAppForAuthentication(world.deps, one.app_key).then((app) => ({ ...app, failures: undefined })),
      find(one.app_key, guessed),
      find(one.app_key, fresh),
      find(other.app_key, guessed),
      find('unknown', guessed),
      find(one.app_key, guessed),
    ])
    const [ofOne, ofOther] = [[hashOf(second), hashOf(one.app_secret)], [hashOf(other.app_secret)]]
    expect(asked.map((found) => [hashes(found.secrets), found.failures])).toEqual([
      [ofOne, undefined],
      [ofOne, failures],
      [ofOne, undefined],
      [ofOther, failures],
      [[], failures],
      [ofOne, failures],
    ])
  })
})

describe('noteSecretUse', () => {
  it('records the last use at most once a minute', async () => {
    const { app_key, app_secret } = await create()
    const lastUse = async () =>
      (await findMicroAppForAuthentication(world.deps, app_key))?.secrets.map((secret) => secret.last_used_at)
    const note = async () => {
      const app = await findMicroAppForAuthentication(world.deps, app_key)
      const used = app?.secrets.find((secret) => secret.secret_hash.equals(hashOf(app_secret)))
      if (app && used) await noteSecretUse(world.deps, app, used)
    }
    const first = world.clock.now()
    await note()
    expect(await lastUse()).toEqual([first])
    world.clock.advance(59)
    await note()
    expect(await lastUse()).toEqual([first])
    world.clock.advance(1)
    await note()
    expect(await lastUse()).toEqual([world.clock.now()])
  })
})

it('processes that record the uses of the same secrets at once do not wait for each other in a circle', async () => {
  const other = await openWorld({}, { url: world.databaseUrl, drop: async () => {} })
  onTestFinished(() => other.close())
  const secrets = (await Promise.all([create(), create(), create()])).map(({ app_key, app_secret }) => ({
    app_key,
    used: { ...SECRET_DATES, secret_hash: hashOf(app_secret) },
  }))
  const noteUses = ({ deps }: World, of: typeof secrets) =>
    Promise.all(of.map(({ app_key, used }) => noteSecretUse(deps, { app_key }, used)))
  const holder = await world.pool.connect()
  try {
    await holder.query('begin')
    await holder.query('select from micro_app_secret where app_key = $1 for update', [secrets[1]?.app_key])
    const here = noteUses(world, secrets)
    await untilLocked(world.pool)
    const there = noteUses(other, secrets.toReversed())
    await untilLocked(world.pool, 2)
    await holder.query('commit')
    await Promise.all([here, there])
  } finally {
    holder.release()
  }
})
