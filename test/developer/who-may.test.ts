import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { blockUser } from '../../src/authorization/account/index.ts'
import { ROLES } from '../../src/platform/lib/web/admin-auth.ts'
import { routesOf } from '../admin-routes.ts'
import { adminTokenHolder, COOKIE, signedInAs } from '../console/person.ts'
import { openWorld, type World } from '../harness.ts'
import {
  APP_FORM,
  clientOf,
  type Developer,
  founder,
  joined,
  memberIdOf,
  person,
  registered,
  withAuthenticator,
} from '../teams/people.ts'

/**
 * Authorization of the developer pages: every route under /developer is requested by an owner and a developer of the
 * team, a member of another team, a removed member, a blocked member, a person who is no developer, operators of each
 * role, and an anonymous visitor. Each POST comes with a valid form, so that only authorization can make it fail.
 */

/** Who is allowed, and the form. `everybody` is any developer, who sees only their own data. */
const ROUTES: Readonly<Record<string, { who: 'person' | 'everybody' | 'team' | 'owner'; form?: object }>> = {
  'GET /developer': { who: 'person' },
  'GET /developer/terms': { who: 'person' },
  'POST /developer/terms': { who: 'person', form: {} },
  'GET /developer/join': { who: 'person' },
  'POST /developer/join': { who: 'person', form: { token: 'x' } },
  'GET /developer/teams': { who: 'person' },
  'POST /developer/teams': { who: 'everybody', form: { name: 'Another' } },
  'GET /developer/failures': { who: 'everybody' },
  'GET /developer/helpers': { who: 'everybody' },
  'GET /developer/helpers/request': { who: 'everybody' },
  'POST /developer/helpers/request': { who: 'everybody', form: { request: '/oauth2/token' } },
  'GET /developer/helpers/id-token': { who: 'everybody' },
  'POST /developer/helpers/id-token': { who: 'everybody', form: { id_token: 'x' } },
  'GET /developer/helpers/js-ticket': { who: 'everybody' },
  'POST /developer/helpers/js-ticket': { who: 'everybody', form: { access_token: 'x' } },
  'GET /developer/teams/:team_id': { who: 'team' },
  'GET /developer/teams/:team_id/apps': { who: 'team' },
  'GET /developer/teams/:team_id/apps/new': { who: 'team' },
  'POST /developer/teams/:team_id/apps': { who: 'team', form: APP_FORM },
  'GET /developer/apps/:app_key': { who: 'team' },
  'GET /developer/apps/:app_key/edit': { who: 'team' },
  'POST /developer/apps/:app_key/edit': { who: 'team', form: APP_FORM },
  'GET /developer/apps/:app_key/failures': { who: 'team' },
  'GET /developer/apps/:app_key/request': { who: 'owner' },
  'POST /developer/apps/:app_key/request': { who: 'owner', form: {} },
  'GET /developer/apps/:app_key/request/withdraw': { who: 'owner' },
  'POST /developer/apps/:app_key/request/withdraw': { who: 'owner', form: {} },
  'GET /developer/apps/:app_key/secret': { who: 'owner' },
  'POST /developer/apps/:app_key/secret': { who: 'owner', form: { replaces: '' } },
  'GET /developer/apps/:app_key/end-tokens': { who: 'owner' },
  'POST /developer/apps/:app_key/end-tokens': { who: 'owner', form: {} },
  'GET /developer/apps/:app_key/usage': { who: 'team' },
  'GET /developer/apps/:app_key/usage.csv': { who: 'team' },
  'GET /developer/apps/:app_key/webhook': { who: 'team' },
  'POST /developer/apps/:app_key/webhook': { who: 'owner', form: { webhook_url: 'https://hooks.example.com/a' } },
  'GET /developer/apps/:app_key/webhook/secret': { who: 'owner' },
  'POST /developer/apps/:app_key/webhook/secret': { who: 'owner', form: {} },
  'GET /developer/apps/:app_key/webhook/test': { who: 'team' },
  'POST /developer/apps/:app_key/webhook/test': { who: 'team', form: {} },
  'GET /developer/apps/:app_key/webhook/events/:event_id/retry': { who: 'team' },
  'POST /developer/apps/:app_key/webhook/events/:event_id/retry': { who: 'team', form: {} },
  'GET /developer/apps/:app_key/test-users': { who: 'team' },
  'POST /developer/apps/:app_key/test-users': { who: 'team', form: {} },
  'GET /developer/teams/:team_id/name': { who: 'owner' },
  'POST /developer/teams/:team_id/name': { who: 'owner', form: { name: 'Renamed' } },
  'GET /developer/teams/:team_id/invite': { who: 'owner' },
  'POST /developer/teams/:team_id/invite': { who: 'owner', form: { mail: 'new@example.com', role: 'developer' } },
  'GET /developer/teams/:team_id/invitations/:invitation_id/again': { who: 'owner' },
  'POST /developer/teams/:team_id/invitations/:invitation_id/again': { who: 'owner', form: {} },
  'GET /developer/teams/:team_id/invitations/:invitation_id/withdraw': { who: 'owner' },
  'POST /developer/teams/:team_id/invitations/:invitation_id/withdraw': { who: 'owner', form: {} },
  'GET /developer/teams/:team_id/members/:member_id/role': { who: 'owner' },
  'POST /developer/teams/:team_id/members/:member_id/role': { who: 'owner', form: { role: 'developer' } },
  'GET /developer/teams/:team_id/members/:member_id/remove': { who: 'owner' },
  'POST /developer/teams/:team_id/members/:member_id/remove': { who: 'owner', form: {} },
  'GET /developer/teams/:team_id/leave': { who: 'team' },
  'POST /developer/teams/:team_id/leave': { who: 'team', form: {} },
}

let world: World
let owner: Developer & { team: string }
let stranger: Developer & { team: string }
let values: Record<string, string>
const requesters: Record<string, { cookieHeader: string }> = {}
beforeAll(async () => {
  world = await openWorld()
  owner = await founder(world)
  stranger = await founder(world)
  await withAuthenticator(world, owner)
  const [developer, removed] = [await joined(world, owner), await joined(world, owner)]
  const team = `/developer/teams/${owner.team}`
  await owner.browser.send('POST', `${team}/members/${removed.memberId}/remove`, {})
  await owner.browser.send('POST', `${team}/invite`, { mail: 'open@example.com', role: 'developer' })
  const { rows } = await world.pool.query("select invitation_id from team_invitation where mail = 'open@example.com'")
  const app_key = await registered(owner)
  await owner.browser.send('POST', `/developer/apps/${app_key}/webhook`, { webhook_url: 'https://hooks.example.com/' })
  await owner.browser.send('POST', `/developer/apps/${app_key}/webhook/test`, {})
  const { rows: events } = await world.pool.query('select event_id from app_event')
  values = {
    team_id: owner.team,
    app_key,
    event_id: events[0].event_id,
    member_id: await memberIdOf(world, owner, owner.team),
    invitation_id: rows[0].invitation_id,
  }
  const blocked = await joined(world, owner)
  await blockUser(world.deps, { cid: blocked.cid, user_id: blocked.userId })
  const operator = await adminTokenHolder(world)
  const roleHolder = await signedInAs(world, ROLES)
  Object.assign(requesters, {
    owner: owner.browser,
    developer: developer.browser,
    stranger: stranger.browser,
    removed: removed.browser,
    blocked: blocked.browser,
    outsider: (await person(world)).browser,
    ...Object.fromEntries(ROLES.map((role) => [`operator, ${role}`, cookieOf(roleHolder(role).person)])),
    'operator, token': cookieOf(operator),
    nobody: { cookieHeader: '' },
  })
})
afterAll(() => world?.close())

const cookieOf = ({ cookie }: { readonly cookie: string }) => ({ cookieHeader: `${COOKIE}=${cookie}` })
const OPERATORS = [...ROLES.map((role) => `operator, ${role}`), 'operator, token']

/** The expected outcome for each requester: admitted, redirected or refused. */
const expected = (
  who: (typeof ROUTES)[string]['who'],
): Readonly<Record<string, 'in' | 'home' | 'sign-in' | 401 | 403 | 404>> => {
  const turnedAway = [...OPERATORS, 'nobody'].map((requester) => [requester, 'sign-in' as const])
  const outside = { ...Object.fromEntries(turnedAway), blocked: 401 } as const
  if (who === 'person')
    return { owner: 'in', developer: 'in', stranger: 'in', removed: 'in', outsider: 'in', ...outside }
  const member = { owner: 'in', developer: who === 'owner' ? 403 : 'in', outsider: 'home', ...outside } as const
  return who === 'everybody' ? { ...member, stranger: 'in', removed: 'in' } : { ...member, stranger: 404, removed: 404 }
}

const pathOf = (route: string): string =>
  (route.split(' ')[1] ?? '').replace(/:(\w+)/g, (_, name: string) => values[name] ?? '')

it('the table has every route of the developer pages', () => {
  const known = routesOf(world.app, '/developer').filter((route) => !route.startsWith('OPTIONS'))
  expect(known.sort()).toEqual(Object.keys(ROUTES).sort())
})

it.each(Object.keys(ROUTES).filter((route) => route.startsWith('POST ')))(
  'forms from another site are refused: %s',
  async (route) => {
    const path = pathOf(route)
    const rows = async () =>
      (await world.pool.query('select (select count(*) from audit_event) + (select count(*) from app_event) as n')).rows
    const before = await rows()
    for (const site of ['cross-site', 'same-site']) {
      const headers = {
        cookie: owner.browser.cookieHeader,
        'sec-fetch-site': site,
        origin: 'https://elsewhere.example',
        'content-type': 'application/x-www-form-urlencoded',
      }
      const form = String(new URLSearchParams(ROUTES[route]?.form as Record<string, string>))
      expect((await clientOf(world).call('POST', path, headers, form)).status, site).toBe(403)
    }
    expect(await rows()).toEqual(before)
  },
)

describe('the developer pages', () => {
  // Those who are refused come first, as their requests must change nothing for the others.
  const order = ['nobody', ...OPERATORS, 'blocked', 'outsider', 'removed', 'stranger', 'developer', 'owner']
  it.each(order)('let %s do what their role allows, and nothing else', async (requester) => {
    const client = clientOf(world)
    const all = Object.entries(ROUTES).filter(([route]) => requester !== 'outsider' || !route.endsWith('/terms'))
    for (const [route, { who, form }] of all) {
      const [method = '', pattern = ''] = route.split(' ')
      const path = pathOf(route)
      const leaves = route.endsWith('/leave') && (requester === 'developer' || requester === 'owner')
      const cookie = requesters[requester]?.cookieHeader ?? ''
      const browser = client.newBrowser()
      for (const pair of cookie.split('; ')) {
        const [name = '', value = ''] = pair.split(/=(.*)/s)
        if (name) browser.cookies.set(name, value)
      }
      if (leaves) continue // tested in teams.test.ts
      const answer = await browser.send(method, path, form as Record<string, string> | undefined)
      const location = String(answer.headers.location ?? '')
      const outcome =
        answer.status === 303 && location.startsWith('/sign-in')
          ? 'sign-in'
          : answer.status === 303 &&
              location === '/developer' &&
              !['GET', 'person'].includes(who) &&
              requester === 'outsider'
            ? 'home'
            : answer.status === 401 || ([403, 404].includes(answer.status) && !pattern.endsWith('/join'))
              ? answer.status
              : 'in'
      expect(`${route} ${requester}: ${outcome}`).toBe(`${route} ${requester}: ${expected(who)[requester]}`)
    }
  })
})
