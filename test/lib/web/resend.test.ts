import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Browser } from '../../acceptance/browser.ts'
import { Client } from '../../acceptance/client.ts'
import { formsOf } from '../../acceptance/form.ts'
import { injectWire } from '../../acceptance/http.ts'
import { type Person, signedIn } from '../../console/person.ts'
import { openWorld, type World } from '../../harness.ts'
import { SHARDS } from '../../one-table.ts'
import { withoutConnections } from '../../outage.ts'

/** A page that says that the database is away gives back the form that was sent, to be sent again. */

let world: World
let client: Client
let browser: Browser
let editor: Person
beforeAll(async () => {
  world = await openWorld()
  client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
  browser = await client.signedIn(await client.makeUser(), await client.makeApp())
  editor = (await signedIn(world, 'editor')).person
})
afterAll(() => world.close())
let end = () => {}
const beginOutage = () => {
  end = withoutConnections(world.pool)
}
afterEach(() => end())

const returned = ({ status, text }: { status: number; text: string }, path: string) => {
  expect(status, path).toBe(503)
  return formsOf(text).find(({ action }) => action === path)?.fields
}

describe.skipIf(SHARDS > 1)('a form that is sent while the database is away', () => {
  it.each<[string, Record<string, string>]>([
    ['/account/profile', { name: 'Lin "Yue" <b>', gender: '1' }],
    ['/developer/teams', { name: 'Harbour Tours' }],
    ['/oauth/v2/consent', { authorization_request: 'signed', decision: 'approve' }],
    ['/oauth2/consent', { authorization_request: 'signed', decision: 'approve' }],
  ])('comes back: %s', async (path, fields) => {
    beginOutage()
    const answer = await browser.send('POST', path, fields)
    expect(answer.text).toContain('nothing that you typed is lost')
    expect(returned(answer, path)).toEqual(fields)
  })

  it('comes back if it was to sign out, and the session can still be ended', async () => {
    const person = await client.signedIn(await client.makeUser(), await client.makeApp())
    const live = async () => (await world.pool.query('select count(*)::int as live from browser_session')).rows[0].live
    const before = await live()
    beginOutage()
    const fields = { return_to: '/' }
    expect(returned(await person.send('POST', '/sign-out', fields), '/sign-out')).toEqual(fields)
    end()
    expect((await person.send('POST', '/sign-out', fields)).status).toBe(303)
    expect(await live()).toBe(before - 1)
  })

  it('comes back in the console, and is carried out once the database is there', async () => {
    const path = '/console/-/apps/new'
    const fields = { ...(await editor.hidden(path)), name: 'Sunny Day Trips', hosts: 'a.example', scopes: 'USER_INFO' }
    beginOutage()
    const typed = returned(await editor.post(path, fields), path)
    expect(typed).toEqual(fields)
    end()
    expect((await editor.post(path, typed as Record<string, string>)).status).toBe(200)
    const { rows } = await world.pool.query("select from micro_app where name = 'Sunny Day Trips'")
    expect(rows).toHaveLength(1)
  })

  it.each([
    ['/sign-in', { passport: 'lin', password: 'hidden-words' }],
    ['/account/profile/phone/confirm', { code: '123456' }],
    ['/developer/helpers/request', { request: 'GET /oauth2/userinfo?access_token=hidden-words' }],
    ['/developer/helpers/id-token', { id_token: 'hidden-words' }],
    ['/oauth2/authorize', { client_id: 'app', request: 'hidden-words' }],
    ['/developer/teams', { name: 'our token:\nghat_hidden-words' }],
    ['/account/profile', { name: '{ "access_token" : "hidden-words" }' }],
  ] as const)('does not come back with a secret: %s', async (path, fields) => {
    beginOutage()
    const answer = await browser.send('POST', path, fields)
    expect(returned(answer, path)).toBeUndefined()
    expect(answer.text).not.toMatch(/hidden-words|123456/)
  })
})
