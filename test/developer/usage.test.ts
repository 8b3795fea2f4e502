import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { recentUsage, writeUsage } from '../../src/authorization/usage/index.ts'
import { purge } from '../../src/operations/jobs/index.ts'
import { type Client, newState } from '../acceptance/client.ts'
import { visibleText } from '../acceptance/form.ts'
import { type Answer, header } from '../acceptance/http.ts'
import { openWorld, type World } from '../harness.ts'
import { clientOf, type Developer, founder, registered, secretOf, tester, withAuthenticator } from '../teams/people.ts'

/** The daily usage of an app, as its team sees it: counted in memory, written in batches. */

let world: World
let client: Client
let owner: Developer & { team: string }
beforeAll(async () => {
  world = await openWorld({ CODE_DUPLICATE_WINDOW_S: '0', REFRESHES_PER_MINUTE: '1000' })
  client = clientOf(world)
  owner = await founder(world)
  await withAuthenticator(world, owner)
})
afterAll(() => world?.close())

const seen = (answer: Answer) => visibleText(answer.text).replace(/\s+/g, ' ')

async function appWithSecret() {
  const app_key = await registered(owner)
  const app_secret = await secretOf(owner, app_key)
  return { app_key, app_secret, redirect_uri: 'http://localhost:8000/callback' }
}

const countsOf = async (appKey: string) =>
  (await recentUsage(world.deps, appKey, 30)).usage.map(({ kind, code, times }) => `${kind} ${code}: ${times}`).sort()

/** Refusals are attributed to apps a second later, or more on a busy machine. */
const untilCounted = (appKey: string, counts: readonly string[]): Promise<void> =>
  expect
    .poll(async () => {
      await writeUsage(world.deps, world.app.sampledLog)
      return countsOf(appKey)
    })
    .toEqual(counts)

describe('the usage of an app', () => {
  it('counts authorizations, exchanges, refreshes, reads, and refusals by code', async () => {
    const app = await appWithSecret()
    const other = await appWithSecret()
    const browser = await tester(world, owner, app.app_key)
    const tokens = await client.getTokens(browser, app, { scope: 'USER_INFO' })
    await client.refresh(app, tokens.refresh_token)
    await client.userInfo(tokens.access_token)
    await client.userInfo(tokens.access_token)
    await client.call('POST', '/oauth2/userinfo', { authorization: `Bearer ${tokens.access_token}` }, '')
    const wrong = { ...app, app_secret: other.app_secret }
    await client.refresh(wrong, tokens.refresh_token) // only claims to be the app
    await client.refresh(app, 'nonsense') // authenticated by the app's secret
    await client.phone(tokens.access_token) // authenticated by its token
    const redirect_uri = 'https://elsewhere.example/'
    await browser.open(
      client.authorizePath({ ...app, redirect_uri, response_type: 'code', scope: 'USER_INFO', state: newState() }),
    )
    await untilCounted(app.app_key, [
      'authorization 0: 1',
      'claimed 20001: 1',
      'claimed 20012: 1',
      'exchange 0: 1',
      'read 0: 3',
      'refresh 0: 1',
      'refused 20004: 1',
      'refused 20006: 1',
    ])
    expect(await countsOf(other.app_key)).toEqual([])
    const page = await owner.browser.open(`/developer/apps/${app.app_key}/usage`)
    expect(seen(page)).toContain('Data read Altogether: 3')
    expect(seen(page)).toContain('20012 RedirectMismatchException 1 · of these without a secret: 1')
    expect(seen(page)).toContain('2 of 1,000 in this minute')
    const file = await owner.browser.open(`/developer/apps/${app.app_key}/usage.csv`)
    expect(header(file, 'content-type')).toBe('text/csv; charset=utf-8')
    expect(file.text.split('\r\n').slice(0, 3)).toEqual([
      'day,kind,rescode,times',
      '2026-05-06,authorization,,1',
      '2026-05-06,claimed,20001,1',
    ])
  })

  it('counts nothing for an app that does not exist', async () => {
    const app = await appWithSecret()
    await client.refresh({ app_key: 'no-such-app', app_secret: 'x', redirect_uri: '' }, 'x')
    await client.refresh(app, 'nonsense')
    await untilCounted(app.app_key, ['refused 20006: 1'])
    const { rows } = await world.pool.query("select 1 from app_usage where app_key = 'no-such-app'")
    expect(rows).toEqual([])
  })

  it('is summed per day, survives a failing database, and is deleted after 90 days', async () => {
    const { app_key } = await appWithSecret()
    const { usage } = world.deps.metrics
    usage.count(app_key, 'read', 0, 5)
    const failing = { ...world.deps, db: { exec: () => Promise.reject(new Error('away')) } as never }
    await writeUsage(failing, world.app.sampledLog)
    usage.count(app_key, 'read', 0, 2)
    await Promise.all([writeUsage(world.deps, world.app.sampledLog), writeUsage(world.deps, world.app.sampledLog)])
    world.clock.advance(86_400)
    usage.count(app_key, 'read')
    await writeUsage(world.deps, world.app.sampledLog)
    const { usage: days } = await recentUsage(world.deps, app_key, 30)
    expect(days.map(({ day, times }) => [day.toISOString(), times])).toEqual([
      ['2026-05-06T00:00:00.000Z', 7],
      ['2026-05-07T00:00:00.000Z', 1],
    ])
    world.clock.advance(89 * 86_400)
    await purge(world.deps, {})
    expect((await recentUsage(world.deps, app_key, 120)).usage).toHaveLength(1)
  })

  it('is charted by date, without a time of day', async () => {
    const reader = await founder(world)
    const app_key = await registered(reader)
    const today = world.clock.now().toISOString().slice(0, 10)
    await world.pool.query("insert into app_usage values ($1, $2, 'read', 0, 3)", [app_key, today])
    const page = await reader.browser.open(`/developer/apps/${app_key}/usage`)
    expect(page.text).toContain(`<title>${today}: 3</title>`)
    expect(seen(page)).toContain(today)
    expect(page.text).not.toMatch(/00:00|<time/)
  })
})
