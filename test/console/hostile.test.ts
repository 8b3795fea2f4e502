import { afterAll, beforeAll, expect, it } from 'vitest'
import { SECTIONS } from '../../src/operations/console/sections/index.ts'
import { createOperator, newOperatorToken } from '../../src/operations/operators/index.ts'
import { openWorld, type World } from '../harness.ts'
import { timesOn } from '../times.ts'
import { addressOf, type Filled, fill, HOSTILE } from './filled.ts'
import { type Person, signedIn } from './person.ts'

/** Attacks on the console: names, URLs and forms with content that would run as a script or break something. */

let world: World
let filled: Filled
let admin: Person
beforeAll(async () => {
  world = await openWorld()
  filled = await fill(world)
  admin = (await signedIn(world, 'admin')).person
  await createOperator(world.deps, { name: 'somebody', role: 'viewer', days: 1 })
  await newOperatorToken(world.deps, { name: 'somebody', role: 'viewer', token_name: HOSTILE.slice(0, 64), days: 1 })
  await world.pool.query(
    `insert into partner_member (member_id, partner_id, mail, mail_key, role, invited_at)
     values (gen_random_uuid(), $1, $2, $2, 'owner', $3)`,
    [filled.partner_id, `${HOSTILE}@example.com`, world.clock.now()],
  )
})
afterAll(() => world.close())

/** The scripts of pages with times, and of forms that must be sent only once. */
const OWN_SCRIPTS = /<script src="\/assets\/(local-time|send-once)\.js\?v=\w+" defer><\/script>/g

const FORMS = SECTIONS.flatMap(({ forms = [] }) => forms)
const PAGES = SECTIONS.flatMap(({ lists = [], details = [] }) => [...lists, ...details])

it.each([...PAGES, ...FORMS, { path: '' }, { path: '/search?q=img' }].map(({ path }) => [path]))(
  '/console%s shows hostile content as text',
  async (path) => {
    await world.pool.query('delete from rate_count')
    const answer = await admin.get(path.includes('?') ? `/console${path}` : addressOf(path, filled))
    expect(answer.status).toBe(200)
    const { stray, right } = timesOn(answer.text)
    expect(stray).toEqual([])
    expect([...answer.text.matchAll(OWN_SCRIPTS)].map(([, name]) => name)).toEqual([
      ...(right.length > 0 ? ['local-time'] : []),
      ...(answer.text.includes(' method="post"') ? ['send-once'] : []),
    ])
    const page = answer.text.replace(OWN_SCRIPTS, '')
    expect(page).not.toMatch(/<script|<img src=x|href="(?:javascript|data):/i)
    // A real attribute, not text within the value of another.
    expect(page.replaceAll(/="[^"]*"/g, '=""')).not.toMatch(/<[^>]*\sonerror=/i)
  },
)

it('nothing in a URL or a form causes a server error', async () => {
  const bad = ['%00', '%ff', '%F0%9F%A6%8A', '-1', '99999999999999999999', '..%2f..', '%27%22%3C', 'a'.repeat(90)]
  const cursors = [
    ['2026-01-01T00:00:00Z', '\0'],
    ['2026-01-01T00:00:00Z', 1, '\0'],
    ['2026-99-01T00:00:00Z', 'a'],
    ['2026-02-30T00:00:00Z', '1'],
    ['0000-01-01T00:00:00Z', '1'],
  ].map((keys) => Buffer.from(JSON.stringify(keys)).toString('base64url'))
  const form_of = await admin.mark(addressOf('/apps/:app_key/suspend', filled))
  for (const { path } of [...PAGES, ...FORMS]) {
    const names = ['cid', 'user_id', 'grant_id', 'app_key', 'name', 'from', 'target', 'token_id', 'q', 'after']
    for (const value of bad) {
      const url = `/console${path.replace(/:\w+/g, value)}?${names.map((name) => `${name}=${value}`).join('&')}`
      expect((await admin.get(url)).status, url).toBeLessThan(500)
      const fields = Object.fromEntries(
        ['role', 'days', 'overlap_s', 'reason', 'name', 'head'].map((name) => [name, value]),
      )
      if (FORMS.some((action) => action.path === path)) {
        expect((await admin.post(url, { ...fields, form_of })).status, url).toBeLessThan(500)
      }
    }
    for (const cursor of cursors) {
      expect((await admin.get(`/console${path}?after=${cursor}&name=a&name=b`)).status, path).toBeLessThan(500)
    }
  }
  for (const value of bad) expect((await admin.get(`/console/search?q=${value}`)).status, value).toBeLessThan(500)
})
