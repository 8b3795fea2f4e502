import { TOTP } from 'otpauth'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TEAM_FIELDS } from '../../src/authorization/registry/index.ts'
import type { Browser } from '../acceptance/browser.ts'
import { type Client, envelopeOf, pkcePair } from '../acceptance/client.ts'
import { consentForm, visibleText } from '../acceptance/form.ts'
import { type Answer, header } from '../acceptance/http.ts'
import { ADMIN_TOKEN, openWorld, type World } from '../harness.ts'
import { untilLocked } from '../locks.ts'
import { APP_FORM, clientOf, type Developer, founder, person, registered, tester } from '../teams/people.ts'
import { until } from '../until.ts'

/** An app in development runs on its developers' machines, with its own test users and nobody else. */

let world: World
let client: Client
let owner: Developer & { team: string }
let appKey: string
let testUser: Browser
beforeAll(async () => {
  world = await openWorld()
  client = clientOf(world)
  owner = await founder(world)
  appKey = await registered(owner)
  testUser = await tester(world, owner, appKey)
})
afterAll(() => world?.close())

const ADMIN = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' }
const LOCAL = 'http://localhost:8000/callback'
const contract = (app_key = appKey, redirect_uri = LOCAL) =>
  client.authorizePath(client.request({ app_key, app_secret: '', redirect_uri }, { scope: 'USER_INFO' }))
const standard = (client_id = appKey, redirect_uri = LOCAL, more = {}) =>
  `/oauth2/authorize?${new URLSearchParams({
    ...{ client_id, redirect_uri, response_type: 'code', scope: 'openid profile', state: 's' },
    ...{ code_challenge: pkcePair().challenge, code_challenge_method: 'S256', ...more },
  })}`
const seen = (answer: Answer) => visibleText(answer.text).replace(/\s+/g, ' ')
const DIALECTS = [
  ['the contract', contract],
  ['OAuth 2.0', standard],
] as const

describe.each(DIALECTS)('in %s an app in development', (_name, pathOf) => {
  it('can be used by its own test users, on the loopback interface', async () => {
    const form = consentForm((await testUser.open(pathOf())).text)
    if (!form) throw new Error('no consent form')
    const target = new URL(header(await testUser.submit(form, { decision: 'approve' }), 'location'))
    expect(target.origin + target.pathname).toBe(LOCAL)
    expect(target.searchParams.get('code')).toMatch(/^ghac_/)
  })

  it('shows everybody else only a page that says it is not open yet', async () => {
    const other = await registered(owner)
    const people = [(await person(world)).browser, owner.browser, await tester(world, owner, other)]
    for (const browser of people) {
      const answer = await browser.open(pathOf())
      expect(seen(answer)).toContain('This app is not open yet')
      expect(consentForm(answer.text)).toBeUndefined()
      expect(answer.headers.location).toBeUndefined()
      expect(answer.text).toContain('action="/sign-out"')
      // The way back may lead to another provider.
      expect(header(answer, 'content-security-policy')).not.toContain('form-action')
    }
    const { rows } = await world.pool.query('select count(*)::int as grants from user_grant where app_key = $1', [
      other,
    ])
    expect(rows).toEqual([{ grants: 0 }])
  })

  it('does not redirect to other hosts, even registered ones', async () => {
    const answer = await testUser.open(pathOf(appKey, 'https://app.example.com/callback'))
    expect(answer.headers.location).toBeUndefined()
    expect(seen(answer)).toMatch(/20012|invalid_request/)
  })

  it('has test users that no other app admits, even a live one', async () => {
    const live = await client.makeApp({ redirect_uris: [LOCAL] })
    expect(seen(await testUser.open(pathOf(live.app_key)))).toContain('This app is not open yet')
    const usual = consentForm((await (await person(world)).browser.open(pathOf(live.app_key))).text)
    expect(usual).toBeDefined()
  })
})

it('a program gets the error of an app in development in its dialect', async () => {
  const { browser } = await person(world)
  const headers = { cookie: browser.cookieHeader, accept: 'application/json' }
  expect(envelopeOf(await client.call('GET', contract(), headers)).rescode).toBe(20014)
  const answer = await client.call('GET', standard(appKey, LOCAL, { prompt: 'none' }), headers)
  expect(JSON.parse(answer.text)).toMatchObject({ error: 'unauthorized_client' })
})

it('a visitor who is not signed in is sent to the sign-in page first', async () => {
  for (const [, pathOf] of DIALECTS) {
    expect(header(await client.newBrowser().send('GET', pathOf()), 'location')).toMatch(/^\/sign-in/)
  }
})

describe('the app form', () => {
  it('names each invalid field, keeps what was typed and changes nothing', async () => {
    const wrong = { ...APP_FORM, name: ' ', redirect_uris: 'not a url', reason_USER_INFO: '' }
    const answer = await owner.browser.send('POST', `/developer/teams/${owner.team}/apps`, wrong)
    expect(answer.status).toBe(400)
    for (const label of ['Name must', 'Redirect URIs, entry 1 must', 'What for: Your basic information is required']) {
      expect(seen(answer)).toContain(label)
    }
    expect(answer.text).toContain('>not a url</textarea>')
  })

  it('has each field that a team sets, and the page of the app lists what was typed', async () => {
    const made = await registered(owner, { hosts: 'a.example.com\nb.example.com', logo_url: 'https://a.example.com/l' })
    const form = (await owner.browser.open(`/developer/apps/${made}/edit`)).text
    const missing = Object.keys(TEAM_FIELDS).filter((name) => !form.includes(` name="${name}"`))
    expect(missing).toEqual(['scopes']) // checkboxes of their own
    expect(form).toContain('>a.example.com\nb.example.com</textarea>')
    expect(form).toContain('type="url" value="https://a.example.com/l" maxlength="2048"')
    const page = seen(await owner.browser.open(`/developer/apps/${made}`))
    expect(page).toContain('https://app.example.com/callback Hosts a.example.com b.example.com What it asks for')
  })

  it('lists no field that is empty', async () => {
    expect(seen(await owner.browser.open(`/developer/apps/${await registered(owner)}`))).not.toContain('Hosts')
  })

  it('changes an app in development immediately, but not a live one', async () => {
    const made = await registered(owner)
    const edit = (changes: object) =>
      owner.browser.send('POST', `/developer/apps/${made}/edit`, { ...APP_FORM, ...changes })
    expect((await edit({ name: 'Renamed', scope_PHONE_NUMBER: '1', reason_PHONE_NUMBER: 'To call' })).status).toBe(303)
    const text = seen(await owner.browser.open(`/developer/apps/${made}`))
    expect(text).toContain('Renamed')
    expect(text).toContain('PHONE_NUMBER')
    await world.pool.query("update micro_app set stage = 'live' where app_key = $1", [made])
    expect(header(await edit({ name: 'Again' }), 'location')).toBe(`/developer/apps/${made}?done=asked`)
    expect(seen(await owner.browser.open(`/developer/apps/${made}`))).not.toContain('Again')
    expect((await owner.browser.send('POST', `/developer/apps/${made}/test-users`, {})).status).toBe(409)
  })

  it('registers at most twenty apps per team, even concurrently', async () => {
    const someone = await founder(world)
    const answers = await Promise.all(
      [...Array(22).keys()].map((n) =>
        someone.browser.send('POST', `/developer/teams/${someone.team}/apps`, { ...APP_FORM, name: `App ${n}` }),
      ),
    )
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(20)
  })
})

describe('test users', () => {
  it('are five with a shared password that is shown once and can be renewed', async () => {
    const made = await registered(owner)
    const path = `/developer/apps/${made}/test-users`
    const answers = [await owner.browser.send('POST', path, {}), await owner.browser.send('POST', path, {})]
    const passwords = answers.map(({ text }) => /<pre[^>]*>([^<]+)<\/pre>/.exec(text)?.[1] ?? '')
    expect(new Set(passwords).size).toBe(2)
    const page = (await owner.browser.open(`/developer/apps/${made}`)).text
    expect(passwords.some((one) => page.includes(one))).toBe(false)
    const passports = [...page.matchAll(/<code>(test-[0-9a-f]{8}-\d)<\/code>/g)].map(([, one = '']) => one)
    expect(passports).toHaveLength(5)
    const signIn = async (password: string) =>
      (await client.newBrowser().send('POST', '/sign-in', { passport: passports[4] ?? '', password })).status
    expect([await signIn(passwords[0] ?? ''), await signIn(passwords[1] ?? '')]).toEqual([403, 303])
    expect(world.logged()).not.toContain(passwords[1])
  })

  it('lose their sessions and second factors when the password is renewed', async () => {
    const made = await registered(owner)
    const browser = await tester(world, owner, made)
    const page = await browser.send('POST', '/account/security/authenticator', {})
    const secret = /id="secret">([A-Z2-7]+)</.exec(page.text)?.[1] ?? ''
    const code = new TOTP({ secret, period: 30 }).generate({ timestamp: world.clock.now().getTime() })
    expect((await browser.send('POST', '/account/security/authenticator/confirm', { code })).status).toBe(200)
    const again = await tester(world, owner, made)
    expect((await browser.send('GET', '/account')).status).toBe(303)
    expect((await again.open('/account')).text).toContain('Test Alice')
  })

  it('cannot sign in with the old password while it is being renewed', async () => {
    const made = await registered(owner)
    const path = `/developer/apps/${made}/test-users`
    const { text } = await owner.browser.send('POST', path, {})
    const password = /<pre[^>]*>([^<]+)<\/pre>/.exec(text)?.[1] ?? ''
    const [first = '', second = ''] = [...text.matchAll(/<code>(test-[0-9a-f]{8}-\d)<\/code>/g)].map(([, one]) => one)
    await client.newBrowser().send('POST', '/sign-in', { passport: second, password })
    // The renewal has changed the first user and waits for the second.
    const holder = await world.pool.connect()
    await holder.query('begin')
    await holder.query('select from browser_session where user_id = $1 for update', [second])
    const renewed = owner.browser.send('POST', path, {})
    await untilLocked(world.pool)
    const browser = client.newBrowser()
    const signedIn = browser.send('POST', '/sign-in', { passport: first, password })
    await Promise.race([signedIn, untilLocked(world.pool, 2)])
    await holder.query('rollback')
    holder.release()
    expect((await renewed).status).toBe(200)
    await signedIn
    expect((await browser.send('GET', '/account')).status).toBe(303)
  })

  it('being created on a busy service do not block others from the database', async () => {
    const made = await registered(owner)
    const someone = await person(world)
    let finish = () => {}
    const turn = new Promise<void>((resolve) => {
      finish = resolve
    })
    const busy = [1, 2].map(() => world.deps.passwordSlots.run(() => turn))
    let answered = 0
    const path = `/developer/apps/${made}/test-users`
    const posts = [...Array(20)].map(() => owner.browser.send('POST', path, {}).then(() => answered++))
    await until(() => world.deps.passwordSlots.waiting > 0)
    const { status } = await someone.browser.open('/account')
    const before = answered
    finish()
    await Promise.all([...busy, ...posts])
    expect(before).toBe(0)
    expect(status).toBe(200)
  })

  it('cannot be developers', async () => {
    expect((await testUser.send('POST', '/developer/terms', {})).status).toBe(409)
  })
})

it('an app created by operators is live, and belongs to a team once they assign it', async () => {
  const made = await client.makeApp({ name: 'Handmade' })
  const path = `/developer/apps/${made.app_key}`
  expect((await owner.browser.open(path)).status).toBe(404)
  await client.admin('POST', `/apps/${made.app_key}/give`, { team_id: owner.team })
  const answer = await owner.browser.open(path)
  expect(seen(answer)).toContain('Handmade')
  expect(seen(answer)).toContain('Live')
})

it('an app of operators that runs in a browser or natively does so for its team too', async () => {
  const give = (app_key: unknown) => client.admin('POST', `/apps/${app_key}/give`, { team_id: owner.team })
  const kindOf = async (fields: object) => {
    const { app_key } = await client.admin('POST', '/apps', { name: 'Handmade', scopes: ['USER_INFO'], ...fields })
    await give(app_key)
    const { rows } = await world.pool.query('select kind from team_app where app_key = $1', [app_key])
    return rows[0].kind
  }
  const redirect_uris = ['https://app.example.com/callback']
  const isPublic = { redirect_uris, token_auth_methods: ['none'] }
  expect(await kindOf({ redirect_uris })).toBe('server')
  expect(await kindOf({ ...isPublic, cors_origins: ['https://app.example.com'] })).toBe('page')
  expect(await kindOf(isPublic)).toBe('native')
})

it('an app can be assigned to a team by its name if the name is unique', async () => {
  const [one, two] = [await founder(world, 'Harbour Tours'), await founder(world, 'Twin'), await founder(world, 'Twin')]
  const made = await client.makeApp()
  const give = async (team_id: string) => {
    const { text } = await client.call(
      'POST',
      `/admin/v1/apps/${made.app_key}/give`,
      ADMIN,
      JSON.stringify({ team_id }),
    )
    return JSON.parse(text)
  }
  expect((await give('harbour tours')).data).toEqual({
    app_key: made.app_key,
    team_id: one?.team,
    webhook_removed: false,
  })
  expect(JSON.stringify(await give('Twin'))).toContain('several teams')
  expect(JSON.stringify(await give('Nobody'))).toContain('is not the id or name of a team')
  expect((await give(two?.team ?? '')).data).toMatchObject({ team_id: two?.team })
})

describe('an app registered for developers', () => {
  const least = { hosts: ['app.example.com'], scopes: ['USER_INFO'] }
  const register = (fields: object) => client.admin('POST', '/apps', { ...least, ...fields })
  const teamOf = async (app_key: unknown) => {
    const { rows } = await world.pool.query('select team_id from team_app where app_key = $1', [app_key])
    return rows[0] && client.admin('GET', `/teams/${rows[0].team_id}`)
  }

  it('gets a new team of its name, whose owner is invited', async () => {
    const { app_key, app_secret } = await register({ name: 'Lantern Walks', mail: 'lin@example.com' })
    expect(app_secret).toMatch(/^ghas_/)
    expect(await teamOf(app_key)).toMatchObject({
      name: 'Lantern Walks',
      invitations: [{ mail: 'lin@example.com', role: 'owner' }],
      apps: [{ app_key }],
    })
    expect(await teamOf((await register({ name: 'Alone' })).app_key)).toBeUndefined()
  })

  it('joins a team that is there, into which somebody can be invited', async () => {
    const { team } = await founder(world, 'Ferry Tours')
    const { app_key } = await register({ name: 'Ferries', team_id: 'ferry tours', mail: 'bo@example.com' })
    expect(await teamOf(app_key)).toMatchObject({
      team_id: team,
      invitations: [{ mail: 'bo@example.com', role: 'developer' }],
    })
  })

  it('is not made if there is no such team', async () => {
    const app = JSON.stringify({ ...least, name: 'Lost', app_key: 'lost-app', team_id: 'Nobody' })
    expect((await client.call('POST', '/admin/v1/apps', ADMIN, app)).text).toContain('is not the id or name of a team')
    expect((await client.call('GET', '/admin/v1/apps/lost-app', ADMIN)).status).toBe(404)
  })
})
