import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  CONTRACT_LANGUAGES,
  PROGRAMS,
  PUBLIC_LANGUAGES,
  quickstart,
  SERVER_LANGUAGES,
  snippetOf,
} from '../../src/authorization/developer/quickstart.ts'
import { DEMO_APP, DEMO_OIDC_APP, demoOidcUris } from '../../src/demo/seed.ts'
import { readConfig } from '../../src/platform/config/index.ts'
import { translator } from '../../src/platform/lib/web/locale.ts'
import { ALICE, Client } from '../acceptance/client.ts'
import { httpWire } from '../acceptance/http.ts'
import { sharedSystem } from '../acceptance/system.ts'
import { sharedBrowser } from '../browser.ts'
import { freePort } from '../free-port.ts'
import { demoValues, OF_NPM, OTHERS, runQuickstart, shownOfAlice } from '../interop/quickstart/quickstart.ts'
import { isInstalled } from '../is-installed.ts'
import { visit } from '../oidc/person.ts'

/** The programs of "Connect in five minutes" do what the page says. */

const ROOT = new URL('../../', import.meta.url).pathname
const CREDENTIALS = { clientId: DEMO_OIDC_APP.appKey, clientSecret: DEMO_OIDC_APP.secret }

let origin: string
let client: Client
beforeAll(async () => {
  origin = (await sharedSystem()).origin
  client = new Client(httpWire(origin), origin)
})

/** Runs `work` in a temporary folder inside the project, so that Node programs find its packages. */
async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  mkdirSync(join(ROOT, 'node_modules/.cache'), { recursive: true })
  const folder = mkdtempSync(join(ROOT, 'node_modules/.cache/quickstart-'))
  try {
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const signIn = async (url: string): Promise<string> =>
  (await visit(client.newBrowser(), url, { user: ALICE })).location.href

/** `QUICKSTART=python,go,java,php` runs these too, downloading their libraries. */
const requested = (process.env.QUICKSTART ?? '').split(',')
/** This program needs no libraries. */
const withoutLibraries = isInstalled('python3') ? ['contract-python'] : []

describe('the program for', () => {
  it.each([...OF_NPM, ...withoutLibraries, ...OTHERS.filter((id) => requested.includes(id))])(
    '%s signs a person in',
    async (id) => {
      const values = demoValues(id, origin)
      const { skipped, shown } = await inFolder(async (folder) =>
        runQuickstart(id, { root: ROOT, folder, values, port: await freePort(), visit: signIn }),
      )
      if (skipped) throw new Error(`NOT RUN: ${skipped}`)
      expect(shown).toMatch(shownOfAlice(id))
    },
  )

  it('a web page, a public client, signs a person in', async () => {
    const library = readFileSync(join(ROOT, 'node_modules/oauth4webapi/build/index.js'), 'utf8')
    let source = ''
    const server = createServer((request, response) => {
      if (request.url === '/oauth4webapi.js' || request.url === '/app.js') {
        const script = request.url === '/app.js' ? source : library
        return response.writeHead(200, { 'Content-Type': 'text/javascript' }).end(script)
      }
      const imports = JSON.stringify({ imports: { oauth4webapi: '/oauth4webapi.js' } })
      const scripts = `<script type="importmap">${imports}</script><script type="module" src="/app.js"></script>`
      return response.writeHead(200, { 'Content-Type': 'text/html' }).end(`<!doctype html><body>${scripts}`)
    }).listen(0, '127.0.0.1')
    const page = await (await sharedBrowser()).newPage()
    try {
      const { port } = server.address() as AddressInfo
      const own = `http://127.0.0.1:${port}`
      const app = await client.makeApp({
        redirect_uris: [`${own}/callback`],
        token_auth_methods: ['none'],
        cors_origins: [own],
        http_allowed: true,
      })
      const values = { issuer: origin, clientId: app.app_key, clientSecret: '' }
      source = snippetOf('browser', values).replaceAll('8080', String(port))
      await page.goto(`${own}/callback`)
      await page.fill('#passport', ALICE.passport)
      await page.fill('#password', ALICE.password)
      await page.click('main button[type=submit]')
      await page.click('button[value=approve]')
      await page.waitForFunction(() => document.body.textContent?.includes('1-10001'))
    } finally {
      await page.context().close()
      server.close()
    }
  })
})

describe('the /connect page', () => {
  const shownWith = (environment: Record<string, string> = {}) =>
    quickstart(readConfig({ PUBLIC_URL: 'http://localhost:3000', ...environment }), translator('en'))

  it('shows the credentials of the demo only if there is a demo', () => {
    const shown = shownWith()
    expect(shown).toMatchObject({ ...CREDENTIALS, demo: true, issuer: 'http://localhost:3000' })
    const inContract = [DEMO_APP.appKey, DEMO_APP.secret]
    for (const { source } of shown.contract) for (const value of inContract) expect(source).toContain(value)
    const without = JSON.stringify(shownWith({ DEMO: 'off' }))
    for (const value of [...Object.values(CREDENTIALS), ...inContract]) expect(without).not.toContain(value)
  })

  it('uses a redirect URI that the demo has registered', () => {
    expect(demoOidcUris(3001).redirect_uris).toContain('http://127.0.0.1/callback')
  })

  it('has every existing snippet, filled in and short', () => {
    const { servers, clients, contract } = shownWith()
    const files = readdirSync(join(ROOT, 'views/developer/snippets')).map((name) => name.replace('.txt', ''))
    expect([...SERVER_LANGUAGES, ...PUBLIC_LANGUAGES, ...CONTRACT_LANGUAGES].map(({ id }) => id).sort()).toEqual(
      files.sort(),
    )
    for (const { id, source } of [...servers, ...contract, ...clients]) {
      expect(source, id).not.toMatch(/\{\{/)
      expect(source, id).toContain('http://localhost:3000')
      expect(source.split('\n').length, id).toBeLessThan(65)
    }
  })

  it('has the filled-in settings of every existing program, with the callback it is registered for', () => {
    const { programs } = shownWith()
    const files = readdirSync(join(ROOT, 'views/developer/programs')).map((name) => name.replace('.txt', ''))
    expect(PROGRAMS.map(({ id }) => id).sort()).toEqual(files.sort())
    for (const { id, callback, source } of programs) {
      expect(source, id).not.toMatch(/\{\{/)
      for (const value of ['http://localhost:3000', 'your-client-id', 'your-client-secret']) {
        expect(source, id).toContain(value)
      }
      // Most programs build this address themselves.
      const [, shown = callback] = /https:\/\/app\.example\.com(\/\S*callback)/.exec(source) ?? []
      expect(shown, id).toBe(callback)
    }
  })
})
