import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { formatHttpDate } from '../../src/lib/http-date.ts'
import { createPartner } from '../../src/registry/partner.ts'
import { newPartner } from '../../src/registry/partner-wire.ts'
import type { Browser } from '../acceptance/browser.ts'
import { type App, Client, dataOf, type TokenSet, tokenSetOf } from '../acceptance/client.ts'
import { expectFailure } from '../acceptance/expectations.ts'
import { type Answer, injectWire } from '../acceptance/http.ts'
import { CONSUME, consumption } from '../acceptance/seller.ts'
import { openWorld, type World } from '../harness.ts'
import { signedHeaders } from '../signer.ts'
import { fillDatabase, LARGE } from './million.ts'
import { nodesOf, pagesTouched, rowsTouched, type SeenPlan, watchPlans } from './seen-plans.ts'

/**
 * How PostgreSQL does what the service is for when its tables hold a million rows: nothing but indexes, and a number of
 * rows and pages that does not depend on the size. Whatever is really sent is looked at, by one request alone and by
 * thirty at once, which may share statements.
 */

const AT_ONCE = 30
const PEOPLE = 6
const SELLER = { partnerId: '7001', clientId: 'seller', clientSecret: 'a clientSecret of these tests' }

let world: World
let client: Client
let plans: Awaited<ReturnType<typeof watchPlans>>
let fixed: App
let rotating: App
let people: Browser[]
let tokenSets: TokenSet[]

beforeAll(async () => {
  world = await openWorld({ AUTHORIZE_PER_MINUTE: '1000000' })
  client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
  const input = newPartner.parse({ partner_id: 7001, client_id: SELLER.clientId, name: 'Seller' })
  await createPartner(world.deps, input, SELLER.clientSecret)
  const began = performance.now()
  await fillDatabase(world.databaseUrl, world.clock.now())
  process.stdout.write(`a million rows a table in ${Math.round((performance.now() - began) / 1000)} s\n`)
  plans = await watchPlans(world)
}, 300_000)
afterAll(async () => {
  plans?.stop()
  await world?.close()
})

const times = <T>(count: number, make: () => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, make))
let turn = 0
/** One of a few people who are signed in; signing in is slow on purpose. */
const somebody = () => people[turn++ % people.length] as Browser
const consented = (app: App) => client.getCode(somebody(), app)

let orderId = 0n
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

/** An operation as it is met thousands of times a second: what it needs beforehand, and what is then looked at. */
type Prepared = () => Promise<() => Promise<unknown>>
const read = (one: (token: string) => Promise<Answer>): Prepared => {
  let next = 0
  return async () => async () => dataOf(await one(tokenSets[next++ % tokenSets.length]?.access_token ?? ''))
}

interface Bounds {
  /** Of one request, in all its statements. */
  readonly rows: number
  readonly pages: number
}

const OPERATIONS: Readonly<Record<string, { readonly prepare: Prepared } & Bounds>> = {
  'A5 reads a profile': { prepare: read((token) => client.userInfo(token)), rows: 4, pages: 30 },
  'A4 reads a phone number': { prepare: read((token) => client.phone(token)), rows: 4, pages: 30 },
  'A1 shows the page to who is signed in': {
    prepare: async () => {
      const browser = somebody()
      return async () => expect((await browser.open(client.authorizePath(client.request(fixed)))).status).toBe(200)
    },
    rows: 5,
    pages: 30,
  },
  'A1 issues a code': {
    prepare: async () => {
      const browser = somebody()
      const form = await client.consentFormFor(browser, client.request(fixed))
      return async () => expect((await browser.submit(form, { decision: 'approve' })).status).toBe(303)
    },
    rows: 5,
    pages: 80,
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
      const { refresh_token } = tokenSetOf(await client.exchange(fixed, await consented(fixed)))
      return async () => tokenSetOf(await client.refresh(fixed, refresh_token))
    },
    rows: 8,
    pages: 60,
  },
  'A3 refreshes, policy rotating': {
    prepare: async () => {
      const { refresh_token } = tokenSetOf(await client.exchange(rotating, await consented(rotating)))
      return async () => tokenSetOf(await client.refresh(rotating, refresh_token))
    },
    rows: 8,
    pages: 60,
  },
  'A3 repeats the answer of a rotation': {
    prepare: async () => {
      const { refresh_token } = tokenSetOf(await client.exchange(rotating, await consented(rotating)))
      await client.refresh(rotating, refresh_token)
      return async () => tokenSetOf(await client.refresh(rotating, refresh_token))
    },
    rows: 12,
    pages: 80,
  },
  'a notice changes an order': {
    prepare: async () => {
      const body = newNotice()
      return () => notify(body)
    },
    rows: 12,
    pages: 150,
  },
  'a notice comes again': {
    prepare: async () => {
      const body = newNotice()
      await notify(body)
      return () => notify(body)
    },
    rows: 8,
    pages: 100,
  },
}

const isLarge = (table: string | undefined): boolean => table !== undefined && LARGE.includes(table)
/** A bitmap comes from indexes too: of a partner's two keys either may be asked for. */
const ALLOWED = ['Index Scan', 'Index Only Scan', 'Bitmap Heap Scan', 'ModifyTable']

function check(seen: readonly SeenPlan[], requests: number, bounds: Bounds): void {
  expect(seen.length, 'statements were seen').toBeGreaterThan(0)
  for (const { text, root } of seen) {
    const ways = nodesOf(root).filter((node) => isLarge(node['Relation Name']))
    const others = ways.filter((node) => !ALLOWED.includes(node['Node Type']))
    expect(
      others.map((node) => `${node['Node Type']} on ${node['Relation Name']}`),
      text,
    ).toEqual([])
  }
  const sum = (of: (plan: SeenPlan) => number) => seen.reduce((total, plan) => total + of(plan), 0) / requests
  const texts = seen.map((plan) => `${rowsTouched(plan)} rows, ${pagesTouched(plan)} pages: ${plan.text}`).join('\n')
  expect(sum(rowsTouched), texts).toBeLessThanOrEqual(bounds.rows)
  expect(sum(pagesTouched), texts).toBeLessThanOrEqual(bounds.pages)
}

describe.each(['force_custom_plan', 'force_generic_plan'] as const)('with a million rows and %s', (mode) => {
  beforeAll(async () => {
    await plans.planning(mode)
    fixed = await client.makeApp()
    rotating = await client.makeApp({ refresh_policy: 'rotating' })
    people = await times(PEOPLE, async () => client.signedIn(await client.makeUser(), fixed))
    tokenSets = await times(AT_ONCE, async () => tokenSetOf(await client.exchange(fixed, await consented(fixed))))
  }, 60_000)

  it.each(Object.entries(OPERATIONS))('%s', async (_name, { prepare, ...bounds }) => {
    await (await prepare())() // a connection's first statements also read the catalogue
    const one = await prepare()
    check(await plans.during(one), 1, bounds)
    const many = await times(AT_ONCE, prepare)
    check(await plans.during(() => Promise.all(many.map((each) => each()))), AT_ONCE, bounds)
  })
})
