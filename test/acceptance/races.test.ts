import { Pool } from 'undici'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bodyOf, CALLBACK, StandardApp } from '../oidc/app.ts'
import type { Browser } from './browser.ts'
import { type App, Client, dataOf, envelopeOf, type TokenSet, tokenSetOf } from './client.ts'
import { type Answer, httpWire } from './http.ts'
import { type System, startSystem } from './system.ts'

/**
 * Concurrent calls to two server processes on one database: 200 at once in two of ten rounds, 40 in the others;
 * `RACE_ROUNDS=50` runs 50 rounds of 200. With a faulty exchange that reads a code before it locks its row, 3 of 12
 * rounds of 40 and 2 of 10 rounds of 200 had a second winner.
 */
const AT_ONCE = 200
const ROUNDS: readonly number[] = process.env.RACE_ROUNDS
  ? Array.from({ length: Number(process.env.RACE_ROUNDS) }, () => AT_ONCE)
  : [AT_ONCE, ...Array.from({ length: 8 }, () => 40), AT_ONCE]

let system: System
let pools: Pool[]
let clients: Client[]
let alice: Browser

beforeAll(async () => {
  system = await startSystem({ JOBS: 'off', DEMO: 'off' }, { JOBS: 'off', DEMO: 'off' })
  pools = system.processes.map(({ origin }) => new Pool(origin, { connections: AT_ONCE / 2, pipelining: 1 }))
  clients = system.processes.map(({ origin }, index) => new Client(httpWire(origin, pools[index]), origin))
  alice = await first().signedIn(await first().makeUser(), await first().makeApp())
})
afterAll(async () => {
  await Promise.all((pools ?? []).map((pool) => pool.close()))
  await system?.stop()
})

const first = (): Client => {
  if (!clients[0]) throw new Error('no process')
  return clients[0]
}

/** Makes the same call `length` times at once, half of them to each process. */
const allAtOnce = (call: (client: Client) => Promise<Answer>, length = AT_ONCE): Promise<Answer[]> =>
  Promise.all(Array.from({ length }, (_, index) => call(clients[index % 2] ?? first())))

const rescodesOf = (answers: readonly Answer[]): Record<number, number> => {
  const counted: Record<number, number> = {}
  for (const answer of answers) {
    const { rescode } = envelopeOf(answer)
    counted[rescode] = (counted[rescode] ?? 0) + 1
  }
  return counted
}

const report = (what: string, wins: readonly number[], startedAt: number): void => {
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  const winners = wins.reduce((sum, each) => sum + each, 0)
  process.stdout.write(
    `${what}: ${wins.length} rounds, ${ROUNDS.join(', ')} at once, ${winners} winners, ${seconds} s\n`,
  )
}

const rowsOf = async (table: 'access_token' | 'refresh_token', app: App): Promise<number> => {
  const text = `select count(*)::int as rows from ${table} join user_grant using (routing_key, grant_id) where app_key = $1`
  return Number((await system.query(text, [app.app_key]))[0]?.rows)
}

describe('simultaneous exchanges of one code', () => {
  it(`have one winner in each of ${ROUNDS.length} rounds`, async () => {
    const startedAt = performance.now()
    const wins: number[] = []
    for (const atOnce of ROUNDS) {
      const app = await first().makeApp()
      const consented = await first().getCode(alice, app)
      const answers = await allAtOnce((client) => client.exchange(app, consented), atOnce)
      expect(rescodesOf(answers)).toEqual({ 0: 1, 20013: atOnce - 1 })
      const winner = answers.find(({ text }) => text.startsWith('{"rescode":0')) as Answer
      const tokens = tokenSetOf(winner)
      for (const client of clients) dataOf(await client.userInfo(tokens.access_token))
      expect([await rowsOf('access_token', app), await rowsOf('refresh_token', app)]).toEqual([1, 1])
      wins.push(1)
    }
    report('exchange of one code', wins, startedAt)
  })
})

describe('simultaneous refreshes with one rotating token', () => {
  it(`all get the same successor in each of ${ROUNDS.length} rounds`, async () => {
    const startedAt = performance.now()
    const wins: number[] = []
    for (const atOnce of ROUNDS) {
      const app = await first().makeApp({ refresh_policy: 'rotating' })
      const before = await first().getTokens(alice, app)
      const answers = await allAtOnce((client) => client.refresh(app, before.refresh_token), atOnce)
      expect(rescodesOf(answers)).toEqual({ 0: atOnce })
      const sets = answers.map((answer): TokenSet => tokenSetOf(answer))
      const successors = new Set(sets.map((set) => set.refresh_token))
      expect([successors.size, new Set(sets.map((set) => set.access_token)).size]).toEqual([1, 1])
      expect(successors.has(before.refresh_token)).toBe(false)
      expect([await rowsOf('access_token', app), await rowsOf('refresh_token', app)]).toEqual([2, 2])
      for (const client of clients) dataOf(await client.userInfo(sets[0]?.access_token ?? ''))
      tokenSetOf(await first().refresh(app, sets[0]?.refresh_token ?? ''))
      wins.push(1)
    }
    report('refresh with one rotating token', wins, startedAt)
  })
})

describe('other races', () => {
  it('a fixed refresh token serves any number of concurrent refreshes', async () => {
    const app = await first().makeApp()
    const before = await first().getTokens(alice, app)
    const answers = await allAtOnce((client) => client.refresh(app, before.refresh_token))
    expect(rescodesOf(answers)).toEqual({ 0: AT_ONCE })
    expect(new Set(answers.map((answer) => tokenSetOf(answer).refresh_token))).toEqual(new Set([before.refresh_token]))
  })

  it('a concurrent exchange and withdrawal of its grant leave no live token', async () => {
    for (let round = 0; round < 8; round++) {
      const [app, user] = [await first().makeApp(), await first().makeUser()]
      const consented = await first().getCode(await first().signedIn(user, app), app)
      const [answer] = await Promise.all([(clients[1] ?? first()).exchange(app, consented), first().withdraw(user)])
      const { rescode, data } = envelopeOf(answer)
      if (rescode !== 0) expect(rescode).toBe(20006)
      else expect(envelopeOf(await first().userInfo(String(data.access_token))).rescode).toBe(20009)
    }
  })

  it('access that a person withdraws during exchanges and refreshes has ended in both dialects and in every process', async () => {
    const app = await first().makeApp({ redirect_uris: [CALLBACK], webhook_url: 'https://hooks.example.com/' })
    const user = await first().makeUser()
    const browser = await first().signedIn(user, app)
    const standard = clients.map((client) => new StandardApp(client, app))
    const [rp] = standard
    if (!rp) throw new Error('no process')
    for (let round = 0; round < 4; round++) {
      const contract = await first().getTokens(browser, app)
      const tokens = await rp.tokens(browser, user)
      const unspent = [await first().getCode(browser, app), await first().getCode(browser, app)]
      const silent = await Promise.all([rp.code(browser, user), rp.code(browser, user)])
      const [withdrawn, ...answers] = await Promise.all([
        browser.send('POST', '/account/apps/withdraw', { app_key: app.app_key }),
        ...unspent.map((code, index) => clients[index % 2]?.exchange(app, code)),
        ...silent.map((code, index) => standard[index % 2]?.exchange(code)),
        ...clients.map((client) => client.refresh(app, contract.refresh_token)),
        ...standard.map((each) => each.refresh(tokens.refresh_token)),
      ])
      expect(withdrawn.status).toBe(303)
      const issued = answers.map((answer) => JSON.parse(answer?.text ?? '{}')).map(({ data, ...body }) => data ?? body)
      for (const { access_token, refresh_token } of [contract, tokens, ...issued].filter((one) => one.access_token)) {
        for (const client of clients) {
          expect(envelopeOf(await client.userInfo(access_token)).rescode).toBe(20009)
          expect(envelopeOf(await client.refresh(app, refresh_token)).rescode).toBe(20006)
        }
        for (const each of standard) {
          expect((await each.userInfo(access_token)).status).toBe(401)
          expect((await each.refresh(refresh_token)).status).toBe(400)
          for (const token of [access_token, refresh_token])
            expect(bodyOf(await each.post('introspect', { ...each.credentials, token }))).toEqual({ active: false })
        }
      }
    }
    const events = await system.query(
      `select reason, all_ended from app_event where app_key = '${app.app_key}' order by created_at`,
      [],
    )
    expect(events).toEqual(Array.from({ length: 4 }, () => ({ reason: 'user', all_ended: true })))
  })

  it('among correct and wrong exchanges of one code at most one wins, and a spent code stays spent', async () => {
    for (let round = 0; round < 5; round++) {
      const app = await first().makeApp()
      const consented = await first().getCode(alice, app)
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, index) => {
          const changes = index % 5 === 4 ? {} : { state: 'wrong' }
          return (clients[index % 2] ?? first()).exchange(app, consented, changes)
        }),
      )
      const counted = rescodesOf(answers)
      expect(counted[0] ?? 0).toBeLessThanOrEqual(1)
      expect(counted[20007] ?? 0).toBeLessThanOrEqual(3)
      expect(envelopeOf(await first().exchange(app, consented)).rescode).toBe(20013)
    }
  })
})
