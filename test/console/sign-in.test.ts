import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createOperator, disableOperator, setOperatorPassword } from '../../src/operations/operators/index.ts'
import { ADMIN_TOKEN, openWorld, type World } from '../harness.ts'
import { untilLocked } from '../locks.ts'
import { adminTokenHolder, codeOf, PASSWORD, Person, signedIn } from './person.ts'

/** Signing in to the console, and out of it. */

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())
beforeEach(() => world.pool.query('delete from failed_attempt'))

const events = async (target: string) =>
  (await world.pool.query('select event, detail from audit_event where target = $1 order by at', [target])).rows

it('the two sign-in forms link to each other, and keep the page to return to', async () => {
  const person = new Person(world)
  const asked = `${(await person.get('/console/orders?state=paid')).location}`
  for (const [page, other] of [
    [asked, 'first=1'],
    [`${asked}&first=1`, ''],
  ] as const) {
    const { text } = await person.get(page)
    const [, href = ''] = /href="(\/console\/sign-in\?[^"]*)"/.exec(text) ?? []
    const query = new URLSearchParams(href.replaceAll('&amp;', '&').split('?')[1])
    expect(query.get('return_to')).toBe('/console/orders?state=paid')
    expect(query.get('first') === '1').toBe(other === 'first=1')
  }
})

describe('the holder of ADMIN_TOKEN', () => {
  it('signs in, and is advised to create an operator for each person', async () => {
    const person = await adminTokenHolder(world)
    const page = await person.get('/console')
    expect(page.status).toBe(200)
    expect(page.text).toContain('Create an operator for each person')
    expect(await events('operator:ADMIN_TOKEN')).toContainEqual({
      event: 'operator_signed_in',
      detail: { by: 'token' },
    })
    expect(world.logged()).not.toContain(ADMIN_TOKEN)
  })

  it('signs out, which ends the session', async () => {
    const person = await adminTokenHolder(world)
    const { cookie } = person
    expect((await person.post('/console/sign-out')).location).toBe('/console/sign-in')
    expect((await new Person(world, cookie).get('/console')).location).toContain('/console/sign-in?')
    expect(await events('operator:ADMIN_TOKEN')).toContainEqual({ event: 'operator_signed_out', detail: {} })
  })

  it('gets a new session at each sign-in, which ends the previous one', async () => {
    const person = await adminTokenHolder(world)
    const { cookie } = person
    expect((await person.post('/console/sign-in', { token: ADMIN_TOKEN })).location).toBe('/console')
    expect((await person.get('/console')).status).toBe(200)
    expect((await new Person(world, cookie).get('/console')).location).toContain('/console/sign-in?')
  })

  it('is signed out after OPERATOR_IDLE_S, or if ADMIN_TOKEN has changed', async () => {
    const person = await adminTokenHolder(world)
    world.clock.advance(1_700)
    expect((await person.get('/console')).status).toBe(200)
    world.clock.advance(1_801)
    expect((await person.get('/console')).status).toBe(302)
    const other = await adminTokenHolder(world)
    await world.pool.query("update first_operator_session set token_mark = 'another'")
    expect((await other.get('/console')).status).toBe(302)
  })

  it('gets the same form again if the token is missing', async () => {
    const { status, text } = await new Person(world).post('/console/sign-in', { token: ' ' })
    expect(status).toBe(400)
    expect(text).toContain('id="token"')
    expect(text).toContain('Enter ADMIN_TOKEN.')
  })

  it('is rejected with a wrong token, and locked out after five', async () => {
    const person = new Person(world)
    const statuses: number[] = []
    for (let tried = 0; tried < 7; tried++) {
      statuses.push((await person.post('/console/sign-in', { token: `wrong-${tried}` })).status)
    }
    expect(statuses).toEqual([403, 403, 403, 403, 403, 429, 429])
    expect((await person.post('/console/sign-in', { token: ADMIN_TOKEN })).status).toBe(429)
  })
})

describe('an operator', () => {
  it('whose form is incomplete gets it again with the name', async () => {
    const { status, text } = await new Person(world).post('/console/sign-in', { name: 'lin yue', password: '' })
    expect([status, text]).toEqual([400, expect.stringContaining('value="lin yue"')])
  })

  it('who adds an authenticator in two windows has to sign in again in the slower one', async () => {
    await createOperator(world.deps, { name: 'two-windows', role: 'viewer', days: 1 })
    await setOperatorPassword(world.deps, { name: 'two-windows', password: PASSWORD })
    const person = new Person(world)
    await person.post('/console/sign-in', { name: 'two-windows', password: PASSWORD, code: '' })
    const form_of = await person.mark('/console/authenticator')
    const other = await world.pool.connect()
    await other.query('begin')
    await other.query("update operator set totp_confirmed_at = now() where name = 'two-windows'")
    const slower = person.post('/console/authenticator', { form_of })
    await untilLocked(world.pool)
    await other.query('commit')
    other.release()
    const { status, location } = await slower
    expect([status, location]).toEqual([303, '/console/authenticator'])
    expect((await person.get(location)).location).toContain('/console/sign-in?')
  })

  it('has to add an authenticator at the first sign-in before seeing anything', async () => {
    await createOperator(world.deps, { name: 'lin', role: 'viewer', days: 1 })
    await setOperatorPassword(world.deps, { name: 'lin', password: PASSWORD })
    const person = new Person(world)
    const page = await person.post('/console/sign-in', { name: 'lin', password: PASSWORD, code: '' })
    expect(page.location).toBe('/console/authenticator')
    for (const path of ['/console', '/console/apps', '/console/audit']) {
      expect((await person.get(path)).location).toBe('/console/authenticator')
    }
    const shown = await person.submit('/console/authenticator')
    const secret = /id="secret">([A-Z2-7]+)</.exec(shown.text)?.[1] ?? ''
    expect(shown.text).toContain(`otpauth://totp/Gatehouse:lin?issuer=Gatehouse&amp;secret=${secret}`)
    expect(shown.text).toContain('class="qr"')
    expect(shown.text).not.toContain('style=')
    const form_of = await person.mark('/console/authenticator')
    const wrong = await person.post('/console/authenticator/confirm', { code: '000000', form_of })
    expect(wrong.status).toBe(403)
    expect(wrong.text).not.toContain(secret)
    const before = person.cookie
    const right = await person.post('/console/authenticator/confirm', { code: codeOf(world, secret), form_of })
    const codes = right.text.match(/(?:[a-z2-9]{4}-){3}[a-z2-9]{4}/g) ?? []
    expect(codes).toHaveLength(10)
    expect(person.cookie).not.toBe(before)
    expect((await new Person(world, before).get('/console')).status).toBe(302)
    expect((await person.get('/console')).text).toContain('href="/console/own-sign-in"><strong>lin<')
    expect((await person.get('/console/authenticator')).location).toBe('/console')
  })

  it('gets new recovery codes by entering a code, and can sign in with one of them', async () => {
    const { person, name, secret } = await signedIn(world, 'viewer')
    world.clock.advance(30)
    expect((await person.get('/console/own-sign-in')).text).toContain('Left: 10.')
    const form_of = await person.mark('/console/own-sign-in')
    const wrong = await person.post('/console/own-sign-in', { code: '000000', form_of })
    expect([wrong.status, wrong.text.includes('role="alert"')]).toEqual([403, true])
    const made = await person.post('/console/own-sign-in', { code: codeOf(world, secret), form_of })
    const [code = ''] = made.text.match(/(?:[a-z2-9]{4}-){3}[a-z2-9]{4}/) ?? []
    const back = await new Person(world).post('/console/sign-in', { name, password: PASSWORD, code })
    expect(back.location).toBe('/console')
    expect((await person.get('/console/own-sign-in')).text).toContain('Left: 9.')
    const first = await adminTokenHolder(world)
    expect((await first.get('/console/own-sign-in')).status).toBe(404)
    expect((await first.get('/console')).text).not.toContain('/console/own-sign-in')
  })

  it('sees no link to the other language on pages with secrets that are shown only once', async () => {
    const name = 'shown-once'
    await createOperator(world.deps, { name, role: 'viewer', days: 1 })
    await setOperatorPassword(world.deps, { name, password: PASSWORD })
    const person = new Person(world)
    await person.post('/console/sign-in', { name, password: PASSWORD, code: '' })
    expect((await person.get('/console/authenticator')).text).toContain('hreflang')
    const begun = await person.submit('/console/authenticator')
    const secret = /id="secret">([A-Z2-7]+)</.exec(begun.text)?.[1] ?? ''
    const form_of = /name="form_of" value="([^"]+)"/.exec(begun.text)?.[1] ?? ''
    const codes = await person.post('/console/authenticator/confirm', { code: codeOf(world, secret), form_of })
    expect(codes.text).toContain('class="codes"')
    world.clock.advance(30)
    const fresh = { code: codeOf(world, secret), form_of: await person.mark('/console/own-sign-in') }
    const renewed = await person.post('/console/own-sign-in', fresh)
    expect(renewed.text).toContain('class="codes"')
    for (const { text } of [begun, codes, renewed]) expect(text).not.toContain('hreflang')
  })

  it('returns to the requested page, but never to another host', async () => {
    const { name, secret } = await signedIn(world, 'viewer')
    const asked = await new Person(world).get('/console/orders?state=paid')
    expect(asked.location).toBe(`/console/sign-in?${new URLSearchParams({ return_to: '/console/orders?state=paid' })}`)
    for (const [return_to, place] of [
      ['/console/orders?state=paid', '/console/orders?state=paid'],
      ['https://evil.example/console', '/console'],
      ['//evil.example/console', '/console'],
      ['/consolefake', '/console'],
    ] as const) {
      world.clock.advance(30)
      const form = { name, password: PASSWORD, code: codeOf(world, secret), return_to }
      expect((await new Person(world).post('/console/sign-in', form)).location).toBe(place)
    }
  })

  it('gets a new session at each sign-in, which ends the previous one', async () => {
    const { person, name, secret } = await signedIn(world, 'viewer')
    const { cookie } = person
    world.clock.advance(60)
    const form = { name, password: PASSWORD, code: codeOf(world, secret) }
    expect((await person.post('/console/sign-in', form)).location).toBe('/console')
    expect((await person.get('/console')).status).toBe(200)
    expect((await new Person(world, cookie).get('/console')).location).toContain('/console/sign-in?')
  })

  it('is signed out immediately when disabled', async () => {
    const { person, name } = await signedIn(world, 'admin')
    await disableOperator(world.deps, { name })
    expect((await person.get('/console')).status).toBe(302)
  })

  it('has a cookie that scripts cannot read and other sites cannot send', async () => {
    const form = { token: ADMIN_TOKEN }
    const { headers } = await new Person(world).post('/console/sign-in', form)
    const [set] = [headers['set-cookie']].flat().filter((line) => String(line).startsWith('gatehouse_operator='))
    expect(set).toMatch(/; Path=\/console; HttpOnly; SameSite=Lax/)
  })
})

it('pages allow no inline scripts or styles', async () => {
  const person = await adminTokenHolder(world)
  const { headers } = await person.get('/console')
  const policy = String(headers['content-security-policy'])
  expect(policy).toContain("default-src 'none'")
  // For the script that converts times, which makes no requests.
  expect(policy).toContain("script-src 'self'")
  expect(policy).not.toContain('connect-src')
  expect(policy).toContain("style-src 'self'")
  expect(policy).not.toContain('unsafe')
  expect(headers['cache-control']).toBe('no-store')
})
