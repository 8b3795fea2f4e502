import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { BARE_TEXT } from './contestants/bare-answers.ts'
import type { Contestant, Name } from './contestants/contestant.ts'
import { CALLBACK, STATE, seedCodes } from './fixtures/codes.ts'
import { seedNotices } from './fixtures/orders.ts'
import { grantIdOf, userInfo } from './fixtures/people.ts'
import { type LiveToken, seedRefreshTokens } from './fixtures/tokens.ts'
import { APP_SECRET, APPS, type World } from './fixtures/world.ts'
import type { Ask, Expectation } from './load/ask.ts'
import { writeList } from './load/list.ts'

/** A world in which there are tokens to ask for. */
export interface FilledWorld extends World {
  readonly live: readonly LiveToken[]
  readonly refresh: readonly LiveToken[]
}

/** One kind of request. */
export interface Work {
  readonly title: string
  readonly contestants: readonly Name[]
  /** `once`: what is asked with is spent, so every turn gets a list of its own. */
  readonly order: 'once' | 'random'
  readonly asks: (world: FilledWorld, name: Name, count: number) => Promise<Iterable<Ask>> | Iterable<Ask>
  /** The table where each right answer leaves exactly one row more, and the condition that finds it. */
  readonly leaves?: { readonly table: string; readonly where: string }
}

const USER_INFO = '/oauth/v2/api/resource/get_userinfo?access_token='
const SCOPE = 'USER_INFO PHONE_NUMBER'
const text = (expected: string): Expectation => ({ kind: 'text', text: expected })
const bearer = (name: Name, answer: string, expect: Expectation): Expectation =>
  name === 'bare' ? text(answer) : expect

const tokenRequest = (appKey: string, parameters: Record<string, string>): string =>
  `/oauth/v2/api/token?${new URLSearchParams({ app_key: appKey, app_secret: APP_SECRET, ...parameters })}`

const refreshRequest = (appKey: string, token: string): string =>
  tokenRequest(appKey, { grant_type: 'refresh_token', refresh_token: token })

function* userInfoAsks({ live }: FilledWorld, name: Name): Iterable<Ask> {
  for (const { token, user } of live) {
    const expected = JSON.stringify({ rescode: 0, data: { uinfo: userInfo(user) } })
    yield { target: USER_INFO + token, expect: bearer(name, BARE_TEXT.user, text(expected)) }
  }
}

async function exchangeAsks(world: FilledWorld, name: Name, count: number): Promise<Ask[]> {
  const expect = bearer(name, BARE_TEXT.tokens, { kind: 'tokens', enveloped: true, scope: SCOPE })
  const codes = name === 'bare' ? Array<string>(1000).fill('code') : await seedCodes(world, count)
  return codes.map((code) => ({
    target: tokenRequest(APPS.fixed, { grant_type: 'authorization_code', code, state: STATE, redirect_uri: CALLBACK }),
    expect,
  }))
}

function* refreshAsks({ refresh }: FilledWorld, name: Name): Iterable<Ask> {
  for (const { token } of refresh) {
    const expect: Expectation = { kind: 'tokens', enveloped: true, scope: SCOPE, refreshToken: token }
    yield { target: refreshRequest(APPS.fixed, token), expect: bearer(name, BARE_TEXT.tokens, expect) }
  }
}

async function rotateAsks(world: FilledWorld, name: Name, count: number): Promise<Ask[]> {
  const grant = (user: number) => grantIdOf(APPS.rotating, user)
  const made = await seedRefreshTokens(world, APPS.rotating, grant, count)
  const expect = bearer(name, BARE_TEXT.tokens, { kind: 'tokens', enveloped: true, scope: SCOPE })
  return made.map(({ token }) => ({ target: refreshRequest(APPS.rotating, token), expect }))
}

/** Every other one a real token with one character of its MAC changed; `bare` is told by a word what to answer. */
function* forgedAsks({ live }: FilledWorld, name: Name): Iterable<Ask> {
  for (const { token } of live) {
    const last = token.at(-1) === 'A' ? 'B' : 'A'
    const forged = name === 'bare' ? `refuse${token}` : token.slice(0, -1) + last
    yield { target: USER_INFO + forged, expect: text(BARE_TEXT.refusal) }
  }
}

function* malformedAsks(_world: FilledWorld, name: Name): Iterable<Ask> {
  for (let count = 0; count < 10_000; count++) {
    const nonsense = randomBytes(10 + (count % 40)).toString('hex')
    yield { target: `${USER_INFO}${name === 'bare' ? 'refuse' : ''}${nonsense}`, expect: text(BARE_TEXT.refusal) }
  }
}

/** Those that the benchmark puts in live 167 hours at most, those that contestants issue 168. */
const ISSUED_SINCE = `expires_at > (select created_at + interval '167 hours 10 minutes' from micro_app
                                    where app_key = '${APPS.fixed}')`

export const WORKS = {
  a5: {
    title: 'A5 user info, random live tokens',
    contestants: ['gatehouse', 'plain', 'bare', 'oidc-provider'],
    order: 'random',
    asks: userInfoAsks,
  },
  exchange: {
    title: 'A2 code exchange, each code once',
    contestants: ['gatehouse', 'plain', 'bare', 'oidc-provider'],
    order: 'once',
    asks: exchangeAsks,
    leaves: { table: 'authorization_code', where: 'used_at is not null' },
  },
  refresh: {
    title: 'A3 refresh, policy fixed',
    contestants: ['gatehouse', 'plain', 'bare', 'oidc-provider'],
    order: 'random',
    asks: refreshAsks,
    leaves: { table: 'access_token', where: ISSUED_SINCE },
  },
  rotate: {
    title: 'A3 refresh, policy rotating, each token once',
    contestants: ['gatehouse', 'plain'],
    order: 'once',
    asks: rotateAsks,
    leaves: { table: 'refresh_token', where: 'rotated_at is not null' },
  },
  notices: {
    title: 'consumption notices, signed, each once',
    contestants: ['gatehouse', 'plain'],
    order: 'once',
    asks: (world, _name, count) => seedNotices(world, count, BARE_TEXT.accepted),
    leaves: { table: 'record_change', where: `record = 'order' and cause = 'notice'` },
  },
  forged: {
    title: 'A5 refused: forged MAC',
    contestants: ['gatehouse', 'bare'],
    order: 'random',
    asks: forgedAsks,
  },
  malformed: {
    title: 'A5 refused: malformed token',
    contestants: ['gatehouse', 'bare'],
    order: 'random',
    asks: malformedAsks,
  },
} as const satisfies Record<string, Work>

export type WorkName = keyof typeof WORKS
export const WORK_NAMES = Object.keys(WORKS) as WorkName[]

/** Writes the list of requests for one turn; what oidc-provider is asked only its own process can make. */
export async function listFor(
  world: FilledWorld,
  name: WorkName,
  contestant: Contestant,
  count: number,
): Promise<string> {
  const work: Work = WORKS[name]
  const file = join(world.folder, `${name}-${contestant.name}.ndjson`)
  if (contestant.name === 'oidc-provider') {
    const kept = Math.min(world.tokens, 20_000)
    await contestant.prepare({ kind: name, count: work.order === 'once' ? count : kept, file })
  } else {
    await writeList(file, await work.asks(world, contestant.name, count))
  }
  return file
}
