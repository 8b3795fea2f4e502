import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { blockUser } from '../../src/authorization/account/user.ts'
import { eraseUser } from '../../src/authorization/people/person-data.ts'
import { setTeamMailState } from '../../src/authorization/teams/invitation-store.ts'
import { TASKS } from '../../src/operations/jobs/tasks.ts'
import { visibleText } from '../acceptance/form.ts'
import { header } from '../acceptance/http.ts'
import { ADMIN_TOKEN, openWorld, type World } from '../harness.ts'
import { type PostOffice, postOffice } from '../sandbox/notify/post-office.ts'
import {
  type Developer,
  founder,
  joined,
  memberIdOf,
  person,
  registered,
  signInAgain,
  tokenFor,
  withAuthenticator,
} from './people.ts'

/** Teams of developers, tested against a real mail server. */

let mailServer: PostOffice
let world: World
beforeAll(async () => {
  mailServer = await postOffice()
  world = await openWorld({ SMTP_URL: mailServer.url })
})
afterAll(async () => {
  await world?.close()
  await mailServer?.close()
})

const textOf = async ({ browser }: Developer, path: string) =>
  visibleText((await browser.open(path)).text).replace(/\s+/g, ' ')
const send = ({ browser }: Developer, path: string, form: Record<string, string> = {}) =>
  browser.send('POST', path, form)
type Founder = Awaited<ReturnType<typeof founder>>
type Member = Awaited<ReturnType<typeof joined>>
const rolesOf = async (team: string): Promise<string[]> =>
  (await world.pool.query('select role from team_member where team_id = $1 order by joined_at, member_id', [team])).rows
    .map(({ role }) => role)
    .sort()

describe('a developer', () => {
  it('accepts the terms once and gets a team', async () => {
    const someone = await person(world, 'Lin')
    expect(await textOf(someone, '/developer')).toContain('Become a developer')
    expect(header(await send(someone, '/developer/teams', { name: 'x' }), 'location')).toBe('/developer')
    await Promise.all([1, 2, 3].map(() => send(someone, '/developer/terms')))
    expect(await textOf(someone, '/developer')).toContain('Lin You are an owner.')
    const { rows } = await world.pool.query(
      "select actor, actor_name from audit_event where event = 'developer_terms_accepted' and user_id = $1",
      [someone.userId],
    )
    expect(rows).toEqual([{ actor: 'user', actor_name: `${someone.cid}/${someone.userId}` }])
  })

  it('gets a team with their own name, truncated between characters', async () => {
    const someone = await founder(world, `${'x'.repeat(59)}🎫 and more`)
    const { rows } = await world.pool.query('select name from team where team_id = $1', [someone.team])
    expect(rows).toEqual([{ name: 'x'.repeat(59) }])
  })

  it('can be in at most ten teams', async () => {
    const someone = await founder(world)
    const answers = await Promise.all(
      [...Array(11)].map((_, n) => send(someone, '/developer/teams', { name: `T${n}` })),
    )
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(9)
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(2)
    expect((await send(someone, '/developer/teams', { name: ' ' })).status).toBe(400)
  })
})

describe('the same form again, as after a lost answer', () => {
  it('makes one team', async () => {
    const someone = await founder(world)
    const make = async (name: string) => header(await send(someone, '/developer/teams', { name }), 'location')
    const first = await make('Lakeside')
    expect(await make('Lakeside')).toBe(first)
    expect(await make('Hillside')).not.toBe(first)
    await registered({ ...someone, team: String(first).split('/').at(-1) ?? '' })
    expect(await make('Lakeside')).not.toBe(first)
  })

  it('makes one team of operators, if they name its id', async () => {
    const make = async (fields: object) => {
      const headers = { authorization: `Bearer ${ADMIN_TOKEN}` }
      const payload = { name: 'Harbour', mail: 'harbour@example.com', ...fields }
      const answer = await world.app.inject({ method: 'POST', url: '/admin/v1/teams', headers, payload })
      return { status: answer.statusCode, team_id: answer.json().data.team_id }
    }
    const team_id = randomUUID()
    expect([await make({ team_id }), await make({ team_id })]).toEqual([
      { status: 200, team_id },
      { status: 200, team_id },
    ])
    expect((await make({ team_id, name: 'Other' })).status).toBe(400)
    const { rows } = await world.pool.query("select from team_invitation where mail = 'harbour@example.com'")
    expect(rows).toHaveLength(1)
  })

  it('makes one app', async () => {
    const someone = await founder(world)
    const first = await registered(someone)
    expect(await registered(someone)).toBe(first)
    expect(await registered(someone, { name: 'Another' })).not.toBe(first)
    await send(someone, `/developer/apps/${first}/test-users`)
    expect(await registered(someone)).not.toBe(first)
  })
})

describe('an invitation', () => {
  it('arrives by mail, is shown before it takes effect, and can be used once', async () => {
    const owner = await founder(world, 'Lake')
    await send(owner, `/developer/teams/${owner.team}/invite`, { mail: 'ann@example.com', role: 'developer' })
    const { rows } = await world.pool.query("select link_id from team_invitation where mail = 'ann@example.com'")
    const job = { id: '1', log: world.log, signal: AbortSignal.timeout(10_000) }
    for (let n = 0; n < 2; n++) await TASKS['send-team-mail'](world.deps, { linkId: rows[0].link_id }, job)
    await setTeamMailState(world.deps.db, rows[0].link_id, 'failed', 'another worker, too late')
    const sent = await world.pool.query('select mail_state, mail_error from team_invitation where link_id = $1', [
      rows[0].link_id,
    ])
    expect(sent.rows).toEqual([{ mail_state: 'sent', mail_error: null }])
    const token = await world.pool
      .query("update team_invitation set mail_state = 'waiting' where link_id = $1", [rows[0].link_id])
      .then(() => tokenFor(world, 'ann@example.com'))
    const mails = mailServer.to('ann@example.com')
    expect(mails).toHaveLength(1)
    expect(mails[0]?.mail.text).toContain(`/developer/join?token=${token}`)
    expect(mails[0]?.mail.subject).toContain('You are invited to the team Lake')
    expect(world.logged()).not.toContain(token.slice(5))
    const [ann, bob] = [await person(world), await person(world)]
    for (let n = 0; n < 2; n++)
      expect(await textOf(ann, `/developer/join?token=${token}`)).toContain('Join the team Lake')
    const answers = await Promise.all([ann, bob].map((one) => send(one, '/developer/join', { token })))
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 404])
    expect(await rolesOf(owner.team)).toEqual(['developer', 'owner'])
  })

  it('ends after a week, when withdrawn, and when sent again', async () => {
    const owner = await founder(world)
    const team = `/developer/teams/${owner.team}`
    const invite = async (mail: string) => {
      await send(owner, `${team}/invite`, { mail, role: 'developer' })
      const { rows } = await world.pool.query('select invitation_id from team_invitation where mail = $1', [mail])
      return { id: rows[0].invitation_id, token: await tokenFor(world, mail) }
    }
    const [late, gone, replaced] = [
      await invite('late@example.com'),
      await invite('gone@example.com'),
      await invite('new@example.com'),
    ]
    expect((await send(owner, `${team}/invite`, { mail: 'LATE@example.com', role: 'developer' })).status).toBe(409)
    await send(owner, `${team}/invitations/${gone.id}/withdraw`)
    world.clock.advance(1)
    await send(owner, `${team}/invitations/${replaced.id}/again`)
    const someone = await person(world)
    const join = (token: string) => send(someone, '/developer/join', { token })
    expect((await join(gone.token)).status).toBe(404)
    expect((await join(replaced.token)).status).toBe(404)
    expect((await join('ghtl_x')).status).toBe(404)
    world.clock.advance(7 * 86_400)
    const again = await person(world)
    expect((await send(again, '/developer/join', { token: late.token })).status).toBe(410)
    expect(await rolesOf(owner.team)).toEqual(['owner'])
  })

  it('is refused for an invalid address, and beyond twenty open ones', async () => {
    const owner = await founder(world)
    const invite = (mail: string) => send(owner, `/developer/teams/${owner.team}/invite`, { mail, role: 'developer' })
    expect((await invite('no address')).status).toBe(400)
    const answers = await Promise.all([...Array(23)].map((_, n) => invite(`many${n}@example.com`)))
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(20)
  })

  it('that has expired cannot be sent again beyond those twenty', async () => {
    const owner = await founder(world)
    const invite = (mail: string) => send(owner, `/developer/teams/${owner.team}/invite`, { mail, role: 'developer' })
    await invite('ended@example.com')
    const { rows } = await world.pool.query(
      "update team_invitation set expires_at = $1 where mail = 'ended@example.com' returning invitation_id",
      [world.clock.now()],
    )
    for (let n = 0; n < 20; n++) await invite(`open${n}@example.com`)
    const again = `/developer/teams/${owner.team}/invitations/${rows[0].invitation_id}/again`
    expect((await send(owner, again)).status).toBe(409)
  })
})

describe('an invitation of an owner', () => {
  const ends = {
    'is removed': (owner: Founder, sender: Member) =>
      send(owner, `/developer/teams/${owner.team}/members/${sender.memberId}/remove`),
    leaves: (owner: Founder, sender: Member) => send(sender, `/developer/teams/${owner.team}/leave`),
    'is made a developer': (owner: Founder, sender: Member) =>
      send(owner, `/developer/teams/${owner.team}/members/${sender.memberId}/role`, { role: 'developer' }),
    'is blocked': (_owner: Founder, sender: Member) =>
      blockUser(world.deps, { cid: sender.cid, user_id: sender.userId }),
    'is erased': (_owner: Founder, sender: Member) =>
      eraseUser(world.deps, { cid: sender.cid, user_id: sender.userId }),
  }

  it.each(Object.entries(ends))(
    'who %s admits nobody, which the page says, until another owner sends it again',
    async (_, end) => {
      const owner = await founder(world)
      const sender = await joined(world, owner, 'owner')
      const team = `/developer/teams/${owner.team}`
      const mail = `by-${sender.memberId}@example.com`
      await send(sender, `${team}/invite`, { mail, role: 'developer' })
      const token = await tokenFor(world, mail)
      await end(owner, sender)
      const friend = await person(world)
      expect((await friend.browser.open(`/developer/join?token=${token}`)).status).toBe(404)
      expect((await send(friend, '/developer/join', { token })).status).toBe(404)
      expect(await textOf(owner, team)).toContain(`${mail} Developer The invitation no longer works`)
      const { rows } = await world.pool.query('select invitation_id from team_invitation where mail = $1', [mail])
      world.clock.advance(1)
      await send(owner, `${team}/invitations/${rows[0].invitation_id}/again`)
      expect(await textOf(owner, team)).not.toContain('no longer works')
      const answer = await send(friend, '/developer/join', { token: await tokenFor(world, mail) })
      expect(header(answer, 'location')).toContain(team)
    },
  )
})

describe('a team', () => {
  it('gets a new owner only from an owner who has just signed in with a second factor', async () => {
    const owner = await founder(world)
    const member = await joined(world, owner)
    const team = `/developer/teams/${owner.team}`
    const byPassword = await send(owner, `${team}/members/${member.memberId}/role`, { role: 'owner' })
    expect(byPassword.status).toBe(403)
    expect(visibleText(byPassword.text)).toContain('your account needs a second factor')
    expect(byPassword.text, 'the form of invitations').toMatch(/value="developer"[^>]* checked/)
    await withAuthenticator(world, owner)
    world.clock.advance(900)
    const asked = `/sign-in?return_to=${encodeURIComponent(`${team}#unsent`)}&confirm=1`
    const made = await send(owner, `${team}/members/${member.memberId}/role`, { role: 'owner' })
    const invited = await send(owner, `${team}/invite`, { mail: 'owner@example.com', role: 'owner' })
    expect([made, invited].map((answer) => header(answer, 'location'))).toEqual([asked, asked])
    expect(await rolesOf(owner.team)).toEqual(['developer', 'owner'])
    const developer = await send(owner, `${team}/invite`, { mail: 'owner@example.com', role: 'developer' })
    expect(header(developer, 'location')).toBe(`${team}?done=invited`)
    await signInAgain(world, owner)
    await send(owner, `${team}/members/${member.memberId}/role`, { role: 'owner' })
    expect(await rolesOf(owner.team)).toEqual(['owner', 'owner'])
  })

  it('loses an owner, or sends the invitation of one again, only for an owner who has just signed in', async () => {
    const owner = await founder(world)
    const [other, third] = [await joined(world, owner, 'owner'), await joined(world, owner, 'owner')]
    const team = `/developer/teams/${owner.team}`
    await signInAgain(world, owner)
    await send(owner, `${team}/invite`, { mail: 'again@example.com', role: 'owner' })
    const { rows } = await world.pool.query(
      "select invitation_id from team_invitation where mail = 'again@example.com' and role = 'owner'",
    )
    world.clock.advance(900)
    const paths = [
      [`members/${other.memberId}/role`, { role: 'developer' }],
      [`members/${third.memberId}/remove`, {}],
      [`invitations/${rows[0].invitation_id}/again`, {}],
    ] as const
    for (const [path, form] of paths) {
      const answer = await send(owner, `${team}/${path}`, form)
      expect(header(answer, 'location'), path).toBe(
        `/sign-in?return_to=${encodeURIComponent(`${team}#unsent`)}&confirm=1`,
      )
    }
    expect(await rolesOf(owner.team)).toEqual(['owner', 'owner', 'owner'])
    await signInAgain(world, owner)
    const done = []
    for (const [path, form] of paths) done.push(header(await send(owner, `${team}/${path}`, form), 'location'))
    expect(done).toEqual(['role', 'removed', 'invited'].map((what) => `${team}?done=${what}`))
    expect(await rolesOf(owner.team)).toEqual(['developer', 'owner'])
  })

  it('shows what was typed when a form is refused, and announces a sign-in', async () => {
    const owner = await founder(world)
    const team = `/developer/teams/${owner.team}`
    expect((await owner.browser.open(team)).text).not.toContain('You will be asked to sign in again first.')
    const invited = await send(owner, `${team}/invite`, { mail: 'no address', role: 'owner' })
    expect(invited.text).toMatch(/value="owner"[^>]* checked/)
    expect(invited.text).not.toMatch(/value="developer"[^>]* checked/)
    const name = 'A name that is too long '.repeat(4)
    const renamed = await send(owner, `${team}/name`, { name })
    expect([renamed.status, renamed.text.includes(`value="${name}"`)]).toEqual([400, true])
    world.clock.advance(900)
    expect((await owner.browser.open(team)).text).toContain('You will be asked to sign in again first.')
  })

  it('refuses a form with a missing or unknown role, and changes nothing', async () => {
    const owner = await founder(world)
    const other = await joined(world, owner, 'owner')
    const path = `/developer/teams/${owner.team}/members/${other.memberId}/role`
    for (const form of [{}, { role: 'king' }] as Record<string, string>[]) {
      expect((await send(owner, path, form)).status).toBe(400)
    }
    expect(await rolesOf(owner.team)).toEqual(['owner', 'owner'])
  })

  it('keeps an owner, whoever leaves or is demoted concurrently', async () => {
    const owner = await founder(world)
    const other = await joined(world, owner, 'owner')
    const team = `/developer/teams/${owner.team}`
    const own = await memberIdOf(world, owner, owner.team)
    const answers = await Promise.all([
      send(owner, `${team}/leave`),
      send(other, `${team}/leave`),
      send(owner, `${team}/members/${other.memberId}/role`, { role: 'developer' }),
      send(other, `${team}/members/${own}/role`, { role: 'developer' }),
    ])
    expect(await rolesOf(owner.team)).toContain('owner')
    expect(answers.filter(({ status }) => status === 303).length).toBeGreaterThan(0)
  })

  it('gets the earliest member as owner when its only owner is erased', async () => {
    const owner = await founder(world)
    const first = await joined(world, owner)
    world.clock.advance(1)
    await joined(world, owner)
    await eraseUser(world.deps, { cid: owner.cid, user_id: owner.userId })
    const { rows } = await world.pool.query("select member_id from team_member where team_id = $1 and role = 'owner'", [
      owner.team,
    ])
    expect(rows).toEqual([{ member_id: first.memberId }])
  })

  it('keeps an owner who is not blocked, and an heir is none of the blocked', async () => {
    const owner = await founder(world)
    const blocked = await joined(world, owner, 'owner')
    world.clock.advance(1)
    const heir = await joined(world, owner)
    await blockUser(world.deps, { cid: blocked.cid, user_id: blocked.userId })
    const team = `/developer/teams/${owner.team}`
    expect((await send(owner, `${team}/leave`)).status).toBe(409)
    await eraseUser(world.deps, { cid: owner.cid, user_id: owner.userId })
    const { rows } = await world.pool.query(
      "select member_id from team_member where team_id = $1 and role = 'owner' order by joined_at",
      [owner.team],
    )
    expect(rows.map(({ member_id }) => member_id)).toEqual([blocked.memberId, heir.memberId])
  })

  it('of whose members all are blocked keeps the owner that it has', async () => {
    const owner = await founder(world)
    const developer = await joined(world, owner)
    world.clock.advance(1)
    const other = await joined(world, owner, 'owner')
    for (const { cid, userId } of [developer, other]) await blockUser(world.deps, { cid, user_id: userId })
    await eraseUser(world.deps, { cid: owner.cid, user_id: owner.userId })
    expect(await rolesOf(owner.team)).toEqual(['developer', 'owner'])
  })

  it('is inaccessible at once to members who leave or are removed', async () => {
    const owner = await founder(world)
    const [one, other] = [await joined(world, owner), await joined(world, owner)]
    const team = `/developer/teams/${owner.team}`
    expect((await one.browser.open(team)).status).toBe(200)
    await send(one, `${team}/leave`)
    await send(owner, `${team}/members/${other.memberId}/remove`)
    for (const { browser } of [one, other]) expect((await browser.open(team)).status).toBe(404)
    expect((await send(owner, `${team}/members/${other.memberId}/remove`)).status).toBe(404)
  })
})

describe('DEVELOPERS', () => {
  it('off removes the pages; invited admits only invited people', async () => {
    const off = await openWorld({ DEVELOPERS: 'off' })
    const invited = await openWorld({ DEVELOPERS: 'invited' })
    try {
      expect((await (await person(off)).browser.open('/developer')).status).toBe(404)
      const someone = await person(invited)
      expect((await someone.browser.open('/developer')).text).not.toContain('action="/developer/terms"')
      expect((await send(someone, '/developer/terms')).status).toBe(403)
    } finally {
      await Promise.all([off.close(), invited.close()])
    }
  })
})
