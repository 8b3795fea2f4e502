import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { visibleText } from '../acceptance/form.ts'
import { openWorld, type World } from '../harness.ts'
import { clientOf, type Developer, founder, person, registered } from '../teams/people.ts'

/** /connect and /docs show signed-in developers the values of their own apps, and of nobody else's. */

let world: World
let owner: Developer & { team: string }
let apps: string[]
beforeAll(async () => {
  world = await openWorld()
  owner = await founder(world)
  const phone = {
    scope_PHONE_NUMBER: '1',
    reason_PHONE_NUMBER: 'To call',
    redirect_uris: 'http://127.0.0.1:8080/callback',
  }
  apps = [await registered(owner, { name: 'First' })]
  world.clock.advance(1)
  apps.push(await registered(owner, { ...phone, name: 'Second' }))
  world.clock.advance(1)
  apps.push(await registered(owner, { name: 'Page', kind: 'page', redirect_uris: 'http://127.0.0.1:8080/callback' }))
})
afterAll(() => world?.close())

const read = async (path: string, by: Pick<Developer, 'browser'> = owner) => (await by.browser.open(path)).text

describe('/connect', () => {
  it('has the app’s client id in every program, and requests the scopes it holds', async () => {
    const [first = '', second = ''] = apps
    const html = await read(`/connect?app=${first}`)
    expect(html).toContain(`<code id="client-id">${first}</code>`)
    for (const id of ['node', 'python', 'java', 'go', 'php', 'csharp', 'grafana', 'gitlab', 'django']) {
      const [, source = ''] = new RegExp(`id="${id}"([\\s\\S]*?)</details>`).exec(html) ?? []
      expect(source, id).toContain(first)
      expect(source, id).not.toMatch(/"phone"|OIDScopePhone|profile phone/)
    }
    // The programs use a redirect URI that this app has not registered.
    expect(visibleText(html)).toContain('which your app has not registered')
    const other = await read(`/connect?app=${second}`)
    expect(other).toContain('openid profile phone')
    expect(visibleText(other)).not.toContain('which your app has not registered')
  })

  it('uses the newest app by default, and shows no secret for a public client', async () => {
    const html = await read('/connect')
    expect(html).toContain(`<code id="client-id">${apps[2]}</code>`)
    expect(html).not.toContain('id="client-secret"')
    expect(html).toMatch(new RegExp(`id="browser"[\\s\\S]*${apps[2]}`))
  })

  it('reveals no app of another team', async () => {
    const other = await founder(world)
    for (const who of [other, await person(world), { browser: clientOf(world).newBrowser() }]) {
      for (const path of ['/connect', '/docs']) {
        const html = await read(`${path}?app=${apps[0]}`, who)
        expect(html).not.toMatch(new RegExp(`(?<!app=)${apps[0]}`))
        expect(html).not.toContain('class="choose-app"')
      }
    }
  })
})

describe('/docs', () => {
  it.each(['en', 'zh-CN'])('gives each part a name of its own, in %s', async (locale) => {
    const html = await read(`/docs?ui_locales=${locale}`, await person(world)) // a new browser, which keeps the language
    const titles = [...html.matchAll(/<h2 id="[^"]*">([^<]*)/g)].map(([, title]) => title)
    expect(new Set(titles).size).toBe(titles.length)
    const labels = [...html.matchAll(/aria-label="([^"]*)"/g)].map(([, label = '']) => label)
    expect(labels.filter((label) => /[:：]\s*$/.test(label))).toEqual([])
  })

  it('fills the values of the app into the requests to try', async () => {
    const html = await read(`/docs?app=${apps[0]}`)
    expect(html).toContain(`name="client_id" value="${apps[0]}"`)
    expect(html).toContain(
      `/oauth/v2/authorize?app_key=${apps[0]}&amp;redirect_uri=http%3A%2F%2Flocalhost%3A8000%2Fcallback`,
    )
    expect(html).toContain('name="client_secret" value="your-client-secret"')
  })

  it.each([
    ['20012', ['contract_authorize', 'contract_token']],
    ['REFRESH_token  invalid_grant', ['token']],
    ['no such thing at all', []],
    ['<b>"', []],
  ])('finds endpoints by words in them: %s', async (q, found) => {
    const html = await read(`/docs?q=${encodeURIComponent(q)}`)
    const ids = [...html.matchAll(/class="card reference" aria-labelledby="(\w+)"/g)].map(([, id]) => id)
    expect(ids).toEqual(found)
    const contents = [...html.matchAll(/<li><a href="#(\w+)"/g)].map(([, id]) => id)
    expect(contents).toEqual(found)
    expect(visibleText(html)).toContain(`${found.length} of 17 endpoints have it.`)
    expect(html).not.toContain('<b>')
  })

  it('shows everything if the search text is too long', async () => {
    expect(await read(`/docs?q=${'a'.repeat(101)}`)).toContain('id="jwks"')
  })
})

it('the account pages link to the developer pages for developers only', async () => {
  expect(await read('/account/security')).toContain('href="/developer"')
  expect(await read('/account/security', await person(world))).not.toContain('href="/developer"')
})
