import { findTeamMail } from '../../src/authorization/teams/index.ts'
import type { Browser } from '../acceptance/browser.ts'
import { Client } from '../acceptance/client.ts'
import { header, injectWire } from '../acceptance/http.ts'
import type { World } from '../harness.ts'

/** Developers, without the mail server: what their mails would say is read as the job reads it. */

let serial = 0

export interface Developer {
  readonly browser: Browser
  readonly passport: string
  readonly cid: number
  readonly userId: string
}

export const clientOf = (world: World): Client => new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)

/** A person who is signed in, and no developer yet. */
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

/** Somebody joins the team of its owner; returns the id of their membership. */
export async function joined(
  world: World,
  owner: Developer & { readonly team: string },
  role: 'owner' | 'developer' = 'developer',
): Promise<Developer & { readonly memberId: string }> {
  const made = await person(world)
  const mail = made.passport
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
