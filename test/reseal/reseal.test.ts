import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildApp } from '../../src/app.ts'
import { verifyCredentials } from '../../src/authorization/oauth/index.ts'
import { listSigningKeys } from '../../src/authorization/oidc/index.ts'
import { SigningKeys } from '../../src/authorization/oidc/signing-key-cache.ts'
import { createMicroApp, rotateSecret } from '../../src/authorization/registry/index.ts'
import { createOperator, newOperatorToken } from '../../src/operations/operators/index.ts'
import { resealEverything } from '../../src/operations/reseal/index.ts'
import { checkSecretKey } from '../../src/platform/db/installation.ts'
import type { Deps } from '../../src/platform/deps.ts'
import { deriveKeys } from '../../src/platform/lib/crypto/keys.ts'
import { parseInput } from '../../src/platform/lib/json/input.ts'
import { knownDevice, rememberDevice } from '../../src/platform/throttle/device.ts'
import { createPartner, findPartner, setAesKey, setContact, webhookSecret } from '../../src/ticketing/partners/index.ts'
import { Browser } from '../acceptance/browser.ts'
import { Client, dataOf, tokenSetOf } from '../acceptance/client.ts'
import { injectWire, type Wire } from '../acceptance/http.ts'
import { gatehouse } from '../cli-runner.ts'
import { openWorld, SECRET_KEY, type World } from '../harness.ts'

/** A rotation of SECRET_KEY, step by step as described in OPERATIONS. */

const NEXT = 'the secret key that comes after the one of these tests'
const AES_KEY = '0123456789abcdef'

let world: World
const openApps: { close(): Promise<void> }[] = []
beforeAll(async () => {
  world = await openWorld()
  await checkSecretKey(world.deps)
})
afterAll(async () => {
  for (const app of openApps) await app.close()
  await world.close()
})

/** A process with these keys, and a client for it. */
async function processWith(key: string, ...old: string[]): Promise<{ deps: Deps; client: Client; wire: Wire }> {
  const deps = { ...world.deps, keys: deriveKeys(key, old) }
  await checkSecretKey(deps)
  const app = await buildApp({ deps, log: world.log, readiness: { draining: false } })
  await app.ready()
  openApps.push(app)
  const wire = injectWire(app)
  return { deps, client: new Client(wire, deps.config.PUBLIC_URL), wire }
}

const account = { kind: 'passport', name: 'alice' } as const
const rowsOf = async (text: string) => (await world.pool.query(text)).rows

async function partnerOf(deps: Deps) {
  const { partner_id } = await createPartner(deps, parseInput(createPartner.input, { name: 'Seller' }))
  await setAesKey(deps, partner_id, { aes_key: AES_KEY })
  const contact = { name: 'Lin', mail: 'lin@example.com', webhook_url: 'https://hooks.example/' }
  const { webhook_secret } = await setContact(deps, partner_id, { role: 'product', ...contact })
  const read = async (by: Deps) => {
    const found = await findPartner(by, partner_id)
    const hook = { partnerId: partner_id, role: 'product', url: contact.webhook_url } as const
    return {
      secrets: found?.secrets.map(({ secret }) => secret),
      aes: found?.aes_key,
      hook: await webhookSecret(by, hook),
    }
  }
  expect((await read(deps)).hook).toBe(webhook_secret)
  return { partner_id, read }
}

describe('a rotation of SECRET_KEY', () => {
  it('invalidates nothing, and everything encrypted is readable without the old key afterwards', async () => {
    const before = await processWith(SECRET_KEY)
    const user = await before.client.makeUser()
    const app = await before.client.makeApp({ refresh_policy: 'rotating' })
    const idle = await createMicroApp(
      before.deps,
      parseInput(createMicroApp.input, { name: 'Idle', hosts: ['a.example'], scopes: ['USER_INFO'] }),
    )
    // This app has two secrets for a while.
    const second = await rotateSecret(before.deps, idle.app_key, { overlap_s: 3_600 })
    const browser = await before.client.signedIn(user, app)
    const tokens = await before.client.getTokens(browser, app)
    const consented = await before.client.getCode(browser, app)
    const parameters = before.client.request(app)
    const form = await before.client.consentFormFor(browser, parameters)
    const device = rememberDevice(before.deps, account, undefined)
    const partner = await partnerOf(before.deps)
    await new SigningKeys(before.deps).publicJwks()
    const robot = await createOperator(before.deps, { name: 'robot', role: 'viewer', days: 400 })

    // Step 1: one process knows both keys and issues tokens that the other one accepts.
    const both = await processWith(NEXT, SECRET_KEY)
    const madeByBoth = await both.client.getTokens(browser, app)
    for (const { access_token } of [tokens, madeByBoth]) {
      dataOf(await before.client.userInfo(access_token))
      dataOf(await both.client.userInfo(access_token))
    }
    expect(await partner.read(both.deps)).toEqual(await partner.read(before.deps))
    const laterPartner = await partnerOf(both.deps)
    expect((await laterPartner.read(before.deps)).aes).toBe(AES_KEY)

    // Step 2, once all processes know both keys.
    const progress: number[] = []
    const first = await resealEverything(both.deps, ({ seen, total }) => progress.push(seen / total))
    expect(first).toMatchObject({ resealed: 8, sealed_before: 0, unreadable: { total: 0, rows: [] } })
    expect(progress.at(-1)).toBe(1)
    const app_keys = [app.app_key, idle.app_key].sort()
    expect(first.unused_secrets).toEqual({ total: 3, apps: 2, app_keys })
    // An operator's token lasts longer than those of micro-apps and than the marks of browsers.
    const ends = { tokens_end_at: robot.expires_at, droppable_at: null }
    expect(first).toMatchObject(ends)
    world.clock.advance(10) // neither this nor a later token of the new key changes these times
    await newOperatorToken(both.deps, { name: 'robot', token_name: 'of the new key', days: 500 })
    expect(await resealEverything(both.deps)).toMatchObject({ resealed: 0, sealed_before: 8, ...ends })

    // A cookie, a form, a code, tokens, a secret and a browser mark made with the old key still work.
    const rotated = tokenSetOf(await both.client.refresh(app, tokens.refresh_token))
    expect(tokenSetOf(await both.client.refresh(app, tokens.refresh_token))).toEqual(rotated)
    dataOf(await both.client.userInfo(tokens.access_token))
    tokenSetOf(await both.client.exchange(app, consented))
    const moved = new Browser(both.wire, both.deps.config.PUBLIC_URL)
    for (const [name, value] of browser.cookies) moved.cookies.set(name, value)
    expect((await moved.submit(form, { decision: 'approve' })).status).toBe(303)
    expect(knownDevice(both.deps, account, device)).toBeDefined()

    // Step 3: without the old key.
    const alone = await processWith(NEXT)
    dataOf(await alone.client.userInfo(rotated.access_token))
    tokenSetOf(await alone.client.refresh(app, rotated.refresh_token))
    expect((await partner.read(alone.deps)).aes).toBe(AES_KEY)
    expect((await laterPartner.read(alone.deps)).secrets).toHaveLength(1)
    await new SigningKeys(alone.deps).signer('RS256')
    await expect(checkSecretKey({ db: world.deps.db, keys: deriveKeys(SECRET_KEY) })).rejects.toThrow(
      'another SECRET_KEY',
    )
    const events = await rowsOf(
      `select event, count(*)::int as n from audit_event where event like 'secret%' group by 1 order by 1`,
    )
    expect(events).toEqual([
      { event: 'secret_key_replaced', n: 1 },
      { event: 'secrets_resealed', n: 2 },
    ])
    // The secret of the idle app is still hashed with the old key, as the command reports.
    const settings = { DATABASE_URL: world.databaseUrl, SECRET_KEY: NEXT }
    const none = await gatehouse(settings, 'reseal')
    expect([none.code, none.stderr]).toEqual([1, 'SECRET_KEYS_OLD is empty: give the keys that SECRET_KEY replaces\n'])
    const reported = await gatehouse({ ...settings, SECRET_KEYS_OLD: SECRET_KEY }, 'reseal')
    expect(reported.stdout).toContain(
      `app_secrets still hashed with an old key: 1; they are rehashed on next use or rotation:`,
    )
    expect(reported.stdout).toContain(`rotation:\n  ${idle.app_key}\nthe last token`)
    expect(reported.stdout + reported.stderr).not.toContain(NEXT)
    for (const { app_secret } of [idle, second]) {
      const credentials = { appKey: idle.app_key, appSecrets: [app_secret ?? ''] }
      await expect(verifyCredentials(alone.deps, credentials, '127.0.0.1')).rejects.toThrow()
      await verifyCredentials(both.deps, credentials, '127.0.0.1')
      await verifyCredentials(alone.deps, credentials, '127.0.0.1')
    }
    expect((await resealEverything(both.deps)).unused_secrets).toEqual({ total: 0, apps: 0, app_keys: [] })
    expect((await listSigningKeys(alone.deps)).length).toBe(2)
  })

  it('counts values that no key decrypts, and names some of them', async () => {
    const { partner_id } = await partnerOf((await processWith(NEXT)).deps)
    await rowsOf(
      `insert into partner_secret (secret_id, partner_id, sealed, signs, created_at)
       select gen_random_uuid(), ${partner_id}, 'not sealed', false, now() from generate_series(1, 21) returning 1`,
    )
    const settings = { DATABASE_URL: world.databaseUrl, SECRET_KEY: NEXT, SECRET_KEYS_OLD: SECRET_KEY }
    const { stdout } = await gatehouse(settings, 'reseal')
    expect(stdout).toMatch(
      /^values that no key decrypts: 21; set them again:\n( {2}partner_secret \d+ [-0-9a-f]{36}\n){20} {2}…$/m,
    )
  })
})
