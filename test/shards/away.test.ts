import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { routingKeyOf } from '../../src/authorization/account/wire.ts'
import { eraseDue } from '../../src/authorization/people/index.ts'
import { purge, purgeTask } from '../../src/operations/jobs/purge.ts'
import { keepFingerprint, lastPurge } from '../../src/platform/db/installation.ts'
import type { Browser } from '../acceptance/browser.ts'
import { type App, Client, type Consented, dataOf, type TokenSet, tokenSetOf, type User } from '../acceptance/client.ts'
import { type Answer, injectWire } from '../acceptance/http.ts'
import { signedIn } from '../console/person.ts'
import { ADMIN_TOKEN, type World } from '../harness.ts'
import { openShards, personOfEach, withoutShard } from './four-shards.ts'

/** One shard of four is unavailable: its people get 503, everybody else is served. */

const AWAY = 'shard_1_of_4'

interface Held {
  readonly user: User
  readonly browser: Browser
  readonly tokens: TokenSet
  /** A code that has not been used yet. */
  readonly consented: Consented
}

let world: World
let client: Client
let app: App
/** One person of each shard. */
let people: Held[]
beforeAll(async () => {
  world = await openShards()
  await keepFingerprint(world.deps.db, world.deps.keys)
  client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
  app = await client.makeApp()
  people = []
  for (const user of await personOfEach(client)) {
    const browser = await client.signedIn(user, app)
    const tokens = await client.getTokens(browser, app)
    people.push({ user, browser, tokens, consented: await client.getCode(browser, app) })
  }
})
afterAll(() => world.close())

const away = <T>(work: () => Promise<T>): Promise<T> => withoutShard(world, AWAY, work)
const ready = async () => (await world.app.inject('/readyz')).json()
const ofEach = (ask: (person: Held) => Promise<Answer>) => Promise.all(people.map(ask))
const asOperator = (method: string, path: string, body?: object) =>
  client.call(
    method,
    `/admin/v1${path}`,
    { authorization: `Bearer ${ADMIN_TOKEN}`, ...(body ? { 'content-type': 'application/json' } : {}) },
    body && JSON.stringify(body),
  )
const refused = ({ status, headers }: Answer) => status === 503 && Number(headers['retry-after']) > 0

/** People of the unavailable shard get 503 with Retry-After, all others this status. */
function expectServed(what: string, answers: readonly Answer[], status: number): void {
  expect([what, answers.map((answer) => (refused(answer) ? 'later' : answer.status))]).toEqual([
    what,
    [status, 'later', status, status],
  ])
}

describe('only people of the unavailable shard are asked to retry later', () => {
  it('in area A', async () => {
    const asked = await away(() =>
      Promise.all([
        ofEach(({ tokens }) => client.userInfo(tokens.access_token)),
        ofEach(({ tokens }) => client.phone(tokens.access_token)),
        ofEach(({ consented }) => client.exchange(app, consented)),
        ofEach(({ tokens }) => client.refresh(app, tokens.refresh_token)),
        ofEach(({ browser }) => browser.open(client.authorizePath(client.request(app)))),
      ]),
    )
    for (const [at, answers] of asked.entries()) expectServed(`call ${at}`, answers, 200)
    // The rejected requests had no effect: code and token still work.
    const { tokens, consented } = people[1] as Held
    tokenSetOf(await client.exchange(app, consented))
    tokenSetOf(await client.refresh(app, tokens.refresh_token))
    dataOf(await client.userInfo(tokens.access_token))
  })

  it('at sign-in and on the account pages', async () => {
    const [pages, changes, signedIn] = await away(() =>
      Promise.all([
        ofEach(({ browser }) => browser.send('GET', '/account')),
        ofEach(({ browser }) => browser.send('POST', '/account/security/authenticator')),
        ofEach(({ user: { passport, password } }) =>
          client.newBrowser().send('POST', '/sign-in', { passport, password }),
        ),
      ]),
    )
    expectServed('page', pages, 200)
    expectServed('change', changes, 200)
    expectServed('sign-in', signedIn, 303)
  })

  it('when operators view, export or erase one person; lists of all people are unavailable', async () => {
    const { person } = await signedIn(world, 'admin')
    const erased = await personOfEach(client)
    const keyed = ({ cid, user_id }: User) => `cid=${cid}&user_id=${user_id}`
    await away(async () => {
      const [shown, exported, gone, pages, found, lists, listPage] = await Promise.all([
        ofEach(({ user: { cid, user_id } }) => asOperator('GET', `/users/${cid}/${user_id}`)),
        ofEach(({ user: { cid, user_id } }) => asOperator('GET', `/users/${cid}/${user_id}/export?reason=asked`)),
        Promise.all(erased.map(({ cid, user_id }) => asOperator('POST', '/users/erase', { cid, user_id }))),
        Promise.all(people.map(({ user }) => person.get(`/console/users/user?${keyed(user)}`))),
        ofEach(({ user: { passport } }) => asOperator('GET', `/users?passport=${passport}`)),
        Promise.all([asOperator('GET', '/users'), asOperator('GET', '/users?name=Test')]),
        person.get('/console/users'),
      ])
      expectServed('show', shown, 200)
      expectServed('export', exported, 200)
      expectServed('erase', gone, 200)
      expectServed('console', pages as unknown as Answer[], 200)
      expectServed('search', found, 200)
      expect([...lists, listPage as unknown as Answer].map(refused)).toEqual([true, true, true])
    })
    const left = await Promise.all(erased.map(({ cid, user_id }) => asOperator('GET', `/users/${cid}/${user_id}`)))
    expect(left.map(({ status }) => status)).toEqual([404, 200, 404, 404])
  })
})

it('due erasures in other shards are not delayed by many earlier ones in the unavailable shard', async () => {
  const due = await personOfEach(client)
  const request = (key: number, cid: number, userId: string, dueAt: string) =>
    world.pool.query(
      `insert into deletion_request (routing_key, cid, user_id, requested_at, due_at) values ($1, $2, $3, $4, $4)`,
      [key, cid, userId, dueAt],
    )
  for (let n = 0; n < 120; n++) await request(16_384 + n, 1, `waits-${n}`, '2026-01-01')
  for (const { cid, user_id } of due) await request(routingKeyOf(cid, user_id), cid, user_id, '2026-01-02')
  const left = async () =>
    (await Promise.all(due.map(({ cid, user_id }) => asOperator('GET', `/users/${cid}/${user_id}`)))).map(
      ({ status }) => status,
    )
  const deps = { ...world.deps, config: { ...world.deps.config, ACCOUNT_DELETION: 'after-14-days' as const } }
  const stopping = new AbortController()
  await away(async () => {
    const erasing = eraseDue(deps, stopping.signal)
    await expect.poll(left).toEqual([404, 503, 404, 404])
    stopping.abort()
    expect(await erasing).toMatchObject({ erased: 3 })
  })
  expect(await left()).toEqual([404, 200, 404, 404])
})

describe('an unavailable shard', () => {
  it('is named by /readyz and /metrics, and logged once when it fails and once when it is back', async () => {
    const lines = () =>
      world
        .logged()
        .split('\n')
        .filter((line) => /a shard is/.test(line))
    const shardsUp = async () => {
      const { text } = await client.call('GET', '/metrics', { authorization: `Bearer ${ADMIN_TOKEN}` })
      return [...text.matchAll(/^gatehouse_shard_up\{shard="shard_\d_of_4"\} (\d)$/gm)].map(([, up]) => Number(up))
    }
    expect(await shardsUp()).toEqual([1, 1, 1, 1])
    const before = lines().length
    await away(async () => {
      for (let asked = 0; asked < 3; asked++) {
        const answer = await world.app.inject('/readyz')
        expect([answer.statusCode, answer.json()]).toEqual([200, { status: 'ok', shards_away: [AWAY] }])
      }
      expect(await shardsUp()).toEqual([1, 0, 1, 1])
    })
    await expect.poll(ready).toEqual({ status: 'ok' })
    await ready()
    const logged = lines().slice(before)
    expect(logged.map((line) => JSON.parse(line)).map(({ shard, why, msg }) => [shard, why, msg])).toEqual([
      [AWAY, expect.stringContaining(`${AWAY}: `), 'a shard is away'],
      [AWAY, undefined, 'a shard is back'],
    ])
  })

  it('is skipped and reported by the purge, and purged the next time', async () => {
    const now = world.clock.now()
    for (const schema of [0, 1, 2, 3].map((place) => `shard_${place}_of_4`))
      await world.pool.query(`update ${schema}.access_token set expires_at = $1`, [new Date(now.getTime() - 7_200_000)])
    const of = async (schema: string) =>
      (await world.pool.query(`select count(*)::int as rows from ${schema}.access_token`)).rows[0].rows
    const purgedAt = await lastPurge(world.deps.db)
    const left = await of(AWAY)
    const signal = new AbortController().signal
    const job = { id: '1', signal, log: world.log }
    await away(async () => {
      const { deleted, ...end } = await purge(world.deps, {})
      expect(end).toMatchObject({ finished: false, shards_away: [AWAY] })
      expect(deleted.access_token).toBeGreaterThan(0)
      await purgeTask(world.deps, {}, job as never)
    })
    expect(await Promise.all(['shard_0_of_4', AWAY, 'shard_2_of_4', 'shard_3_of_4'].map(of))).toEqual([0, left, 0, 0])
    expect(world.logged()).toContain('shards are away, or locked: their expired rows are left to the next purge')
    expect(await lastPurge(world.deps.db)).toEqual(purgedAt)
    const { deleted, ...end } = await purge(world.deps, {})
    expect(end).toMatchObject({ finished: true })
    expect([end.total, deleted.access_token]).toEqual([left, left])
    expect(await lastPurge(world.deps.db)).toEqual(world.clock.now())
  })

  it('with only one locked table is purged except for that table', async () => {
    const expired = [new Date(world.clock.now().getTime() - 100 * 86_400_000)]
    await world.pool.query(`update ${AWAY}.refresh_token set expires_at = $1`, expired)
    const locker = await world.pool.connect()
    try {
      await locker.query('begin')
      await locker.query(`lock table ${AWAY}.access_token in access exclusive mode`)
      const { deleted, ...end } = await purge(world.deps, {})
      expect(end).toMatchObject({ finished: false, shards_away: [AWAY] })
      expect(deleted.refresh_token).toBeGreaterThan(0)
    } finally {
      await locker.query('rollback')
      locker.release()
    }
    expect(await purge(world.deps, {})).toMatchObject({ finished: true })
  })
})
