import { TOTP } from 'otpauth'
import { findTeamMail } from '../../src/authorization/teams/index.ts'
import type { Browser } from '../acceptance/browser.ts'
import { Client } from '../acceptance/client.ts'
import { type Answer, header, injectWire } from '../acceptance/http.ts'
import type { World } from '../harness.ts'

/** Developers for tests, without a mail server: links are read from the database as the mail job does. */

let serial = 0

export interface Developer {
  readonly browser: Browser
  readonly passport: string
  readonly cid: number
  readonly userId: string
}

export const clientOf = (world: World): Client => new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)

/** A signed-in person who is no developer yet. */
export async function person(world: World, name = `Person ${++serial}`): Promise<Developer> {
  const client = clientOf(world)
  const user = await client.makeUser({ name, passport: `person${++serial}@example.com` })
  const browser = client.newBrowser()
  await browser.send('POST', '/sign-in', { passport: user.passport, password: user.password })
  return { browser, passport: user.passport, cid: user.cid, userId: user.user_id }
}

/** A developer with a team of their own; `team` is its id. */
export async function founder(world: World, name?: string): Promise<Developer & { readonly team: string }> {
  const made = await person(world, name)
  await made.browser.send('POST', '/developer/terms', {})
  const { text } = await made.browser.open('/developer')
  return { ...made, team: /\/developer\/teams\/([0-9a-f-]{36})/.exec(text)?.[1] ?? '' }
}

/** The token of the newest link for this address. */
export async function tokenFor(world: World, mail: string): Promise<string> {
  const { rows } = await world.pool.query(
    'select link_id from team_invitation where mail = $1 order by invited_at desc limit 1',
    [mail],
  )
  const found = await findTeamMail(world.deps, rows[0]?.link_id)
  if (!found) throw new Error(`no link for ${mail}`)
  return found.token
}

/** A new member of the owner's team. */
export async function joined(
  world: World,
  owner: Developer & { readonly team: string },
  role: 'owner' | 'developer' = 'developer',
): Promise<Developer & { readonly memberId: string }> {
  const made = await person(world)
  const mail = made.passport
  if (role === 'owner') await showFactor(world, owner)
  const invited = await owner.browser.send('POST', `/developer/teams/${owner.team}/invite`, { mail, role })
  if (header(invited, 'location') !== `/developer/teams/${owner.team}?done=invited`) throw new Error(invited.text)
  await made.browser.send('POST', '/developer/join', { token: await tokenFor(world, mail) })
  return { ...made, memberId: await memberIdOf(world, made, owner.team) }
}

export async function memberIdOf(world: World, { cid, userId }: Developer, team: string): Promise<string> {
  const { rows } = await world.pool.query(
    'select member_id from team_member where cid = $1 and user_id = $2 and team_id = $3',
    [cid, userId, team],
  )
  return rows[0]?.member_id
}

export const APP_FORM = {
  name: 'Sunny Day Trips',
  kind: 'server',
  redirect_uris: 'http://localhost:8000/callback\nhttps://app.example.com/callback',
  hosts: '',
  logo_url: '',
  scope_USER_INFO: '1',
  reason_USER_INFO: 'The name stands on the ticket',
}

/** Registers an app of the developer's team, in development; returns its app_key. */
export async function registered(
  { browser, team }: Developer & { readonly team: string },
  changes: Readonly<Record<string, string>> = {},
): Promise<string> {
  const answer = await browser.send('POST', `/developer/teams/${team}/apps`, { ...APP_FORM, ...changes })
  const [, appKey] = /^\/developer\/apps\/(\w+)\?done=registered$/.exec(header(answer, 'location')) ?? []
  if (!appKey) throw new Error(`${answer.status} ${answer.text}`)
  return appKey
}

/** Makes the app's test users and signs in the first one. */
export async function tester(world: World, { browser }: Developer, appKey: string): Promise<Browser> {
  const { text } = await browser.send('POST', `/developer/apps/${appKey}/test-users`, {})
  const password = /<pre[^>]*>([^<]+)<\/pre>/.exec(text)?.[1] ?? ''
  const passport = /<code>(test-[0-9a-f]{8}-1)<\/code>/.exec(text)?.[1] ?? ''
  const made = clientOf(world).newBrowser()
  const answer = await made.send('POST', '/sign-in', { passport, password })
  if (answer.status !== 303) throw new Error(answer.text)
  return made
}

/** Secrets of authenticators, by passport. */
const AUTHENTICATORS = new Map<string, string>()

const codeOf = (world: World, { passport }: Developer): string =>
  new TOTP({ secret: AUTHENTICATORS.get(passport) ?? '', period: 30 }).generate({
    timestamp: world.clock.now().getTime(),
  })

/** Adds an authenticator and signs in with it. */
export async function withAuthenticator(world: World, developer: Developer): Promise<void> {
  const { browser, passport } = developer
  const page = await browser.send('POST', '/account/security/authenticator', {})
  AUTHENTICATORS.set(passport, /id="secret">([A-Z2-7]+)</.exec(page.text)?.[1] ?? '')
  await browser.send('POST', '/account/security/authenticator/confirm', { code: codeOf(world, developer) })
  await signInAgain(world, developer)
}

/** Signs in with a second factor, as required for making somebody an owner. */
async function showFactor(world: World, developer: Developer): Promise<void> {
  const { browser, passport } = developer
  if (AUTHENTICATORS.has(passport)) return signInAgain(world, developer)
  await browser.send('POST', '/sign-in', { passport, password: 'password-of-a-test-user' })
  await withAuthenticator(world, developer)
}

/** Advances the clock by a minute and signs in with the authenticator. */
export async function signInAgain(world: World, developer: Developer): Promise<void> {
  const { browser, passport } = developer
  world.clock.advance(60)
  await browser.send('POST', '/sign-in', { passport, password: 'password-of-a-test-user' })
  await browser.send('POST', '/sign-in/code', { code: codeOf(world, developer) })
}

/** The app_secret that a page shows. */
export const secretIn = ({ text }: Answer): string => /<pre[^>]*>(ghas_[^<]+)<\/pre>/.exec(text)?.[1] ?? ''

/** Makes a new app_secret; the owner must have an authenticator. */
export const secretOf = async ({ browser }: Developer, appKey: string): Promise<string> =>
  secretIn(await browser.send('POST', `/developer/apps/${appKey}/secret`, { replaces: '' }))
