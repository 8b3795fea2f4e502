import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, Client, type User } from '../acceptance/client.ts'
import { injectWire } from '../acceptance/http.ts'
import { openWorld, type World } from '../harness.ts'

/** A detour from the sign-in page does not lose the app that the person was signing in to. */

let world: World
let client: Client
let app: App
let user: User
beforeAll(async () => {
  world = await openWorld({ SMTP_URL: 'smtp://127.0.0.1:9', PASSWORD_RESET: 'mail' })
  client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
  app = await client.makeApp({ name: 'Pocket' })
  user = await client.makeUser()
})
afterAll(() => world.close())

const hrefOf = (text: string, path: string): string =>
  (new RegExp(`href="(${path}\\?[^"]*)"`).exec(text)?.[1] ?? '').replaceAll('&amp;', '&')

/** The address of the sign-in page to which the app's request redirects. */
async function signInUrl(browser = client.newBrowser()): Promise<URL> {
  const { headers } = await browser.send('GET', client.authorizePath(client.request(app)))
  return new URL(String(headers.location), world.deps.config.PUBLIC_URL)
}
const carried = ({ searchParams }: URL) => [searchParams.get('return_to'), searchParams.get('app')]
const addressOf = (path: unknown) => new URL(String(path), world.deps.config.PUBLIC_URL)

describe('a sign-in for an app', () => {
  it('survives the page for a forgotten password, before and after a link is requested', async () => {
    const browser = client.newBrowser()
    const first = await signInUrl(browser)
    expect(carried(first)).toEqual([expect.stringContaining(app.app_key), expect.any(String)])
    const signIn = await browser.open(first.pathname + first.search)
    const forgotten = hrefOf(signIn.text, '/sign-in/forgotten')
    const page = await browser.open(forgotten)
    expect(carried(addressOf(hrefOf(page.text, '/sign-in')))).toEqual(carried(first))

    const [return_to, name] = carried(first) as [string, string]
    const sent = await browser.send('POST', '/sign-in/forgotten', { passport: user.passport, return_to, app: name })
    expect(sent.status).toBe(200)
    expect(carried(addressOf(hrefOf(sent.text, '/sign-in')))).toEqual(carried(first))
    const again = await browser.open(hrefOf(sent.text, '/sign-in'))
    expect(again.text).toContain('Pocket')
  })

  it('survives a code entered too late, with an explanation', async () => {
    const browser = client.newBrowser()
    const [return_to, name] = carried(await signInUrl(browser)) as [string, string]
    const late = await browser.send('POST', '/sign-in/code', { code: '123456', return_to, app: name })
    expect(late.status).toBe(303)
    const back = addressOf(late.headers.location)
    expect([back.pathname, ...carried(back), back.searchParams.get('ended')]).toEqual([
      '/sign-in',
      return_to,
      name,
      '1',
    ])
    const page = await browser.open(back.pathname + back.search)
    expect(page.text).toContain('Your session has ended')
    expect(page.text).toContain('Pocket')
  })

  it('shows no app name that was not issued by an authorization request', async () => {
    const { text } = await client
      .newBrowser()
      .open('/sign-in/forgotten?return_to=%2Foauth%2Fv2%2Fauthorize&app=made-up')
    expect(hrefOf(text, '/sign-in')).toBe('/sign-in?return_to=%2Foauth%2Fv2%2Fauthorize')
  })
})
