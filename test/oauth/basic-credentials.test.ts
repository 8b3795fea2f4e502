import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, Client } from '../acceptance/client.ts'
import { expectFailure } from '../acceptance/expectations.ts'
import { injectWire, queryOf } from '../acceptance/http.ts'
import { openWorld, type World } from '../harness.ts'

/** RFC 6749 §2.3.1: client id and secret are form-encoded before they are joined and Base64-encoded, but many clients skip that. */

let world: World
let client: Client
let app: App
beforeAll(async () => {
  world = await openWorld({ CLIENT_FAILURES: '4' })
  client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
  app = await client.makeApp({ app_key: `basic-_${Date.now() % 1000}` })
})
afterAll(() => world?.close())

/** Every character as %XX, as a strict client may send it. */
const encoded = (text: string): string =>
  [...text].map((one) => `%${one.charCodeAt(0).toString(16).padStart(2, '0')}`).join('')

const withBasic = (credentials: string, query: Record<string, string> = {}) =>
  client.call('POST', `/oauth/v2/api/token?${queryOf({ grant_type: 'refresh_token', refresh_token: 'x', ...query })}`, {
    authorization: `Basic ${Buffer.from(credentials).toString('base64')}`,
  })
/** Valid credentials get as far as the error about the invalid refresh token. */
const AUTHENTICATED = { rescode: 20006 }
const WRONG_CREDENTIALS = { rescode: 20001 }

describe('Authorization: Basic', () => {
  it('is accepted both raw and percent-encoded', async () => {
    const { app_key, app_secret } = app
    for (const key of [app_key, encoded(app_key), app_key.replace('-', '%2D')]) {
      for (const secret of [app_secret, encoded(app_secret), app_secret.replaceAll('-', '%2d')]) {
        expectFailure(await withBasic(`${key}:${secret}`), AUTHENTICATED)
      }
    }
  })

  it('in either encoding may be accompanied by the same secret in the query', async () => {
    const { app_key, app_secret } = app
    for (const secret of [app_secret, encoded(app_secret)]) {
      expectFailure(await withBasic(`${encoded(app_key)}:${secret}`, { app_key, app_secret }), AUTHENTICATED)
    }
    expectFailure(await withBasic(`${encoded(app_key)}:another%20one`, { app_key, app_secret }), { rescode: 20005 })
  })

  it('counts one failure for a wrong secret even if it is tried both raw and decoded', async () => {
    const limited = await client.makeApp()
    for (let sent = 0; sent < 4; sent++)
      expectFailure(await withBasic(`${limited.app_key}:wr%6Fng+one`), WRONG_CREDENTIALS)
    const { status } = await withBasic(`${limited.app_key}:wr%6Fng+one`)
    expect(status).toBe(429)
  })

  it('is refused as wrong if it cannot be decoded', async () => {
    const one = await client.makeApp()
    for (const secret of ['%', '%zz', '%ff', '%00'])
      expectFailure(await withBasic(`${one.app_key}:${secret}`), WRONG_CREDENTIALS)
    const { app_secret } = one
    for (const key of ['%', '%ff', '%00']) expectFailure(await withBasic(`${key}:${app_secret}`), WRONG_CREDENTIALS)
  })
})
