import { afterAll, beforeAll, expect, it } from 'vitest'
import { purge } from '../../src/operations/jobs/purge.ts'
import { Client, dataOf, tokenSetOf } from '../acceptance/client.ts'
import { expectFailure } from '../acceptance/expectations.ts'
import { formsOf } from '../acceptance/form.ts'
import { header, injectWire } from '../acceptance/http.ts'
import { openWorld, type World } from '../harness.ts'
import { untilLocked } from '../locks.ts'
import { StandardApp } from '../oidc/app.ts'

/** A grant ends once: what ends it a second time records nothing, and tells the app nothing. */

let world: World
let client: Client
beforeAll(async () => {
  world = await openWorld()
  client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
})
afterAll(() => world?.close())

/** A person with a grant to an app that is told of ends. */
async function granted() {
  const rp = await StandardApp.make(client, { webhook_url: 'https://app.example.com/hook' })
  const user = await client.makeUser()
  const browser = await client.signedIn(user, rp.app)
  const consented = await client.getCode(browser, rp.app, { redirect_uri: 'https://app.example.com/callback' })
  const tokens = tokenSetOf(await client.exchange(rp.app, consented))
  return { rp, user, browser, consented, tokens }
}

const recorded = async ({ app }: StandardApp) => {
  const audit = `select event, actor, cid, user_id from audit_event
    where app_key = $1 and event in ('grant_withdrawn', 'code_replayed') order by at`
  const told = 'select reason, all_ended from app_event where app_key = $1'
  return {
    audit: (await world.pool.query(audit, [app.app_key])).rows,
    told: (await world.pool.query(told, [app.app_key])).rows,
  }
}

it('by its app, though the person withdraws it at that moment', async () => {
  const { rp, user, browser, tokens } = await granted()
  const page = await browser.open('/account')
  const form = formsOf(page.text).find(({ fields }) => fields.app_key === rp.app.app_key)
  if (!form) throw new Error('nothing to withdraw')
  const holder = await world.pool.connect()
  try {
    await holder.query('begin')
    await holder.query('select from user_grant where app_key = $1 for update', [rp.app.app_key])
    const revoked = rp.post('revoke', { ...rp.credentials, token: tokens.refresh_token })
    await untilLocked(world.pool)
    const withdrawn = browser.submit(form, {})
    await untilLocked(world.pool, 2)
    await holder.query('commit')
    expect((await revoked).status).toBe(200)
    expect(header(await withdrawn, 'location')).toContain('withdrawn=')
  } finally {
    holder.release()
  }
  const { cid, user_id } = user
  const byApp = { event: 'grant_withdrawn', actor: 'app', cid, user_id }
  expect(await recorded(rp)).toEqual({ audit: [byApp], told: [] })
  expectFailure(await client.userInfo(tokens.access_token), { rescode: 20009 })
})

it('with all tokens of its app, though its code is sent again later', async () => {
  const { rp, consented, tokens } = await granted()
  dataOf(await client.userInfo(tokens.access_token))
  world.clock.advance(120)
  await client.admin('POST', `/apps/${rp.app.app_key}/end-tokens`)
  expectFailure(await client.exchange(rp.app, consented), { rescode: 20013 })
  expect(await recorded(rp)).toEqual({ audit: [], told: [] })
})

it('not at all, if its code was spent by wrong tries: nothing was issued for it', async () => {
  const { rp, browser } = await granted()
  const consented = await client.getCode(browser, rp.app, { redirect_uri: 'https://app.example.com/callback' })
  const wrong = { redirect_uri: 'https://app.example.com/wrong' }
  for (let tries = 0; tries < 3; tries++) {
    expectFailure(await client.exchange(rp.app, consented, wrong), { rescode: 20012 })
  }
  const sentAgain = async () => expectFailure(await client.exchange(rp.app, consented), { rescode: 20013 })
  world.clock.advance(120)
  await sentAgain()
  world.clock.advance(2 * 86_400)
  await purge(world.deps, {})
  await sentAgain()
  expect(await recorded(rp)).toEqual({ audit: [], told: [] })
})
