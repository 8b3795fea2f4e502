import { beforeAll, describe, expect, it } from 'vitest'
import { Client, newState, type User } from '../acceptance/client.ts'
import { httpWire } from '../acceptance/http.ts'
import { sharedSystem } from '../acceptance/system.ts'
import { CALLBACK, StandardApp } from './app.ts'

/** One code used at two processes in two dialects: the first request gets the tokens, and they work everywhere. */

const AT_ONCE = 200

interface Place {
  readonly client: Client
  readonly rp: StandardApp
}

let places: readonly [Place, Place]
let user: User
beforeAll(async () => {
  const { processes } = await sharedSystem()
  const clients = processes.slice(0, 2).map(({ origin }) => new Client(httpWire(origin), origin))
  const [one, other] = clients as [Client, Client]
  const rp = await StandardApp.make(one, { require_pkce: false })
  user = await one.makeUser()
  places = [
    { client: one, rp },
    { client: other, rp: new StandardApp(other, rp.app) },
  ]
})

interface Code {
  readonly code: string
  readonly state: string
  readonly verifier?: string
}

const standardCode = async ({ client, rp }: Place): Promise<Code> => {
  const state = newState()
  return { ...(await rp.code(client.newBrowser(), user, { state })), state }
}

const contractCode = async ({ client, rp }: Place): Promise<Code> => {
  const app = { ...rp.app, redirect_uri: CALLBACK }
  return client.getCode(await client.signedIn(user, app), app)
}

/** Exchanges a code in each dialect; the contract's envelope is removed. */
const exchanges: readonly ((place: Place, code: Code) => Promise<Record<string, unknown>>)[] = [
  async ({ rp }, { code, verifier }) => JSON.parse((await rp.exchange({ code, verifier: verifier ?? '' })).text),
  async ({ client, rp }, { verifier, ...consented }) => {
    const app = { ...rp.app, redirect_uri: CALLBACK }
    const pkce = verifier === undefined ? {} : { code_verifier: verifier }
    const { rescode, data } = JSON.parse((await client.exchange(app, consented, pkce)).text)
    return rescode === 0 ? data : { error: rescode }
  },
]

/** Exchanges the code concurrently, equally often in each combination of process and dialect. */
async function race(code: Code): Promise<Record<string, unknown>[]> {
  return Promise.all(
    Array.from({ length: AT_ONCE }, (_, nth) => {
      const [place, exchange] = [places[nth % 2], exchanges[Math.floor(nth / 2) % 2]]
      if (!place || !exchange) throw new Error('there are two of each')
      return exchange(place, code)
    }),
  )
}

/** Whether the access token works at this process in the standard and in the contract dialect. */
const works = async ({ client, rp }: Place, token: string): Promise<boolean[]> => [
  (await rp.userInfo(token)).status === 200,
  JSON.parse((await client.userInfo(token)).text).rescode === 0,
]

describe.each([
  ['standard', standardCode],
  ['contract', contractCode],
])('a code of the %s dialect, exchanged 200 times at once at two processes in both dialects', (_name, make) => {
  it('has one winner, whose token works in both dialects at both processes', async () => {
    const answers = await race(await make(places[0]))
    const winners = answers.filter((answer) => 'access_token' in answer)
    expect(winners).toHaveLength(1)
    const errors = answers.flatMap(({ error }) => (error === undefined ? [] : [error]))
    expect(errors).toHaveLength(AT_ONCE - 1)
    expect(new Set(errors)).toEqual(new Set(['invalid_grant', 20013]))
    const token = String(winners[0]?.access_token)
    for (const place of places) expect(await works(place, token)).toEqual([true, true])
  })
})

describe('a grant', () => {
  it('can be refreshed at one process in one dialect, and revoked at the other', async () => {
    const [here, there] = places
    const tokens = await here.rp.tokens(here.client.newBrowser(), user)
    const refreshed = JSON.parse((await there.client.refresh(there.rp.app, tokens.refresh_token)).text).data
    expect(await works(here, refreshed.access_token)).toEqual([true, true])
    const next = JSON.parse((await here.rp.refresh(refreshed.refresh_token)).text)
    expect(await works(there, next.access_token)).toEqual([true, true])
    await there.rp.post('revoke', { ...there.rp.credentials, token: next.refresh_token })
    for (const place of places) {
      for (const { access_token } of [tokens, refreshed, next]) {
        expect(await works(place, access_token)).toEqual([false, false])
      }
    }
  })

  it('refreshed 200 times concurrently gives every request the same successor', async () => {
    const [here, there] = places
    const { refresh_token } = await here.rp.tokens(here.client.newBrowser(), user)
    const answers = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, nth) => (nth % 2 === 0 ? here : there).rp.refresh(refresh_token)),
    )
    const successors = new Set(answers.map(({ text }) => JSON.parse(text).refresh_token))
    expect([...successors]).toEqual([expect.stringMatching(/^ghrt_/)])
  })
})
