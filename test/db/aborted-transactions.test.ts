import pg from 'pg'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { formatHttpDate } from '../../src/platform/lib/crypto/signing.ts'
import { createPartner } from '../../src/ticketing/partners/partner.ts'
import { newPartner } from '../../src/ticketing/partners/wire.ts'
import { type App, Client } from '../acceptance/client.ts'
import { type Answer, header, injectWire } from '../acceptance/http.ts'
import { CONSUME, consumption, decision, REFUND } from '../acceptance/seller.ts'
import { ADMIN_TOKEN, MANY_CONNECTIONS, openWorld, type World } from '../harness.ts'
import { seedOrder, seedRefund } from '../orders/orders.ts'
import { signedHeaders } from '../signer.ts'

/**
 * Many requests at once while a table is locked or the database is read-only. A request must fail with that error, not
 * with what PostgreSQL reports for later statements of the aborted transaction.
 */

const SELLER = { partnerId: '7001', clientId: 'seller', clientSecret: 'a clientSecret of these tests' }
const ROUND = 8

let world: World
let client: Client
let app: App
let admin: pg.Client

beforeAll(async () => {
  vi.stubEnv('PGOPTIONS', '-c lock_timeout=300')
  world = await openWorld({ ...MANY_CONNECTIONS, LOG_LEVEL: 'warn', AUTHORIZE_PER_MINUTE: '100000' })
  vi.unstubAllEnvs()
  client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
  app = await client.makeApp({ refresh_days: 7, redirect_uris: ['https://app.example.com/callback'] })
  admin = new pg.Client({ connectionString: world.databaseUrl })
  await admin.connect()
  const input = { partner_id: SELLER.partnerId, client_id: SELLER.clientId, name: 'Seller', stage: 'live' }
  await createPartner(world.deps, newPartner.parse(input), SELLER.clientSecret)
})
afterAll(async () => {
  await admin?.end()
  await world?.close()
})

const notice = (path: string, body: string): Promise<Answer> =>
  client.call('POST', path, { ...signedHeaders(SELLER, { path, date: formatHttpDate(world.clock.now()) }) }, body)

let last = 8_985_652_356_562_380_000n

/** Prepares one request of each kind that writes, and returns a function that sends them. */
async function oneOfEach(): Promise<() => Promise<Answer>[]> {
  const [orderId, refunded] = [++last, ++last]
  await seedOrder(world.pool, { orderId, partnerId: 7001, quantity: 3 })
  const refundId = `R${orderId}`
  await seedOrder(world.pool, { orderId: refunded, partnerId: 7001, quantity: 3 })
  await seedRefund(world.pool, { refundId, orderId: refunded, partnerId: 7001 })
  const user = await client.makeUser()
  const browser = await client.signedIn(user, app)
  const tokens = await client.getTokens(browser, app)
  const code = await client.getCode(browser, app)
  const form = await client.consentFormFor(await client.signedIn(user, app), client.request(app, { prompt: 'consent' }))
  const basic = Buffer.from(`${app.app_key}:${app.app_secret}`).toString('base64')
  const standard = (path: string, body: string) =>
    client.call(
      'POST',
      path,
      { authorization: `Basic ${basic}`, 'content-type': 'application/x-www-form-urlencoded' },
      body,
    )
  const other = await client.getTokens(browser, app)
  return () => [
    notice(CONSUME, consumption({ orderId })),
    notice(REFUND, decision(refunded, refundId, 200)),
    client.exchange(app, code),
    client.refresh(app, tokens.refresh_token),
    standard('/oauth2/token', `grant_type=refresh_token&refresh_token=${other.refresh_token}`),
    standard(
      '/oauth2/par',
      `response_type=code&scope=openid&code_challenge_method=S256&code_challenge=${'c'.repeat(43)}&redirect_uri=${encodeURIComponent(app.redirect_uri)}`,
    ),
    standard('/oauth2/revoke', `token=${other.refresh_token}`),
    client.newBrowser().submit({ ...form, action: '/sign-in' }, { passport: user.passport, password: user.password }),
    browser.submit(form, { decision: 'approve' }),
    client.call(
      'PATCH',
      `/admin/v1/apps/${app.app_key}`,
      { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
      JSON.stringify({ name: `name ${orderId}` }),
    ),
  ]
}

/** Counts the answers by status. Each 503 must have Retry-After. */
async function statusesOf(sent: Promise<Answer>[]): Promise<Record<string, number>> {
  const seen: Record<string, number> = {}
  for (const answer of await Promise.all(sent)) {
    if (answer.status === 503) expect(header(answer, 'retry-after')).toMatch(/^\d+$/)
    seen[answer.status] = (seen[answer.status] ?? 0) + 1
  }
  return seen
}

const unexpectedFailures = () =>
  world
    .logged()
    .split('\n')
    .filter((line) => line.includes('unexpected failure'))

it.each(['ticket_order', 'voucher', 'record_change', 'access_token', 'user_grant', 'browser_session'])(
  'while %s is locked, requests fail with 503, never with 500',
  async (table) => {
    const send = await Promise.all(Array.from({ length: ROUND }, oneOfEach))
    await admin.query(`begin; lock table ${table} in access exclusive mode`)
    const seen = await statusesOf(send.flatMap((each) => each()))
    await admin.query('rollback')
    expect(Object.keys(seen)).toContain('503')
    expect(Object.keys(seen)).not.toContain('500')
    expect(unexpectedFailures()).toEqual([])
  },
)

it('while the database is read-only, requests fail with 503, never with 500', async () => {
  const send = await Promise.all(Array.from({ length: ROUND }, oneOfEach))
  const name = new URL(world.databaseUrl).pathname.slice(1)
  await admin.query(`alter database ${name} set default_transaction_read_only = on`)
  await admin.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}' and pid <> pg_backend_pid()`,
  )
  const seen = await statusesOf(send.flatMap((each) => each()))
  expect(Object.keys(seen)).toContain('503')
  expect(Object.keys(seen)).not.toContain('500')
  expect(unexpectedFailures()).toEqual([])
})
