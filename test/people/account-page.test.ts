import { afterAll, beforeAll, expect, it } from 'vitest'
import { Client, dataOf } from '../acceptance/client.ts'
import { injectWire } from '../acceptance/http.ts'
import { openWorld, type World } from '../harness.ts'
import { timesOn } from '../times.ts'

/** What a person sees of the apps that use the account. */

let world: World
let client: Client
beforeAll(async () => {
  world = await openWorld()
  client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
})
afterAll(() => world?.close())

it('says beside each app what it may learn, how often it has read it and when', async () => {
  const [user, other] = [await client.makeUser(), await client.makeUser()]
  const app = await client.makeApp({ name: 'Star & Theatre' })
  const ended = await client.makeApp({ name: 'Yesterday' })
  const browser = await client.signedIn(user, app)
  const empty = await browser.open('/account?ui_locales=en')
  expect(empty.text).toContain('No app uses your account.')
  const yesterday = await client.getTokens(browser, ended)
  dataOf(await client.userInfo(yesterday.access_token))
  await client.withdraw(user)
  const { access_token } = await client.getTokens(browser, app)
  expect((await browser.open('/account')).text).toContain('Has not read anything')
  for (let n = 0; n < 12; n++) dataOf(await client.phone(access_token))
  await world.app.accessLedger.flush()
  const page = await browser.open('/account')
  expect(page.text).toContain('Star &amp; Theatre')
  expect(page.text).toContain('Can see: Your basic information, Your phone number')
  expect(page.text).toMatch(/Read your phone number 12 times, last on <time [^>]+>2026-05-06 10:34:20 UTC<\/time>/)
  expect(timesOn(page.text)).toMatchObject({ stray: [], right: { length: 2 } })
  expect(page.text).toContain('/assets/local-time.js')
  expect(page.text).toMatch(
    /Yesterday<\/h2>\s*<p>No longer has access<\/p>\s*<p><small>Read your basic information once, /,
  )
  const chinese = await browser.open('/account?ui_locales=zh-CN')
  expect(chinese.text).toContain('可以了解：您的基本信息、您的手机号码')
  expect(chinese.text).toContain('读取您的手机号码 12 次，最近一次：<time ')
  const hers = await (await client.signedIn(other, app)).open('/account?ui_locales=en')
  expect(hers.text).toContain('No app uses your account.')
})

it('asks who is not signed in to sign in, and comes back', async () => {
  const answer = await client.newBrowser().open('/account')
  expect(answer.status).toBe(200)
  expect(answer.text).toContain('name="return_to" value="/account"')
})
