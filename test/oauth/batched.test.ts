import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, Client, type Consented, dataOf, pkcePair, type TokenSet, tokenSetOf } from '../acceptance/client.ts'
import { expectFailure } from '../acceptance/expectations.ts'
import { type Answer, injectWire } from '../acceptance/http.ts'
import { altered } from '../altered.ts'
import { MANY_CONNECTIONS, openWorld, type World } from '../harness.ts'
import { everybodyUrl, SHARDS } from '../one-table.ts'

/** Good, bad, expired, foreign and duplicate requests batched into one statement each get their own right answer. */

const DAY = 86_400

let world: World
let client: Client
let app: App
let other: App
let admin: pg.Client

beforeAll(async () => {
  world = await openWorld(MANY_CONNECTIONS)
  client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
  app = await client.makeApp({ refresh_days: 7 })
  other = await client.makeApp()
  admin = new pg.Client({ connectionString: everybodyUrl(world.databaseUrl) })
  await admin.connect()
})
afterAll(async () => {
  await admin?.end()
  await world?.close()
})

const consent = async (changes = {}, to = app) => {
  const user = await client.makeUser()
  return { user, consented: await client.getCode(await client.signedIn(user, to), to, changes) }
}
const tokens = async (to = app) => {
  const user = await client.makeUser()
  return { user, tokens: await client.getTokens(await client.signedIn(user, to), to) }
}
const invalid = ({ code }: Consented) => ({ rescode: 20013, message: `Invalid authorization code: ${code}` })
/** Counts tokens by transaction id since the given one: tokens that one statement wrote share it. */
const mostTokensOfOneStatement = async (since: number): Promise<number> =>
  Number(
    (
      await admin.query(
        'select max(n)::int as n from (select count(*) as n from access_token where xmin::text::bigint >= $1 group by xmin::text) t',
        [since],
      )
    ).rows[0].n,
  )
const nextTransaction = async (): Promise<number> =>
  Number((await admin.query('select pg_current_xact_id()::text as id')).rows[0].id)
const count = async (what: string): Promise<number> =>
  Number((await admin.query(`select count(*)::int as n from ${what}`)).rows[0].n)

describe('exchanges that share a statement', () => {
  it('are each decided on their own', async () => {
    const late = await consent()
    world.clock.advance(300)
    const pkce = pkcePair()
    const challenge = { code_challenge: pkce.challenge, code_challenge_method: 'S256' }
    const [one, two, three] = await Promise.all([consent(), consent(), consent()])
    const [withPkce, noVerifier, badState, badAddress] = await Promise.all([
      consent(challenge),
      consent(challenge),
      consent(),
      consent(),
    ])
    const [foreign, unknown, blocked, withdrawn, twice] = await Promise.all([
      consent({}, other),
      consent(),
      consent(),
      consent(),
      consent(),
    ])
    const gone = await admin.query(`delete from authorization_code where grant_id in (
      select grant_id from user_grant where user_id = '${unknown.user.user_id}')`)
    expect(gone.rowCount).toBe(1)
    await client.block(blocked.user)
    await client.withdraw(withdrawn.user)
    const start = await nextTransaction()

    const exchange = ({ consented }: { consented: Consented }, changes = {}): Promise<Answer> =>
      client.exchange(app, consented, changes)
    const pending = [
      exchange(one),
      exchange(late),
      exchange(badState, { state: 'another' }),
      exchange(two),
      exchange(badAddress, { redirect_uri: 'https://app.example.com/elsewhere' }),
      exchange(foreign),
      exchange(withPkce, { code_verifier: pkce.verifier }),
      exchange(noVerifier),
      exchange(unknown),
      exchange(blocked),
      exchange(withdrawn),
      exchange({ consented: { ...one.consented, code: altered(one.consented.code) } }),
      exchange(three),
      client.exchange({ ...app, app_secret: 'wrong' }, one.consented),
    ]
    const repeated = [exchange(twice), exchange(twice), exchange(twice)]
    const [a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14] = await Promise.all(pending)
    const good = [a1, a4, a7, a13].map((answer) => tokenSetOf(answer as Answer))
    expectFailure(a2 as Answer, invalid(late.consented))
    expectFailure(a3 as Answer, { rescode: 20007, message: /state/ })
    expectFailure(a5 as Answer, { rescode: 20012 })
    expectFailure(a6 as Answer, invalid(foreign.consented))
    expectFailure(a8 as Answer, { rescode: 20006 })
    expectFailure(a9 as Answer, invalid(unknown.consented))
    expectFailure(a10 as Answer, { rescode: 20016 })
    expectFailure(a11 as Answer, { rescode: 20006 })
    expectFailure(a12 as Answer, { rescode: 20013 })
    expectFailure(a14 as Answer, { rescode: 20001 })
    const duplicates = await Promise.all(repeated)
    const winners = duplicates.filter((answer) => answer.text.includes('"rescode":0'))
    expect(winners).toHaveLength(1)
    for (const answer of duplicates) if (!winners.includes(answer)) expectFailure(answer, invalid(twice.consented))

    if (SHARDS === 1) expect(await mostTokensOfOneStatement(start), 'they did share a statement').toBeGreaterThan(1)
    const users = [one, two, withPkce, three]
    const shown = await Promise.all(good.map(({ access_token }) => client.userInfo(access_token)))
    expect(shown.map((answer) => dataOf(answer).uinfo)).toMatchObject(
      users.map(({ user: { cid, user_id } }) => ({ cid, user_id })),
    )
    expect(new Set(good.map(({ access_token }) => access_token)).size).toBe(4)
    // Codes with a mismatch were not spent.
    for (const kept of [badState, badAddress]) tokenSetOf(await exchange(kept))
  })
})

describe.each(['fixed', 'rotating'])('refreshes that share a statement, policy %s', (refresh_policy) => {
  it('are each decided on their own', async () => {
    const own = await client.makeApp({ refresh_days: 7, refresh_policy })
    const long = await client.makeApp({ refresh_policy })
    const late = await tokens(own)
    world.clock.advance(7 * DAY)
    const [one, two, twice] = await Promise.all([tokens(own), tokens(own), tokens(own)])
    const [foreign, unknown, blocked, withdrawn] = await Promise.all([
      tokens(long),
      tokens(own),
      tokens(own),
      tokens(own),
    ])
    await admin.query(`delete from refresh_token where grant_id in (
      select grant_id from user_grant where user_id = '${unknown.user.user_id}')`)
    await client.block(blocked.user)
    await client.withdraw(withdrawn.user)
    const start = await nextTransaction()

    const refresh = (of: { tokens: TokenSet }): Promise<Answer> => client.refresh(own, of.tokens.refresh_token)
    const answers = await Promise.all([
      refresh(one),
      refresh(late),
      refresh(foreign),
      refresh(two),
      refresh(unknown),
      refresh(blocked),
      refresh(withdrawn),
      client.refresh(own, one.tokens.access_token),
      client.refresh(own, altered(one.tokens.refresh_token)),
      refresh(twice),
      refresh(twice),
    ])
    const [a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11] = answers as Answer[]
    const good = [a1, a4, a10, a11].map((answer) => tokenSetOf(answer as Answer))
    expectFailure(a2 as Answer, { rescode: 20021 })
    for (const answer of [a3, a5, a7, a8, a9]) expectFailure(answer as Answer, { rescode: 20006 })
    expectFailure(a6 as Answer, { rescode: 20016 })

    const ofTwice = good.slice(2).map(({ access_token }) => access_token)
    expect(new Set(ofTwice).size).toBe(refresh_policy === 'fixed' ? 2 : 1)
    if (SHARDS === 1) expect(await mostTokensOfOneStatement(start), 'they did share a statement').toBeGreaterThan(1)
    const shown = await Promise.all(good.map(({ access_token }) => client.userInfo(access_token)))
    expect(shown.map((answer) => dataOf(answer).uinfo)).toMatchObject(
      [one, two, twice, twice].map(({ user: { cid, user_id } }) => ({ cid, user_id })),
    )
  })
})

describe('reads that share a statement', () => {
  it('are each decided on their own', async () => {
    const leaving = await client.makeApp()
    const narrowed = await client.makeApp()
    const late = await tokens()
    world.clock.advance(7 * DAY)
    const [one, two, unknown, blocked, withdrawn] = await Promise.all([1, 2, 3, 4, 5].map(() => tokens()))
    const [suspended, lost] = await Promise.all([tokens(leaving), tokens(narrowed)])
    if (!one || !two || !unknown || !blocked || !withdrawn) throw new Error('unreachable')
    const user = await client.makeUser()
    const phoneOnly = await client.getTokens(await client.signedIn(user, app), app, { scope: 'PHONE_NUMBER' })
    await admin.query(`delete from access_token where grant_id in (
      select grant_id from user_grant where user_id = '${unknown.user.user_id}')`)
    await client.block(blocked.user)
    await client.withdraw(withdrawn.user)
    await client.suspend(leaving)
    await client.update(narrowed, { scopes: ['PHONE_NUMBER'] })

    const read = (of: { tokens: TokenSet }) => client.userInfo(of.tokens.access_token)
    const good = [read(one), read(two), read(one), client.phone(phoneOnly.access_token), read(two)]
    const bad = [
      [read(late), 20020],
      [read(unknown), 20009],
      [read(withdrawn), 20009],
      [client.userInfo(altered(one.tokens.access_token)), 20009],
      [client.userInfo(one.tokens.refresh_token), 20009],
      [client.userInfo(''), 20007],
      [read(suspended), 20011],
      [read(lost), 20011],
      [read(blocked), 20016],
      [client.userInfo(phoneOnly.access_token), 20004],
    ] as const
    const shown = (await Promise.all(good)).map(dataOf)
    expect(shown.map(({ uinfo }) => (uinfo as { user_id: string } | undefined)?.user_id)).toEqual(
      [one, two, one, undefined, two].map((of) => of?.user.user_id),
    )
    expect(shown[3]).toEqual({ phone_number: '13900000000' })
    for (const [answer, rescode] of bad) expectFailure(await answer, { rescode })
  })

  it('see a withdrawal at once', async () => {
    const { user, tokens: given } = await tokens()
    dataOf(await client.userInfo(given.access_token))
    await client.withdraw(user)
    expectFailure(await client.userInfo(given.access_token), { rescode: 20009 })
  })
})

describe('losing the database while exchanges share a statement', () => {
  it.skipIf(SHARDS > 1)('reports no success that did not commit, and spends no code', async () => {
    const made = await Promise.all([1, 2, 3, 4].map(() => consent()))
    const before = await count('access_token')
    await admin.query('begin; lock table access_token in exclusive mode')
    const answers = Promise.all(made.map(({ consented }) => client.exchange(app, consented)))
    const terminate = `select pg_terminate_backend(pid) from pg_stat_activity
                       where datname = current_database() and wait_event_type = 'Lock'`
    await expect.poll(async () => (await admin.query(terminate)).rowCount).toBe(1)
    for (const answer of await answers) expectFailure(answer, { rescode: 20013, status: 503, message: 'Server error' })
    await admin.query('rollback')

    expect(await count('access_token')).toBe(before)
    for (const { consented } of made) tokenSetOf(await client.exchange(app, consented))
  })
})
