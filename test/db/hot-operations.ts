import { expect } from 'vitest'
import { formatHttpDate } from '../../src/platform/lib/crypto/signing.ts'
import { listRows } from '../../src/sandbox/portal/traffic/store.ts'
import { listOrders } from '../../src/ticketing/orders/show-order.ts'
import { createPartner } from '../../src/ticketing/partners/partner.ts'
import { newPartner } from '../../src/ticketing/partners/wire.ts'
import type { Browser } from '../acceptance/browser.ts'
import { type App, Client, dataOf, tokenSetOf } from '../acceptance/client.ts'
import { expectFailure } from '../acceptance/expectations.ts'
import { type Answer, injectWire } from '../acceptance/http.ts'
import { CONSUME, consumption } from '../acceptance/seller.ts'
import { ADMIN_TOKEN, type World } from '../harness.ts'
import { bodyOf, StandardApp } from '../oidc/app.ts'
import { signedHeaders } from '../signer.ts'

/** The service's most frequent operations and lists of large tables, with the rows and pages that each may touch. */

export const AT_ONCE = 30
const PEOPLE = 6
const SELLER = { partnerId: '7001', clientId: 'seller', clientSecret: 'a clientSecret of these tests' }

/** Prepares an operation, and returns the part that is observed. */
type Prepared = () => Promise<() => Promise<unknown>>

export interface Bounds {
  /** Limits for all statements of one request. */
  readonly rows: number
  readonly pages: number
  /** Counts only statements with this beginning. */
  readonly only?: string
}

export const times = <T>(count: number, make: () => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, make))

export async function createSeller(world: World): Promise<void> {
  const input = newPartner.parse({ partner_id: 7001, client_id: SELLER.clientId, name: 'Seller', stage: 'live' })
  await createPartner(world.deps, input, SELLER.clientSecret)
}

export const OPERATIONS = [
  'A5 reads a profile',
  'A4 reads a phone number',
  'A1 shows the page to a signed-in user',
  'A1 issues a code',
  'A2 exchanges a code',
  'A2 refuses a used code',
  'A3 refreshes, policy fixed',
  'A3 refreshes, policy rotating',
  'A3 repeats the answer of a rotation',
  'A2 refuses a wrong secret',
  'userinfo reads claims',
  'a client introspects a token',
  'the standard token endpoint exchanges a code',
  'a client revokes an access token',
  'a notice changes an order',
  'a notice is repeated',
  'an operator lists the grants of a user',
  'an operator lists the data accesses of a user',
  'an operator lists the next page of data accesses',
  'data accesses are written',
  'an operator lists the orders of one partner',
  'an operator lists users',
  'an operator lists the next page of users',
  'an operator searches for a passport',
  'an operator lists the next page of orders',
  'an operator lists the grants to an app',
  'a partner lists its failed calls',
  'a partner searches for an order',
  'a partner searches for a refund',
] as const

const cursor = (keys: readonly unknown[]): string => Buffer.from(JSON.stringify(keys)).toString('base64url')

/** Creates the micro-apps, users and tokens that it needs. */
export async function hotOperations(
  world: World,
): Promise<Readonly<Record<(typeof OPERATIONS)[number], { readonly prepare: Prepared } & Bounds>>> {
  const client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
  const fixed = await client.makeApp()
  const rotating = await client.makeApp({ refresh_policy: 'rotating' })
  const people = await times(PEOPLE, async () => client.signedIn(await client.makeUser(), fixed))
  /** The orders in the tables are the seller's; each gets one notice. */
  let orderId = 0n
  let turn = 0
  /** One of a few users who are signed in already, since signing in is slow on purpose. */
  const signedInUser = () => people[turn++ % people.length] as Browser
  const consented = (app: App) => client.getCode(signedInUser(), app)
  const tokensOf = async (app: App) => tokenSetOf(await client.exchange(app, await consented(app)))
  const consenting = await client.makeUser()
  await client.getCode(await client.signedIn(consenting, fixed), fixed)
  const tokenSets = await times(AT_ONCE, () => tokensOf(fixed))
  async function notify(body: string): Promise<void> {
    const date = formatHttpDate(world.clock.now())
    const headers = { ...signedHeaders(SELLER, { path: CONSUME, date }) }
    const { text } = await client.call('POST', CONSUME, headers, body)
    expect(text).toContain('"code":200')
  }
  const newNotice = () =>
    consumption({
      orderId: ++orderId,
      more: ',"voucherList":[{"voucher":"V","voucherInvalidTime":"2026-12-31 23:59:59","quantity":1,"status":1}]',
    })

  const read = (one: (token: string) => Promise<Answer>, check: (answer: Answer) => unknown = dataOf): Prepared => {
    let next = 0
    return async () => async () => check(await one(tokenSets[next++ % tokenSets.length]?.access_token ?? ''))
  }
  const listed = async (path: string, query: Readonly<Record<string, string>>): Promise<void> => {
    const address = `/admin/v1${path}?${new URLSearchParams(query)}`
    const { status, text } = await client.call('GET', address, { authorization: `Bearer ${ADMIN_TOKEN}` })
    expect(status, text).toBe(200)
  }
  const accesses = `/users/${consenting.cid}/${consenting.user_id}/accesses`
  await world.pool.query(
    `insert into data_access select routing_key, cid, user_id, $1::timestamptz - n * interval '1 h', 'app-' || n % 9, 'phone', 1, $1
     from user_profile, generate_series(1, 5000) n where user_id = $2`,
    [world.clock.now(), consenting.user_id],
  )
  const standard = new StandardApp(client, fixed)
  await client.update(fixed, { redirect_uris: [fixed.redirect_uri] })

  return {
    'A5 reads a profile': { prepare: read((token) => client.userInfo(token)), rows: 4, pages: 30 },
    'A4 reads a phone number': { prepare: read((token) => client.phone(token)), rows: 4, pages: 30 },
    'A1 shows the page to a signed-in user': {
      prepare: async () => {
        const browser = signedInUser()
        return async () => expect((await browser.open(client.authorizePath(client.request(fixed)))).status).toBe(200)
      },
      rows: 5,
      pages: 30,
    },
    'A1 issues a code': {
      prepare: async () => {
        const browser = signedInUser()
        const form = await client.consentFormFor(browser, client.request(fixed))
        return async () => expect((await browser.submit(form, { decision: 'approve' })).status).toBe(303)
      },
      rows: 6, // the session is looked at again under the lock
      // 52 to 62 alone. Thirty at once share statements, but fewer do on a busy machine.
      pages: 120,
    },
    'A2 exchanges a code': {
      prepare: async () => {
        const code = await consented(fixed)
        return async () => tokenSetOf(await client.exchange(fixed, code))
      },
      rows: 8,
      pages: 60,
    },
    'A2 refuses a used code': {
      prepare: async () => {
        const code = await consented(fixed)
        tokenSetOf(await client.exchange(fixed, code))
        return async () => expectFailure(await client.exchange(fixed, code), { rescode: 20013 })
      },
      rows: 8,
      pages: 60,
    },
    'A3 refreshes, policy fixed': {
      prepare: async () => {
        const { refresh_token } = await tokensOf(fixed)
        return async () => tokenSetOf(await client.refresh(fixed, refresh_token))
      },
      rows: 8,
      pages: 60,
    },
    'A3 refreshes, policy rotating': {
      prepare: async () => {
        const { refresh_token } = await tokensOf(rotating)
        return async () => tokenSetOf(await client.refresh(rotating, refresh_token))
      },
      rows: 8,
      pages: 60,
    },
    'A3 repeats the answer of a rotation': {
      prepare: async () => {
        const { refresh_token } = await tokensOf(rotating)
        await client.refresh(rotating, refresh_token)
        return async () => tokenSetOf(await client.refresh(rotating, refresh_token))
      },
      rows: 12,
      pages: 80,
    },
    'A2 refuses a wrong secret': {
      prepare: async () => {
        const app = await client.makeApp()
        return async () => {
          const answer = await client.exchange(app, { code: 'C', state: 'S' }, { app_secret: 'wrong' })
          expectFailure(answer, { rescode: 20001 })
        }
      },
      rows: 8,
      pages: 60,
    },
    'an operator lists the grants of a user': {
      prepare: async () => async () => expect(await client.grants(consenting)).toHaveLength(1),
      rows: 3, // the grant, its user and its app, either of which may have ended it
      pages: 16,
    },
    'an operator lists the data accesses of a user': {
      prepare: async () => () => listed(accesses, { limit: '10' }),
      rows: 15,
      pages: 100,
    },
    'an operator lists the next page of data accesses': {
      prepare: async () => {
        const after = cursor([world.clock.now().toISOString(), 'app-5', 'phone'])
        return () => listed(accesses, { limit: '10', after })
      },
      rows: 15,
      pages: 100,
    },
    'data accesses are written': {
      prepare: async () => {
        for (const { access_token } of tokenSets.slice(0, PEOPLE)) dataOf(await client.userInfo(access_token))
        return () => world.app.accessLedger.flush()
      },
      rows: 4 * PEOPLE,
      pages: 40 * PEOPLE,
      only: 'insert into data_access',
    },
    'userinfo reads claims': { prepare: read((token) => standard.userInfo(token), bodyOf), rows: 4, pages: 30 },
    'a client introspects a token': {
      prepare: read((token) => standard.post('introspect', { ...standard.credentials, token }), bodyOf),
      rows: 8,
      pages: 50,
    },
    'the standard token endpoint exchanges a code': {
      prepare: async () => {
        const code = await standard.code(signedInUser(), consenting)
        return async () => expect(bodyOf(await standard.exchange(code))).toHaveProperty('id_token')
      },
      rows: 10,
      pages: 80,
    },
    'a client revokes an access token': {
      prepare: async () => {
        const { access_token } = await standard.tokens(signedInUser(), consenting)
        return async () => bodyOf(await standard.post('revoke', { ...standard.credentials, token: access_token }))
      },
      rows: 8,
      pages: 80, // 50, and more when a row of the audit log splits pages of its nine indexes
    },
    'a notice changes an order': {
      prepare: async () => {
        const body = newNotice()
        return () => notify(body)
      },
      rows: 12,
      pages: 150,
    },
    'a notice is repeated': {
      prepare: async () => {
        const body = newNotice()
        await notify(body)
        return () => notify(body)
      },
      rows: 8,
      pages: 100,
    },
    'an operator lists the orders of one partner': {
      prepare: async () => async () =>
        expect((await listOrders(world.deps, { partner_id: 8n, limit: 10 })).orders).toEqual([]),
      rows: 1,
      pages: 20,
    },
    'an operator lists users': {
      prepare: async () => () => listed('/users', { limit: '10' }),
      rows: 25,
      pages: 120,
    },
    'an operator lists the next page of users': {
      prepare: async () => {
        const after = cursor([world.clock.now().toISOString(), 1, 'u5'])
        return () => listed('/users', { limit: '10', after })
      },
      rows: 25,
      pages: 120,
    },
    'an operator searches for a passport': {
      prepare: async () => () => listed('/users', { limit: '10', passport: 'no such' }),
      rows: 30,
      pages: 20,
    },
    'an operator lists the next page of orders': {
      prepare: async () => {
        const after = cursor([world.clock.now().toISOString(), '900'])
        return () => listed('/orders', { limit: '10', after })
      },
      rows: 12,
      pages: 60,
    },
    'an operator lists the grants to an app': {
      prepare: async () => () => listed('/grants', { limit: '10', app_key: 'app-0' }),
      rows: 34,
      pages: 140,
    },
    'a partner lists its failed calls': {
      prepare: async () => async () => expect(await listRows(world.deps.db, FAILED, NOW, 50)).toEqual([]),
      rows: 1,
      pages: 20,
    },
    'a partner searches for an order': {
      prepare: async () => async () => {
        const found = await listRows(world.deps.db, { ...ANY, searches: [{ by: 'order', value: '900' }] }, NOW, 31)
        expect(found.length).toBeLessThanOrEqual(1) // none while there are only three orders
      },
      rows: 2,
      pages: 40,
    },
    'a partner searches for a refund': {
      prepare: async () => async () =>
        expect(await listRows(world.deps.db, { ...ANY, searches: [{ by: 'refund', value: 'R-1' }] }, NOW, 31)).toEqual(
          [],
        ),
      rows: 1,
      pages: 40,
    },
  }
}

const ANY = { partnerId: 7001n } as const
const FAILED = { partnerId: 7001n, direction: 'in', outcome: 'failed' } as const
const NOW = ['infinity', 'ffffffff-ffff-ffff-ffff-ffffffffffff'] as const
