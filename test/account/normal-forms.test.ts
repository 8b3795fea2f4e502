import { hash } from '@node-rs/argon2'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { findUsers } from '../../src/authorization/account/index.ts'
import { signIn } from '../../src/authorization/account/sign-in.ts'
import { createUser, listUsers, updateUser } from '../../src/authorization/account/user.ts'
import { createOperator, setOperatorPassword } from '../../src/operations/operators/index.ts'
import { parseInput } from '../../src/platform/lib/json/input.ts'
import { Person } from '../console/person.ts'
import { ADMIN_TOKEN, openWorld, type World } from '../harness.ts'
import { joined, PASSWORD } from '../members/people.ts'
import { newSandboxPartner, post } from '../sandbox/partners.ts'
import { ALICE, FORM, form } from './people.ts'

/** Unicode normalization of passports and passwords: text that looks the same counts as the same, whatever system typed it. */

let world: World
beforeAll(async () => {
  world = await openWorld({ SIGN_IN_FAILURES_PER_PASSPORT: '3' })
})
afterAll(() => world?.close())
beforeEach(() => world.pool.query('delete from failed_attempt'))

let users = 0
const create = (passport: string, password = 'a long password') =>
  createUser(world.deps, parseInput(createUser.input, { ...ALICE, cid: 9, user_id: `n${++users}`, passport, password }))
const signsIn = async (passport: string, password = 'a long password'): Promise<boolean> => {
  const payload = form({ passport, password })
  return (await world.app.inject({ method: 'POST', url: '/sign-in', payload, headers: FORM })).statusCode === 303
}

const LOOK_ALIKES: [string, string, string][] = [
  ['decomposed letters', 'jos\u00e9', 'jose\u0301'],
  ['fullwidth letters', 'wang', 'ｗａｎｇ'],
  ['halfwidth katakana', 'ガト', 'ｶﾞﾄ'],
  ['other spaces', 'li lei', 'li\u00a0\u3000lei'],
]

describe('a passport', () => {
  it.each(LOOK_ALIKES)(
    'is found in either spelling, is unique across spellings, and is shown as it was created: %s',
    async (_name, one, other) => {
      for (const [first, second] of [
        [`${one}1`, `${other}1`],
        [`${other}2`, `${one}2`],
      ] as const) {
        const made = await create(first)
        expect(await signsIn(first)).toBe(true)
        expect(await signsIn(second)).toBe(true)
        await expect(create(second)).rejects.toThrow('passport is already taken')
        const list = async (passport: string) =>
          (await listUsers(world.deps, parseInput(listUsers.input, { passport }))).users.map((user) => user.passport)
        expect([await list(first), await list(second)]).toEqual([[first], [first]])
        const found = await Promise.all([first, second].map((text) => findUsers(world.deps, text, 5)))
        expect(found.map((people) => people.map(({ user_id }) => user_id))).toEqual([[made.user_id], [made.user_id]])
      }
    },
  )

  it('can be changed to another spelling of itself', async () => {
    const { cid, user_id } = await create('respelled')
    await updateUser(world.deps, parseInput(updateUser.input, { cid, user_id, passport: 'ｒｅｓｐｅｌｌｅｄ' }))
    expect(await signsIn('respelled')).toBe(true)
    const { users: listed } = await listUsers(world.deps, parseInput(listUsers.input, { passport: 'respelled' }))
    expect(listed.map(({ passport }) => passport)).toEqual(['ｒｅｓｐｅｌｌｅｄ'])
  })

  it('is case-sensitive', async () => {
    await create('Case')
    await create('case')
    expect(await signsIn('CASE')).toBe(false)
  })

  it.each(['ali\u200bce', '\u200b\u200b\u200b', 'a\u00adlice', '\u3164', 'ali\u2060ce'])(
    'must not contain invisible characters: %j',
    async (passport) => {
      expect(() => create(passport)).toThrow('passport must not contain characters that nobody sees')
    },
  )

  it('has one limit of guesses across spellings', async () => {
    await create('budget')
    const guess = (passport: string) => signIn(world.deps, { passport, password: 'wrong', address: '203.0.113.9' })
    for (const spelling of ['budget', 'ｂudget', 'bｕdget']) await expect(guess(spelling)).rejects.toThrow('wrong')
    await expect(guess('buｄget')).rejects.toThrow('too many')
  })

  it('in an import is compared in the same way, within the batch and with existing users', async () => {
    await create('imported')
    const users = [
      ['i1', 'ｉmported'],
      ['i2', 'other'],
      ['i3', 'ne\u1e83'],
      ['i4', 'ne\u1e83'.normalize('NFD')],
    ].map(([user_id, passport]) => ({ ...ALICE, password: undefined, cid: 9, user_id, passport }))
    const payload = JSON.stringify({ dry_run: true, users })
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' }
    const answer = await world.app.inject({ method: 'POST', url: '/admin/v1/users/import', payload, headers })
    expect(answer.json().data.outcomes).toEqual([['passport'], 'new', 'new', ['passport']])
  })
})

describe('a password', () => {
  it('matches in either spelling, on the change page too, but only as typed when its hash predates normalization', async () => {
    const [composed, decomposed] = ['p\u00e4ssw\u00f6rd lang', 'pa\u0308sswo\u0308rd\u00a0lang']
    await create('changes', decomposed)
    expect([await signsIn('changes', composed), await signsIn('changes', decomposed)]).toEqual([true, true])
    const session = await world.app.inject({
      method: 'POST',
      url: '/sign-in',
      payload: form({ passport: 'changes', password: composed }),
      headers: FORM,
    })
    const cookie = String([session.headers['set-cookie']].flat()[0]).split(';')[0] ?? ''
    const change = (fields: Record<string, string>) =>
      world.app.inject({ method: 'POST', url: '/password', payload: form(fields), headers: { ...FORM, cookie } })
    const seen = await change({
      current_password: composed,
      password: 'new\u200bpassword',
      password_again: 'new\u200bpassword',
    })
    expect([seen.statusCode, seen.body]).toEqual([400, expect.stringContaining('characters that nobody sees')])
    const next = { password: `${decomposed} 2`, password_again: `${composed} 2` }
    expect((await change({ current_password: decomposed, ...next })).statusCode).toBe(200)
    expect([await signsIn('changes', `${composed} 2`), await signsIn('changes', composed)]).toEqual([true, false])
    const older = await hash(decomposed, { memoryCost: 1024, timeCost: 1 })
    await world.pool.query('update user_credential set password_hash = $1 where passport = $2', [older, 'changes'])
    expect([await signsIn('changes', decomposed), await signsIn('changes', composed)]).toEqual([true, false])
  })

  it.each(['tab\tin it', 'zero\u200bwidth', '\u200b'.repeat(9)])(
    'must not contain control or invisible characters: %j',
    (password) => {
      expect(() => create('untypable', password)).toThrow('password must not contain control characters')
    },
  )
})

it('clientIds, member addresses and operator names may be typed in fullwidth letters', async () => {
  const partner = await newSandboxPartner(world, { client_id: 'lakeside' })
  const clientId = await post(world, '/sandbox/sign-in', {
    client_id: 'ｌａｋｅｓｉｄｅ',
    password: partner.client_secret,
  })
  expect(clientId.statusCode).toBe(303)
  await joined(world, partner, 'owner@example.com')
  const member = await post(world, '/sandbox/sign-in', {
    client_id: 'lakeside',
    mail: 'ｏｗｎｅｒ＠example.com',
    password: PASSWORD,
  })
  expect(member.statusCode).toBe(303)
  await createOperator(world.deps, { name: 'olga', role: 'admin', days: 1 })
  const password = 'ein langes pa\u0308sswort'
  await setOperatorPassword(world.deps, parseInput(setOperatorPassword.input, { name: 'ｏｌｇａ', password }))
  const person = new Person(world)
  const answer = await person.post('/console/sign-in', { name: 'ｏｌｇａ', password: password.normalize('NFC') })
  expect([answer.status, answer.location]).toEqual([303, expect.stringContaining('/console/authenticator')])
  expect(() => createOperator.input.parse({ name: 'ol\u200bga', role: 'admin' })).toThrow()
})
