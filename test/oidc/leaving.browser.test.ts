import { createServer as createHttp, type RequestListener } from 'node:http'
import { createServer as createHttps } from 'node:https'
import { type AddressInfo, connect, type Server, type Socket } from 'node:net'
import { createServer as createTls } from 'node:tls'
import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { Client, newState, pkcePair, type User } from '../acceptance/client.ts'
import { injectWire, queryOf } from '../acceptance/http.ts'
import { lookAt, sharedBrowser, toNextPage } from '../browser.ts'
import { openWorld, type World } from '../harness.ts'
import { SELF_SIGNED } from '../sandbox/certificates.ts'
import { type Parameters, StandardApp } from './app.ts'

/**
 * Each form of ours that can lead to another site, in Chromium, over https and with the pages' Content-Security-Policy in
 * force: Chromium checks every redirect after a form post against `form-action` of the page with the form.
 */

const SCHEME = 'myapp://arrived'

let world: World
let client: Client
let rp: StandardApp
let context: BrowserContext
let user: User
let other: User
let blocked: User
/** The session of `user`, and an id_token about `user`. */
let session: string
let hint: string
const servers: Server[] = []
const sockets = new Set<Socket>()
let to: Readonly<Record<string, { readonly uri: string; readonly arrives: string }>>

async function listen<S extends Server>(server: S): Promise<{ server: S; port: number }> {
  servers.push(server)
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return { server, port: (server.address() as AddressInfo).port }
}

beforeAll(async () => {
  let inner = 0
  // A proxy that terminates TLS.
  const front = await listen(
    createTls(SELF_SIGNED, (socket) => {
      const behind = connect(inner, '127.0.0.1')
      behind.on('error', () => socket.destroy())
      socket.on('error', () => behind.destroy())
      socket.pipe(behind).pipe(socket)
    }),
  )
  const gate = `https://localhost:${front.port}`
  const hops: Record<string, string> = {}
  const app: RequestListener = (request, response) => {
    const hop = hops[new URL(request.url ?? '/', gate).pathname]
    if (hop) response.writeHead(302, { location: hop }).end()
    else response.writeHead(200, { 'content-type': 'text/html' }).end('<title>arrived</title>')
  }
  const secure = `https://127.0.0.1:${(await listen(createHttps(SELF_SIGNED, app))).port}`
  const plain = `http://127.0.0.1:${(await listen(createHttp(app))).port}`
  Object.assign(hops, { '/to-scheme': SCHEME, '/to-second': `${plain}/second`, '/second': `${secure}/arrived` })
  to = {
    'the same origin': { uri: `${gate}/arrived`, arrives: `${gate}/arrived` },
    'another https origin': { uri: `${secure}/arrived`, arrives: `${secure}/arrived` },
    'loopback http': { uri: `${plain}/arrived`, arrives: `${plain}/arrived` },
    'a private scheme': { uri: `${secure}/to-scheme`, arrives: SCHEME },
    'two hops': { uri: `${secure}/to-second`, arrives: `${secure}/arrived` },
  }

  world = await openWorld({ PUBLIC_URL: gate, AUTHORIZE_PER_MINUTE: '1000000' })
  await world.app.listen({ host: '127.0.0.1', port: 0 })
  inner = (world.app.server.address() as AddressInfo).port
  client = new Client(injectWire(world.app), gate)
  const uris = Object.values(to).map(({ uri }) => uri)
  rp = await StandardApp.make(client, { redirect_uris: uris, post_logout_uris: uris })
  ;[user, other, blocked] = [await client.makeUser(), await client.makeUser(), await client.makeUser()]
  const redirect_uri = uris[1] ?? ''
  for (const person of [user, other, blocked]) {
    const theirs = client.newBrowser()
    const consented = await rp.code(theirs, person, { redirect_uri })
    if (person !== user) continue
    hint = String(JSON.parse((await rp.exchange(consented, { redirect_uri })).text).id_token)
    session = theirs.cookies.get('__Host-gatehouse_session') ?? ''
  }
  await client.block(blocked)
})
afterAll(async () => {
  for (const server of servers) server.close()
  for (const socket of sockets) socket.destroy()
  await world?.close()
})
const home = () => to['another https origin']?.uri ?? ''
afterEach(() => context?.close())

/** A form, how to reach it, and what the person does there. */
interface FormWalk {
  readonly signedIn?: boolean
  readonly path: (uri: string) => string
  readonly act: (page: Page) => Promise<unknown>
  /** The response that the app receives. */
  readonly receives?: RegExp
}

const pkce = { code_challenge: pkcePair().challenge, code_challenge_method: 'S256' }
const standard = (changes: Parameters | (() => Parameters) = {}) => {
  return (redirect_uri: string) =>
    rp.authorizeUrl({ ...pkce, redirect_uri, ...(typeof changes === 'function' ? changes() : changes) })
}
const contract = (redirect_uri: string) => client.authorizePath(client.request({ ...rp.app, redirect_uri }))
const logout = (post_logout_redirect_uri: string) =>
  `/oauth2/logout?${queryOf({ client_id: rp.app.app_key, post_logout_redirect_uri, state: newState() })}`
const signIn = (person: () => User) => async (page: Page) => {
  await page.fill('#passport', person().passport)
  await page.fill('#password', person().password)
  await page.click('button[type=submit]')
}
const press = (value: string) => (page: Page) => page.click(`button[value=${value}]`)
const asUser = signIn(() => user)
const [CODE, ERROR] = [/[?&]code=ghac_/, /[?&]error=/]

const FORMS: Readonly<Record<string, FormWalk>> = {
  'contract: approve': { signedIn: true, path: contract, act: press('approve'), receives: CODE },
  'contract: refuse': { signedIn: true, path: contract, act: press('refuse'), receives: /[?&]state=/ },
  'contract: sign in, approve': {
    path: contract,
    act: async (page) => {
      await asUser(page)
      await press('approve')(page)
    },
    receives: CODE,
  },
  'sign in, consent remembered': { path: standard(), act: asUser, receives: CODE },
  'sign in once more for prompt=login': {
    signedIn: true,
    path: standard({ prompt: 'login' }),
    act: asUser,
    receives: CODE,
  },
  'sign in once more for max_age=0': { signedIn: true, path: standard({ max_age: '0' }), act: asUser, receives: CODE },
  'sign in at the second attempt': {
    path: standard(),
    act: async (page) => {
      await signIn(() => ({ ...user, password: 'wrong' }))(page)
      await page.getByRole('alert').waitFor()
      await asUser(page)
    },
    receives: CODE,
  },
  'sign in, but blocked': { path: standard(), act: signIn(() => blocked), receives: ERROR },
  'sign in as another than the id_token_hint': {
    path: standard(() => ({ id_token_hint: hint })),
    act: signIn(() => other),
    receives: ERROR,
  },
  approve: { signedIn: true, path: standard({ prompt: 'consent' }), act: press('approve'), receives: CODE },
  refuse: { signedIn: true, path: standard({ prompt: 'consent' }), act: press('refuse'), receives: ERROR },
  form_post: { signedIn: true, path: standard({ response_mode: 'form_post' }), act: async () => {} },
  'form_post after sign-in': { path: standard({ response_mode: 'form_post' }), act: asUser },
  'form_post after approving': {
    signedIn: true,
    path: standard({ response_mode: 'form_post', prompt: 'consent' }),
    act: press('approve'),
  },
  'form_post of a refusal': {
    signedIn: true,
    path: standard({ response_mode: 'form_post', prompt: 'consent' }),
    act: press('refuse'),
  },
  'sign out': { signedIn: true, path: logout, act: press('sign-out'), receives: /[?&]state=/ },
  'stay signed in': { signedIn: true, path: logout, act: press('stay'), receives: /[?&]state=/ },
}

/** A tab of a new browser, optionally with a session. Pages that are about to leave are closed with their context. */
async function openTab(value?: string): Promise<Page> {
  context = await (await sharedBrowser()).newContext({ ignoreHTTPSErrors: true, locale: 'en' })
  const name = '__Host-gatehouse_session'
  if (value) await context.addCookies([{ name, value, url: world.deps.config.PUBLIC_URL, secure: true }])
  return context.newPage()
}
const address = (path: string) => `${world.deps.config.PUBLIC_URL}${path}`

/** Resolves with the address that the browser leaves for, or with Chromium's message about the policy that blocked it. */
function leavingOf(page: Page, arrives: string): { readonly ended: Promise<string>; readonly seen: string[] } {
  const seen: string[] = []
  const ended = new Promise<string>((resolve) => {
    page.on('console', (message) => {
      const said = message.text()
      if (/content security policy/i.test(said)) resolve(said)
    })
    page.on('request', (request) => {
      if (!request.isNavigationRequest()) return
      seen.push(request.url())
      if (request.url().startsWith(arrives)) resolve(arrives)
    })
  })
  return { ended, seen }
}

const DESTINATIONS = ['the same origin', 'another https origin', 'loopback http', 'a private scheme', 'two hops']
/** These leave over https and pass through http or a private scheme. */
const FARTHEST = ['a private scheme', 'two hops']
/** One form of each page is tested with all destinations: what Chromium allows depends on the page and destination, not on the button. */
const TO_ALL = ['contract: approve', 'sign in, consent remembered', 'approve', 'form_post', 'sign out']

describe.each(Object.keys(FORMS))('%s', (name) => {
  const { signedIn = false, path, act, receives } = FORMS[name] as FormWalk

  it.each(TO_ALL.includes(name) ? DESTINATIONS : FARTHEST)('leads to %s', async (where) => {
    const { uri, arrives } = to[where] as (typeof to)[string]
    const page = await openTab(signedIn ? await sessionFor(name) : undefined)
    const { ended, seen } = leavingOf(page, arrives)
    const walk = async () => {
      await page.goto(address(path(uri))).catch(() => {}) // form_post leaves while it loads
      await act(page)
      return ended
    }
    expect(await Promise.race([ended, walk()])).toBe(arrives)
    if (receives) expect(seen.find((url) => url.startsWith(uri))).toMatch(receives)
  })
})

/** Signing out and signing in again end the session, so these tests use their own. */
const sessionFor = async (name: string): Promise<string | undefined> =>
  /^sign (in once more|out)/.test(name) ? newSession() : session

const newSession = async (): Promise<string | undefined> =>
  (await client.signedIn(user, { ...rp.app, redirect_uri: home() })).cookies.get('__Host-gatehouse_session')

describe('a page left open for 31 minutes or overnight', () => {
  const later = [
    ['31 minutes', 31 * 60],
    ['overnight', 11 * 3_600],
  ] as const
  const walks: readonly [string, FormWalk][] = [
    ['contract: sign in, approve', FORMS['contract: sign in, approve'] as FormWalk],
    ['sign in', FORMS['sign in, consent remembered'] as FormWalk],
    ['sign in for prompt=login', { path: standard({ prompt: 'login' }), act: asUser, receives: CODE }],
    ['contract: approve', FORMS['contract: approve'] as FormWalk],
    ['approve', FORMS.approve as FormWalk],
    ['refuse', FORMS.refuse as FormWalk],
    ['sign out', FORMS['sign out'] as FormWalk],
  ]
  it.each(walks.flatMap((walk) => later.map((time) => [...walk, ...time] as const)))(
    '%s: still works',
    async (name, { signedIn, path, act, receives }, _time, seconds) => {
      const page = await openTab(signedIn ? await newSession() : undefined)
      const { ended, seen } = leavingOf(page, home())
      await page.goto(address(path(home())))
      world.clock.advance(seconds)
      const walk = async () => {
        await act(page)
        return ended
      }
      expect(await Promise.race([ended, walk()])).toBe(home())
      expect(seen.at(-1)).toMatch(receives ?? /./)
      if (name !== 'sign out') return
      await page.waitForURL(`${home()}**`) // `ended` resolves when the request begins
      await page.goto(address('/'))
      expect(await page.textContent('main')).not.toContain('Test user')
    },
  )

  it.each([
    ['contract', contract],
    ['standard', standard({ prompt: 'consent' })],
  ] as const)('%s: asks again if the person signs in again in another tab before approving', async (_name, path) => {
    const page = await openTab()
    await page.goto(address(path(home())))
    await toNextPage(page, () => asUser(page))
    await page.locator('button[value=approve]').waitFor()
    const tab = await context.newPage()
    await tab.goto(address('/sign-in'))
    await asUser(tab)
    await tab.waitForURL(address('/account'))
    const { ended } = leavingOf(page, home())
    await toNextPage(page, () => press('approve')(page))
    expect(page.url()).toMatch(/\/authorize\?/)
    expect(await page.textContent('h1')).toContain('Test app')
    await press('approve')(page)
    expect(await ended).toBe(home())
  })
})

describe('in a window opened by an app', () => {
  /** The app's own page, and the window in which it has opened our page. */
  async function openWindow(path: string, value?: string) {
    const page = await openTab(value)
    await page.goto(home())
    const opened = context.waitForEvent('page')
    await page.evaluate((url) => void Object.assign(window, { opened: window.open(url, '_blank') }), address(path))
    return { page, popup: await opened }
  }

  it.each(['contract: sign in, approve', 'sign in, consent remembered', 'form_post after approving', 'sign out'])(
    '%s: the app keeps its reference to the window, and the window its opener',
    async (name) => {
      const { signedIn, path, act } = FORMS[name] as FormWalk
      // The shared session has expired, as hours have passed.
      const { page, popup } = await openWindow(path(home()), signedIn ? await newSession() : undefined)
      const { ended } = leavingOf(popup, home())
      const walk = async () => {
        await popup.waitForLoadState()
        await act(popup)
        return ended
      }
      expect(await Promise.race([ended, walk()])).toBe(home()) // a click may hang if the page is left while it loads
      const arrived = () => lookAt(popup, () => popup.evaluate(() => [location.href, window.opener !== null]))
      await expect.poll(arrived).toEqual([expect.stringContaining(home()), true])
      expect(await page.evaluate(() => (window as unknown as { opened: Window }).opened.closed)).toBe(false)
    },
  )
})

describe('a browser that rejects cookies', () => {
  it.each([
    ['contract', contract, 'button[value=approve]'],
    ['standard', standard({ prompt: 'consent' }), 'button[value=approve]'],
  ] as const)('%s: gets an explanation, and can continue once cookies are allowed', async (_name, path, next) => {
    const page = await openTab()
    await page.goto(address(path(home())))
    for (let attempt = 0; attempt < 2; attempt++) {
      await context.clearCookies()
      await toNextPage(page, () => asUser(page))
      await page.getByRole('alert').getByText('Allow cookies for this site').waitFor()
    }
    expect(await page.inputValue('#passport')).toBe(user.passport)
    await page.fill('#password', user.password)
    await page.click('button[type=submit]')
    await page.locator(next).waitFor()
  })

  it.each(['/sandbox/sign-in', '/console/sign-in', '/console/sign-in?first=1'])(
    'gets an explanation at %s',
    async (path) => {
      const page = await openTab()
      await page.goto(address(path))
      await context.clearCookies()
      for (const input of await page.locator('main input:not([type=hidden]):not([type=email])').all()) {
        await input.fill('123456')
      }
      await page.click('main form button[type=submit]')
      await page.getByRole('alert').getByText('Allow cookies for this site').waitFor()
    },
  )
})
