import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { BrowserContext } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { writeUsage } from '../../src/authorization/usage/index.ts'
import { violations } from '../axe.ts'
import { toNextPage } from '../browser.ts'
import { freePort } from '../free-port.ts'
import { openWorld, type World } from '../harness.ts'
import { browsing, fits, gluedWords, LOOKS, openAllParts } from '../sandbox/browse.ts'
import {
  clientOf,
  type Developer,
  founder,
  joined,
  person,
  registered,
  tester,
  tokenFor,
  withAuthenticator,
} from '../teams/people.ts'
import { pressTwice } from '../twice.ts'

/** The developer pages in a browser: each page, and registering an app without JavaScript. */

const SCREENSHOTS = process.env.SCREENSHOTS

let world: World
let origin: string
let owner: Developer & { team: string }
let appKey: string
const { visit, tab } = browsing()
beforeAll(async () => {
  const port = await freePort()
  origin = `http://localhost:${port}`
  world = await openWorld({ PUBLIC_URL: origin })
  await world.app.listen({ host: '127.0.0.1', port })
  owner = await founder(world, 'Lin Yue')
  await withAuthenticator(world, owner)
  appKey = await registered(owner, { scope_PHONE_NUMBER: '1', reason_PHONE_NUMBER: 'The guide calls before the trip' })
  await joined(world, owner)
  await tester(world, owner, appKey)
  await owner.browser.send('POST', `/developer/teams/${owner.team}/invite`, {
    mail: 'ann@example.com',
    role: 'developer',
  })
  await owner.browser.send('POST', `/developer/apps/${appKey}/secret`, { replaces: '' })
  await owner.browser.send('POST', `/developer/apps/${appKey}/webhook`, { webhook_url: 'https://hooks.example.com/a' })
  await owner.browser.send('POST', `/developer/apps/${appKey}/webhook/test`, {})
  world.deps.metrics.usage.count(appKey, 'read', 0, 1_234)
  world.deps.metrics.usage.count(appKey, 'refused', 20006, 7)
  world.deps.metrics.usage.count(appKey, 'claimed', 20012, 3)
  await writeUsage(world.deps, world.app.sampledLog)
})
afterAll(() => world?.close())

async function signInAs(context: BrowserContext, { browser }: Pick<Developer, 'browser'>): Promise<void> {
  const cookies = [...browser.cookies].map(([name, value]) => ({ name, value, url: origin }))
  await context.addCookies(cookies)
}

it.each(LOOKS)('each page is accessible and fits the screen: %j', async (look) => {
  const context = await visit(look)
  const page = await tab(context, `${origin}/`)
  const outsider = await person(world)
  const app = `/developer/apps/${appKey}`
  const authorize = clientOf(world).authorizePath({
    ...{ app_key: appKey, redirect_uri: 'http://localhost:8000/callback', response_type: 'code' },
    ...{ scope: 'USER_INFO', state: 'x' },
  })
  const pages: [string, string, Pick<Developer, 'browser'>][] = [
    ['terms', '/developer', outsider],
    ['join', `/developer/join?token=${await tokenFor(world, 'ann@example.com')}`, outsider],
    ['not-open', authorize, outsider],
    ['home', '/developer', owner],
    ['team', `/developer/teams/${owner.team}`, owner],
    ['new-app', `/developer/teams/${owner.team}/apps/new`, owner],
    ['app', app, owner],
    ['edit', `${app}/edit`, owner],
    ['secret', `${app}/secret`, owner],
    ['failures', `${app}/failures`, owner],
    ['webhook', `${app}/webhook`, owner],
    ['usage', `${app}/usage`, owner],
    ['find-failure', '/developer/failures?request_id=x', owner],
    ['helpers', '/developer/helpers', owner],
  ]
  for (const [name, path, who] of pages) {
    await context.clearCookies()
    await signInAs(context, who)
    await page.goto(`${origin}${path}`)
    expect(await page.getAttribute('html', 'lang'), name).toBe(look.locale)
    await openAllParts(page)
    expect(await violations(page), name).toEqual([])
    expect(await fits(page), name).toBe(true)
    expect(await gluedWords(page), name).toEqual([])
    if (!SCREENSHOTS) continue
    mkdirSync(SCREENSHOTS, { recursive: true })
    const file = join(SCREENSHOTS, `developer-${name}-${look.size}-${look.locale}.png`)
    await page.screenshot({ path: file, fullPage: true })
  }
})

it('the choice of an app among the helpers stands apart from what it changes', async () => {
  const context = await visit({ size: 'desktop', locale: 'en' })
  await signInAs(context, owner)
  const page = await tab(context, `${origin}/developer/helpers`)
  const [button, pair] = [page.locator('.choose-app button'), page.locator('.pair').first()]
  const [above, below] = [await button.boundingBox(), await pair.boundingBox()]
  expect((below?.y ?? 0) - (above?.y ?? 0) - (above?.height ?? 0)).toBeGreaterThanOrEqual(16)
})

it('a person can become a developer, register an app and create test users without JavaScript', async () => {
  const context = await visit({ size: 'phone', locale: 'en', javaScriptEnabled: false })
  await signInAs(context, await person(world))
  const page = await tab(context, `${origin}/developer`)
  await toNextPage(page, () => page.click('text=Accept and start'))
  await toNextPage(page, () => page.click('main a.button'))
  await page.fill('#name', 'Sunny Day Trips')
  await page.fill('#reason_USER_INFO', 'The name stands on the ticket')
  await toNextPage(page, () => page.click('main button[type=submit]'))
  await page.getByText('The app is registered.').waitFor()
  await toNextPage(page, () => page.click('text=Make five test users'))
  await page.getByText('Their password, shown only now:').waitFor()
  expect(await page.locator('#test-users li').count()).toBe(5)
})

it('pressing the button for a new secret twice makes one secret, and shows it', async () => {
  const context = await visit({ size: 'desktop', locale: 'en' })
  await signInAs(context, owner)
  const page = await tab(context, `${origin}/developer/apps/${appKey}/secret`)
  const sent = await pressTwice(page, 'text=Make a new secret', world.pool, 'micro_app where app_key', appKey)
  expect(sent).toBe(1)
  const secret = page.getByText(/^ghas_\w{49}$/)
  await secret.waitFor()
  await page.setViewportSize({ width: 360, height: 800 })
  const hidden = await secret.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)
  expect(hidden, 'all of it can be read on a phone').toBe(0)
})

// axe needs timers, which do not run without JavaScript.
it.each([false, true])(
  'the helpers judge a request, an id_token and a jsTicket, with JavaScript %s',
  async (javaScriptEnabled) => {
    const context = await visit({ size: 'phone', locale: 'en', javaScriptEnabled })
    await signInAs(context, owner)
    const page = await tab(context, `${origin}/developer/helpers`)
    const expectAccessible = async (what: string) => {
      if (javaScriptEnabled) expect(await violations(page), what).toEqual([])
      expect(await fits(page), what).toBe(true)
    }
    await page.fill('#pasted', `${origin}/oauth2/authorize?client_id=${appKey}&redirect_uri=http://localhost:1/&x=1`)
    await toNextPage(page, () => page.click('#request button'))
    await page.getByText('It would be refused.').waitFor()
    await expectAccessible('request')
    await page.fill('#id_token', 'x')
    await toNextPage(page, () => page.click('#id-token button'))
    await page.getByText('This is no id_token').waitFor()
    await expectAccessible('id_token')
    await page.fill('#access_token', 'ghat_abc')
    await page.fill('#own', 'x')
    await toNextPage(page, () => page.click('#js-ticket button'))
    await page.getByText('none of the usual mistakes').waitFor()
    await expectAccessible('js_ticket')
    for (const path of ['/connect', '/docs?q=20012']) {
      await page.goto(origin + path)
      await expectAccessible(path)
    }
  },
)

it('a form sent after the session has ended leads to the sign-in page and from there back to its page', async () => {
  const context = await visit({ size: 'desktop', locale: 'en' })
  const page = await tab(context, `${origin}/`)
  for (const path of [`/developer/apps/${appKey}/edit`, `/developer/teams/${owner.team}`, '/account/profile']) {
    await signInAs(context, owner)
    await page.goto(origin + path)
    await context.clearCookies()
    await toNextPage(page, () =>
      page
        .locator('main form[method=post]')
        .first()
        .evaluate((form: HTMLFormElement) => form.submit()),
    )
    await page.getByText('Your session has ended.').waitFor()
    expect(await page.inputValue('input[name=return_to]')).toBe(`${path}#unsent`)
  }
})

it('all navigation links are visible on a phone', async () => {
  const context = await visit({ size: 'phone', locale: 'en' })
  await signInAs(context, owner)
  const page = await tab(context, `${origin}/account`)
  for (const path of ['/account', '/developer']) {
    await page.goto(origin + path)
    const hidden = await page
      .locator('header nav a')
      .evaluateAll((links) =>
        links.filter((link) => link.getBoundingClientRect().right > innerWidth).map((link) => link.textContent),
      )
    expect(hidden, path).toEqual([])
  }
})
