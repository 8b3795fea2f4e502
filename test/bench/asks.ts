import { randomBytes } from 'node:crypto'
import { altered } from '../altered.ts'
import { BARE_TEXT } from './contestants/bare-answers.ts'
import type { Name } from './contestants/contestant.ts'
import { CALLBACK, STATE, seedCodes } from './fixtures/codes.ts'
import { PASSWORD, seedCredentials } from './fixtures/credentials.ts'
import { grantIdOf, userInfo } from './fixtures/people.ts'
import { seedRefreshTokens } from './fixtures/tokens.ts'
import { APP_SECRET, APPS, type FilledWorld } from './fixtures/world.ts'
import type { Ask, Expectation } from './load/ask.ts'

/** The requests of each workload, with the expected responses. */

export const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' }
const USER_INFO = '/oauth/v2/api/resource/get_userinfo?access_token='
const SCOPE = 'USER_INFO PHONE_NUMBER'
const text = (expected: string): Expectation => ({ kind: 'text', text: expected })
/** The expected response to a request; `bare` always answers the same. */
const expectOf = (name: Name, answer: string, expect: Expectation): Expectation =>
  name === 'bare' ? text(answer) : expect

const tokenRequest = (appKey: string, parameters: Record<string, string>): string =>
  `/oauth/v2/api/token?${new URLSearchParams({ app_key: appKey, app_secret: APP_SECRET, ...parameters })}`

const refreshRequest = (appKey: string, token: string): string =>
  tokenRequest(appKey, { grant_type: 'refresh_token', refresh_token: token })

export function* userInfoAsks({ live }: FilledWorld, name: Name): Iterable<Ask> {
  for (const { token, user } of live) {
    const expected = JSON.stringify({ rescode: 0, data: { uinfo: userInfo(user) } })
    yield { target: USER_INFO + token, expect: expectOf(name, BARE_TEXT.user, text(expected)) }
  }
}

/** A5 requests, and password sign-ins of a hundred people. */
export async function besideSignIns(world: FilledWorld, name: Name): Promise<Ask[]> {
  const passports = await seedCredentials(world, 100)
  const signIns = passports.map((passport): Ask => {
    const body = new URLSearchParams({ passport, password: PASSWORD }).toString()
    return { target: '/sign-in', headers: FORM, body, expect: { kind: 'beside', status: 303 } }
  })
  return [...userInfoAsks(world, name), ...signIns]
}

export async function exchangeAsks(world: FilledWorld, name: Name, count: number): Promise<Ask[]> {
  const expect = expectOf(name, BARE_TEXT.tokens, { kind: 'tokens', enveloped: true, scope: SCOPE })
  const codes = name === 'bare' ? Array<string>(1000).fill('code') : await seedCodes(world, count)
  return codes.map((code) => ({
    target: tokenRequest(APPS.fixed, { grant_type: 'authorization_code', code, state: STATE, redirect_uri: CALLBACK }),
    expect,
  }))
}

export function* refreshAsks({ refresh }: FilledWorld, name: Name): Iterable<Ask> {
  for (const { token } of refresh) {
    const expect: Expectation = { kind: 'tokens', enveloped: true, scope: SCOPE, refreshToken: token }
    yield { target: refreshRequest(APPS.fixed, token), expect: expectOf(name, BARE_TEXT.tokens, expect) }
  }
}

export async function rotateAsks(world: FilledWorld, name: Name, count: number): Promise<Ask[]> {
  const grant = (user: number) => grantIdOf(APPS.rotating, user)
  const made = await seedRefreshTokens(world, APPS.rotating, grant, count)
  const expect = expectOf(name, BARE_TEXT.tokens, { kind: 'tokens', enveloped: true, scope: SCOPE })
  return made.map(({ token }) => ({ target: refreshRequest(APPS.rotating, token), expect }))
}

/** Real tokens with the last character of their MAC changed; for `bare`, a prefix of the token requests the refusal. */
export function* forgedAsks({ live }: FilledWorld, name: Name): Iterable<Ask> {
  for (const { token } of live) {
    const forged = name === 'bare' ? `refuse${token}` : altered(token)
    yield { target: USER_INFO + forged, expect: text(BARE_TEXT.refusal) }
  }
}

export function* malformedAsks(_world: FilledWorld, name: Name): Iterable<Ask> {
  for (let count = 0; count < 10_000; count++) {
    const nonsense = randomBytes(10 + (count % 40)).toString('hex')
    yield { target: `${USER_INFO}${name === 'bare' ? 'refuse' : ''}${nonsense}`, expect: text(BARE_TEXT.refusal) }
  }
}

export function* mixedAsks(world: FilledWorld, name: Name): Iterable<Ask> {
  const reads = [...userInfoAsks(world, name)]
  let read = 0
  for (const refresh of refreshAsks(world, name)) {
    yield refresh
    for (let n = 0; n < 9; n++) yield reads[read++ % reads.length] as Ask
  }
}
