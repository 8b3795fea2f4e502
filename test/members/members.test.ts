import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { MAX_INVITATIONS, MAX_MEMBERS } from '../../src/platform/lib/member.ts'
import {
  inviteAgain,
  inviteMember,
  listMembers,
  removeMember,
  setMemberRole,
} from '../../src/ticketing/members/change.ts'
import { openMemberLink } from '../../src/ticketing/members/link.ts'
import { askForPassword, useLink } from '../../src/ticketing/members/password.ts'
import { spendLink } from '../../src/ticketing/members/store.ts'
import { openWorld, type World } from '../harness.ts'
import { newSandboxPartner, type SandboxPartner } from '../sandbox/partners.ts'
import { askedForPassword, invited, joined, PASSWORD, tokenFor } from './people.ts'

let world: World
let partner: SandboxPartner
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())
beforeEach(async () => {
  partner = await newSandboxPartner(world)
  await world.pool.query('delete from failed_attempt')
})

const acting = (name: string) => ({ ...world.deps, actor: { kind: 'partner' as const, name } })
const reasonOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: { reason?: string; message: string }) => error.reason ?? error.message,
  )
const owners = async () =>
  (
    await world.pool.query(
      `select count(*)::int as n from partner_member
       where partner_id = $1 and role = 'owner' and joined_at is not null and removed_at is null`,
      [partner.partner_id],
    )
  ).rows[0].n

describe('concurrent calls', () => {
  it('let exactly one use a link', async () => {
    const { token } = await invited(world, partner, 'one@example.com')
    const passwords = Array.from({ length: 8 }, (_, number) => `${PASSWORD} ${number}`)
    const reasons = await Promise.all(passwords.map((password) => reasonOf(useLink(world.deps, token, password))))
    expect(reasons.sort()).toEqual(['done', ...Array(7).fill('link_used')])
    const { rows } = await world.pool.query("select event from audit_event where event = 'member_joined'")
    expect(rows).toHaveLength(1)
  })

  it('let exactly one statement spend a link, regardless of locks', async () => {
    const { token } = await invited(world, partner, 'one@example.com')
    const { linkId } = await openMemberLink(world.deps, token)
    const spent = await Promise.all([1, 2, 3, 4].map(() => spendLink(world.deps.db, linkId, world.clock.now())))
    expect(spent.filter((one) => one)).toHaveLength(1)
  })

  it('leave one owner when two remove each other', async () => {
    const [ann, bob] = [
      await joined(world, partner, 'ann@example.com'),
      await joined(world, partner, 'bob@example.com'),
    ]
    const reasons = await Promise.all([
      reasonOf(removeMember(acting(ann), partner.partner_id, bob)),
      reasonOf(removeMember(acting(bob), partner.partner_id, ann)),
    ])
    expect(reasons.sort()).toEqual(['done', 'not_owner'])
    expect(await owners()).toBe(1)
  })

  it('leave one owner when one steps down and the other leaves', async () => {
    const [ann, bob] = [
      await joined(world, partner, 'ann@example.com'),
      await joined(world, partner, 'bob@example.com'),
    ]
    const reasons = await Promise.all([
      reasonOf(setMemberRole(acting(ann), partner.partner_id, ann, 'developer')),
      reasonOf(removeMember(acting(bob), partner.partner_id, bob)),
    ])
    expect(reasons.sort()).toEqual(['done', 'last_owner'])
    expect(await owners()).toBe(1)
  })

  it('invite no more members than allowed, and each address once', async () => {
    await joined(world, partner, 'ann@example.com')
    const invite = (mail: string) => reasonOf(inviteMember(world.deps, partner.partner_id, { mail, role: 'developer' }))
    const same = await Promise.all([invite('bob@example.com'), invite('BOB@example.com')])
    expect(same.sort()).toEqual(['done', 'taken'])
    const many = Array.from({ length: MAX_INVITATIONS + 3 }, (_, number) => invite(`dev${number}@example.com`))
    const refused = (await Promise.all(many)).filter((reason) => reason !== 'done')
    expect(refused).toEqual(Array(4).fill('invitations'))
  })
})

describe('an invitation', () => {
  it('ends after seven days, after which it can be repeated', async () => {
    const { token, memberId } = await invited(world, partner, 'late@example.com')
    world.clock.advance(7 * 86_400 + 1)
    expect(await reasonOf(useLink(world.deps, token, PASSWORD))).toBe('link_expired')
    await inviteAgain(world.deps, partner.partner_id, memberId)
    expect(await reasonOf(useLink(world.deps, await tokenFor(world, 'late@example.com'), PASSWORD))).toBe('done')
  })

  it('is replaced by the next one, and withdrawn with its member', async () => {
    const { token, memberId } = await invited(world, partner, 'twice@example.com')
    await inviteAgain(world.deps, partner.partner_id, memberId)
    const second = await tokenFor(world, 'twice@example.com')
    expect(await reasonOf(openMemberLink(world.deps, token))).toBe('link_invalid')
    await removeMember(world.deps, partner.partner_id, memberId)
    expect(await reasonOf(openMemberLink(world.deps, second))).toBe('link_invalid')
  })

  it('must be for an owner as long as there is none, and keeps that role', async () => {
    const { deps } = world
    const dev = { mail: 'dev@example.com', role: 'developer' } as const
    expect(await reasonOf(inviteMember(deps, partner.partner_id, dev))).toBe('owner_first')
    const { memberId } = await invited(world, partner, 'first@example.com')
    const secret = acting('client-secret')
    expect(await reasonOf(setMemberRole(secret, partner.partner_id, memberId, 'developer'))).toBe('owner_first')
  })

  it('of a developer waits until there is an owner again', async () => {
    const owner = await joined(world, partner, 'owner@example.com')
    const { token } = await invited(world, partner, 'dev@example.com', 'developer')
    await removeMember(world.deps, partner.partner_id, owner) // an operator
    expect(await reasonOf(useLink(world.deps, token, PASSWORD))).toBe('no_owner')
    await joined(world, partner, 'next@example.com')
    expect(await reasonOf(useLink(world.deps, token, PASSWORD))).toBe('done')
  })

  it.each(['removed', 'made a developer'])(
    'of an owner who is %s counts no longer, until it is sent again',
    async (end) => {
      const [sender] = await Promise.all([
        joined(world, partner, 'sender@example.com'),
        joined(world, partner, 'other@example.com'),
      ])
      const memberId = await inviteMember(acting(sender), partner.partner_id, {
        mail: 'friend@example.com',
        role: 'owner',
      })
      const token = await tokenFor(world, 'friend@example.com')
      if (end === 'removed') await removeMember(world.deps, partner.partner_id, sender)
      else await setMemberRole(world.deps, partner.partner_id, sender, 'developer')
      expect(await reasonOf(useLink(world.deps, token, PASSWORD))).toBe('link_invalid')
      const found = async () =>
        (await listMembers(world.deps, partner.partner_id)).find(({ member_id }) => member_id === memberId)
      expect(await found()).toMatchObject({ invitation_counts: false })
      await inviteAgain(world.deps, partner.partner_id, memberId)
      expect(await found()).toMatchObject({ invitation_counts: true })
      expect(await reasonOf(useLink(world.deps, await tokenFor(world, 'friend@example.com'), PASSWORD))).toBe('done')
    },
  )

  it('can be sent again only a limited number of times', async () => {
    const { memberId } = await invited(world, partner, 'often@example.com')
    const again = () => reasonOf(inviteAgain(world.deps, partner.partner_id, memberId))
    const reasons: string[] = []
    for (let sent = 0; sent < 10; sent++) reasons.push(await again())
    expect(reasons).toEqual([...Array(9).fill('done'), 'mails'])
    // The refused call has changed nothing: the previous link still works.
    expect(await reasonOf(openMemberLink(world.deps, await tokenFor(world, 'often@example.com')))).toBe('done')
  })

  it('does not use up the mails of another partner to the same address, or those for forgotten passwords', async () => {
    const mail = 'shared@example.com'
    const { memberId } = await invited(world, partner, mail)
    for (let sent = 0; sent < 10; sent++) await reasonOf(inviteAgain(world.deps, partner.partner_id, memberId))
    const other = await newSandboxPartner(world)
    const there = await invited(world, other, mail)
    expect(await reasonOf(inviteAgain(world.deps, other.partner_id, there.memberId))).toBe('done')
    await reasonOf(useLink(world.deps, await tokenFor(world, mail), PASSWORD))
    for (const clientId of [partner.client_id, other.client_id]) {
      expect(await askForPassword(world.deps, { clientId, mail }, '192.0.2.9')).toBeUndefined()
    }
  })

  it('is refused if there are fifty members and invitations', async () => {
    await joined(world, partner, 'owner@example.com')
    await world.pool.query(
      `insert into partner_member (member_id, partner_id, mail, mail_key, role, invited_at)
       select gen_random_uuid(), $1, n || '@example.com', n || '@example.com', 'developer', now()
       from generate_series(2, $2) n`,
      [partner.partner_id, MAX_MEMBERS],
    )
    const one = { mail: 'more@example.com', role: 'owner' } as const
    expect(await reasonOf(inviteMember(world.deps, partner.partner_id, one))).toBe('full')
  })
})

describe('the stored data', () => {
  it('of a link is a hash, while the queue has only its id', async () => {
    const { token } = await invited(world, partner, 'kept@example.com')
    await useLink(world.deps, token, PASSWORD)
    const secret = token.slice(5)
    const random = Buffer.from(secret, 'base64url').subarray(6, 27)
    const { rows } = await world.pool.query(
      `select link_hash, l::text || m::text as kept from member_link l join partner_member m using (member_id)`,
    )
    for (const { link_hash, kept } of rows) {
      expect(kept).not.toContain(secret)
      expect(kept).not.toContain(PASSWORD)
      expect(link_hash.includes(random.subarray(0, 8))).toBe(false)
    }
    const { rows: jobs } = await world.pool.query(
      `select j.payload::text as text from graphile_worker._private_jobs j
       join graphile_worker._private_tasks t on t.id = j.task_id where t.identifier = 'send-member-mail'`,
    )
    expect(jobs).not.toEqual([])
    for (const { text } of jobs) expect(text).toMatch(/^\{"linkId":"[0-9a-f-]{36}"\}$/)
    expect(world.logged()).not.toContain(secret)
  })

  it('of a forgotten password is a link that is valid for an hour, until any such link is used', async () => {
    await joined(world, partner, 'ann@example.com')
    const first = await askedForPassword(world, partner, 'ann@example.com')
    world.clock.advance(1)
    const second = await askedForPassword(world, partner, 'ann@example.com')
    expect(second).not.toBe(first)
    expect(await reasonOf(useLink(world.deps, second, `${PASSWORD} new`))).toBe('done')
    expect(await reasonOf(useLink(world.deps, first, PASSWORD))).toBe('link_invalid')
    world.clock.advance(1)
    const third = await askedForPassword(world, partner, 'ann@example.com')
    world.clock.advance(3_601)
    expect(await reasonOf(useLink(world.deps, third, PASSWORD))).toBe('link_expired')
  })

  it('in the audit log tells who did what, by ids only', async () => {
    const { memberId: owner, token } = await invited(world, partner, 'owner@example.com')
    world.clock.advance(1)
    await useLink(world.deps, token, PASSWORD)
    world.clock.advance(1)
    const dev = await inviteMember(acting(owner), partner.partner_id, { mail: 'dev@example.com', role: 'developer' })
    world.clock.advance(1)
    await setMemberRole(acting(owner), partner.partner_id, dev, 'owner')
    world.clock.advance(1)
    await removeMember(acting(owner), partner.partner_id, dev)
    const { rows } = await world.pool.query(
      `select event, actor, actor_name as name, detail from audit_event
       where partner_id = $1 and event like 'member%' order by at`,
      [String(partner.partner_id)],
    )
    const joined = { member_id: owner, role: 'owner' }
    const byOwner = { actor: 'partner', name: owner }
    expect(rows).toEqual([
      { event: 'member_invited', actor: 'system', name: null, detail: joined },
      { event: 'member_joined', ...byOwner, detail: joined },
      { event: 'member_invited', ...byOwner, detail: { member_id: dev, role: 'developer' } },
      { event: 'member_role_set', ...byOwner, detail: { member_id: dev, role: 'owner' } },
      { event: 'member_removed', ...byOwner, detail: { member_id: dev, role: 'owner', joined: false } },
    ])
  })
})
