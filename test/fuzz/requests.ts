import { signatureOf, type ToSign } from '../signer.ts'
import type { Random } from './random.ts'
import type { RawRequest } from './raw-http.ts'
import { asBytes, brokenJson, type Json, someText } from './values.ts'

/** Valid credentials that a caller may know, so that requests get past authentication. */
export interface Known {
  readonly origin: string
  readonly app: { readonly app_key: string; readonly app_secret: string; readonly redirect_uri: string }
  readonly user: {
    readonly passport: string
    readonly password: string
    readonly cid: number
    readonly user_id: string
  }
  readonly tokens: { readonly access_token: string; readonly refresh_token: string }
  readonly code: { readonly code: string; readonly state: string }
  readonly consentForm: string
  readonly seller: { readonly partnerId: string; readonly clientId: string; readonly clientSecret: string }
  /** Session cookies of the user and of the seller's engineer. */
  readonly cookies: string
  readonly adminToken: string
  readonly runId: string
  readonly orderId: string
}

export interface Route {
  readonly method: string
  /** With parameters as `:name`. */
  readonly url: string
}

type Headers = (readonly [string, string])[]
type Fields = Readonly<Record<string, string>>

/** Replaces lone surrogates, which no URL can hold. */
const wellFormed = (text: string): string => Buffer.from(text).toString()

/** The fields as a query or form, each occasionally replaced, left out, duplicated or renamed. */
function fieldsText(random: Random, fields: Fields, share: number): string {
  const written = (text: string) => (random.chance(0.1) ? text : encodeURIComponent(wellFormed(text)))
  const pairs = Object.entries(fields).flatMap(([name, value]) => {
    if (random.chance(share / 2)) return []
    const pair = `${name}=${written(random.chance(share) ? someText(random) : value)}`
    if (random.chance(share / 3)) return [pair, pair]
    return random.chance(share / 6) ? [pair, `${name}[]=1`, `${name}.x=1`] : [pair]
  })
  const more = random.chance(share) ? [`${written(someText(random))}=${written(someText(random))}`] : []
  return [...pairs, ...more].join(random.chance(0.02) ? ';' : '&')
}

/** Text for a request line or a header, which may hold any bytes but line breaks. */
const inline = (text: string): string =>
  Buffer.from(wellFormed(text))
    .toString('latin1')
    .replace(/[\r\n]/g, ' ')

const AREA_A = '/oauth/v2'

const exchange = ({ app, code }: Known): Fields => ({ ...app, ...code, grant_type: 'authorization_code' })
const refresh = ({ app, tokens }: Known): Fields => ({
  app_key: app.app_key,
  app_secret: app.app_secret,
  grant_type: 'refresh_token',
  refresh_token: tokens.refresh_token,
})
const authorize = ({ app }: Known): Fields => ({
  app_key: app.app_key,
  redirect_uri: app.redirect_uri,
  response_type: 'code',
  scope: 'USER_INFO PHONE_NUMBER',
  state: 'abc123',
})

const LEVELS: Json = [
  {
    partnerPrimaryKey: '2026-06-01/A',
    skuInfo: { startTime: '09:00', endTime: '11:30', levelInfoList: [{ levelNo: 'A', levelName: 'Stalls' }] },
    priceDate: '2026-06-01',
    marketPrice: '120.00',
    mtPrice: '100.00',
    settlementPrice: '80.50',
    stock: '20',
    attr: { any: 'thing' },
  },
]

export const NOTICES: Readonly<Record<string, (known: Known) => Json>> = {
  '/deal/change/notice': () => [{ partnerDealId: 'DEAL-1', status: 2 }],
  '/order/consume/notice': ({ orderId }) => ({
    orderId: BigInt(orderId),
    partnerOrderId: 'P-1',
    quantity: 2,
    usedQuantity: 1,
    refundedQuantity: 0,
    voucherList: [
      { voucher: 'V-1', voucherPics: '', voucherInvalidTime: '2030-01-01 00:00:00', quantity: 1, status: 1 },
      { voucher: 'V-2', voucherPics: '', voucherInvalidTime: '2030-01-01 00:00:00', quantity: 1, status: 0 },
    ],
    useStartDate: '2026-01-01',
    useEndDate: '2026-12-31',
    credentialList: [{ credentialType: 0, credentialNo: '11010519491231002X', voucher: 'V-1', status: 1 }],
  }),
  '/order/refund/notice': ({ orderId }) => ({
    orderId: BigInt(orderId),
    refundId: 'R-1',
    partnerOrderId: 'P-1',
    requestTime: '2026-01-01 00:00:00',
    responseTime: '2026-01-01 00:00:00',
  }),
  '/order/test/ba': () => ({}),
  '/order/pay/notice': ({ orderId }) => ({
    orderId: BigInt(orderId),
    partnerOrderId: 'P-1',
    voucherType: 1,
    vouchers: ['V-1', 'V-2'],
    voucherPics: ['', ''],
    realNameType: 1,
    credentialList: [{ credentialType: 0, credentialNo: '11010519491231002X', voucher: 'V-1' }],
    asyReturnVoucher: false,
    requestTime: '2026-01-01 00:00:00',
    voucherAdditionalList: [{ voucher: 'V-1' }],
    orderAdditionalList: [{ any: 1 }],
  }),
  '/level/price/notice/v2': () => LEVELS,
  '/order/reschedule/notice': () => 'KySuk7oNn6QfgzUaTZMIssYyDR5I9Gz8T34ZdBY2JyQ=',
}

const ADMIN_BODIES: Readonly<Record<string, (known: Known) => Json>> = {
  apps: () => ({
    app_key: 'fuzzed',
    name: 'Fuzzed',
    status: 'approved',
    hosts: ['app.example.com'],
    scopes: ['USER_INFO'],
    refresh_policy: 'rotating',
    refresh_lifetime_days: 30,
    allow_http: false,
    redirect_uris: ['https://app.example.com/callback'],
  }),
  users: () => ({
    passport: 'fuzzed',
    password: 'a-long-password',
    name: 'F',
    gender: '1',
    phone_number: '13800000000',
    big_avatar_url: 'https://example.com/a.png',
  }),
  partners: () => ({
    name: 'Fuzzed',
    client_id: 'fuzzed',
    base_url: 'https://partner.example.com/mtp',
    interface_urls: { 'order-create': 'https://partner.example.com/create' },
    stage: 'sandbox',
    email: 'a@example.com',
    webhook_url: 'https://partner.example.com/hook',
  }),
  orders: ({ seller }) => ({
    partner_id: seller.partnerId,
    partner_deal_id: 'DEAL-1',
    quantity: 2,
    unit_price: '10.00',
    buy_price: '8.00',
    travel_date: '2030-01-01',
    visitors: [{ name: 'A', mobile: '13800000000', credentials: { '0': '11010519491231002X' } }],
  }),
}

export class Requests {
  readonly #routes: readonly Route[]

  constructor(routes: readonly Route[]) {
    this.#routes = routes
  }

  make(random: Random, known: Known): RawRequest {
    const share = random.pick([0, 0.03, 0.1, 0.3])
    const kinds = [
      this.#areaA,
      this.#areaA,
      this.#notice,
      this.#notice,
      this.#form,
      this.#admin,
      this.#anything,
      this.#anything,
    ]
    return random.pick(kinds).call(this, random, known, share)
  }

  /** Assembles a request, occasionally with broken or too many headers, or with a wrong length. */
  #finish(
    random: Random,
    parts: { method: string; target: string; headers: Headers; body?: Buffer },
    share: number,
  ): RawRequest {
    const { method, target, body = Buffer.alloc(0) } = parts
    const headers = [...parts.headers]
    // Each request has its own address, because limits per address would hide the code behind them.
    headers.push(['X-Forwarded-For', `10.${random.int(256)}.${random.int(256)}.${random.int(256)}`])
    if (random.chance(share)) headers.push([random.pick(HEADER_NAMES), inline(someText(random))])
    if (random.chance(share / 4))
      headers.push(...Array.from({ length: 120 }, (_, place) => [`X-${place}`, 'x'.repeat(90)] as const))
    const malformed = random.chance(share / 10)
    const length = malformed ? random.pick(['-1', 'x', '1e3', '99999999999999999999']) : String(body.length)
    if (body.length > 0 || method !== 'GET') headers.push(['Content-Length', length])
    return { method, target: inline(target).replaceAll(' ', '%20') || '/', headers, body, malformed }
  }

  #areaA(random: Random, known: Known, share: number): RawRequest {
    const [method, path, fields] = random.pick<[string, string, Fields]>([
      ['GET', '/authorize', authorize(known)],
      ['POST', '/api/token', exchange(known)],
      ['POST', '/api/token', refresh(known)],
      ['POST', '/api/resource/get_userinfo', { access_token: known.tokens.access_token }],
      ['POST', '/api/resource/get_phonenumber', { access_token: known.tokens.access_token }],
    ])
    const basic = Buffer.from(`${known.app.app_key}:${random.chance(0.5) ? known.app.app_secret : someText(random)}`)
    const headers: Headers = [
      ...(random.chance(0.2) ? ([['Authorization', `Basic ${basic.toString('base64')}`]] as const) : []),
      ...(method === 'GET'
        ? ([
            ['Cookie', known.cookies],
            ['Accept', 'text/html'],
          ] as const)
        : []),
    ]
    return this.#finish(
      random,
      { method, target: `${AREA_A}${path}?${fieldsText(random, fields, share)}`, headers },
      share,
    )
  }

  #signed(random: Random, { seller }: Known, { path }: Pick<ToSign, 'path'>, method: string): Headers {
    const date = random.chance(0.9) ? new Date().toUTCString() : inline(someText(random))
    const secret = random.chance(0.9) ? seller.clientSecret : someText(random)
    const signature = signatureOf({ method, path, date, secret })
    return [
      ['PartnerId', random.chance(0.95) ? seller.partnerId : inline(someText(random))],
      ['Date', date],
      ['Authorization', random.chance(0.95) ? `MWS ${seller.clientId}:${signature}` : inline(someText(random))],
    ]
  }

  #notice(random: Random, known: Known, share: number): RawRequest {
    const [path, body] = random.pick(Object.entries(NOTICES))
    const target = `${random.pick(['', '/rhone'])}/mtp/api${path}${random.chance(share) ? `?${someText(random)}` : ''}`
    const whole: Json = {
      partnerId: known.seller.partnerId,
      code: 200,
      describe: 'ok',
      issueType: 1,
      partnerDealId: 'DEAL-1',
      startTime: '2026-06-01',
      endTime: '2026-06-07',
      body: body(known),
    }
    const type = random.chance(0.9) ? 'application/json; charset=utf-8' : inline(someText(random))
    const headers: Headers = [
      ...this.#signed(random, known, { path: target.split('?')[0] ?? '' }, 'POST'),
      ['Content-Type', type],
    ]
    return this.#finish(
      random,
      { method: 'POST', target, headers, body: asBytes(random, brokenJson(random, whole, share)) },
      share,
    )
  }

  #form(random: Random, known: Known, share: number): RawRequest {
    const { user, seller } = known
    const [path, fields] = random.pick<[string, Fields]>([
      [
        '/sign-in',
        { passport: random.chance(0.1) ? user.passport : someText(random), password: 'wrong', return_to: '/' },
      ],
      [
        `${AREA_A}/consent`,
        { authorization_request: known.consentForm, decision: random.pick(['approve', 'refuse', 'x']) },
      ],
      [
        '/sandbox/sign-in',
        {
          client_id: random.chance(0.1) ? seller.clientId : someText(random),
          mail: someText(random),
          password: someText(random),
        },
      ],
      [
        '/sandbox/signature',
        {
          method: 'POST',
          url: '/mtp/api/order/test/ba',
          date: new Date().toUTCString(),
          authorization: `MWS ${seller.clientId}:x`,
        },
      ],
      [
        '/sandbox/functions',
        {
          functions: 'pay-at-once',
          main: 'DEAL-1',
          quantity: '2',
          travel_date: '2030-01-01',
          base_url: 'https://a.example/',
        },
      ],
      ['/sandbox/verify', { report: '{}', signature: 'x' }],
      [`/sandbox/run/${known.runId}/accept`, {}],
    ])
    const headers: Headers = [
      ['Cookie', random.chance(0.9) ? known.cookies : inline(someText(random))],
      ['Origin', random.chance(0.9) ? known.origin : inline(someText(random))],
      ['Sec-Fetch-Site', 'same-origin'],
      ['Content-Type', 'application/x-www-form-urlencoded'],
      ['Accept', random.chance(0.8) ? 'text/html' : inline(someText(random))],
      ['Accept-Language', random.chance(0.8) ? 'zh-CN' : inline(someText(random))],
    ]
    return this.#finish(
      random,
      { method: 'POST', target: path, headers, body: asBytes(random, fieldsText(random, fields, share)) },
      share,
    )
  }

  #admin(random: Random, known: Known, share: number): RawRequest {
    const route = random.pick(this.#routes.filter(({ url }) => url.startsWith('/admin/')))
    const kind = /^\/admin\/v1\/(\w+)/.exec(route.url)?.[1] ?? ''
    const body: Json = ADMIN_BODIES[kind]?.(known) ?? { reason: 'fuzz' }
    const headers: Headers = [
      ['Authorization', `Bearer ${known.adminToken}`],
      ['Content-Type', 'application/json'],
    ]
    const query = random.chance(0.3)
      ? `?${fieldsText(random, { limit: '5', failed: 'true', status: 'approved' }, share + 0.1)}`
      : ''
    const target = this.#target(random, known, route.url) + query
    const withBody = route.method === 'GET' ? {} : { body: asBytes(random, brokenJson(random, body, share)) }
    return this.#finish(random, { method: route.method, target, headers, ...withBody }, share)
  }

  /** A route's path with its parameters filled in. */
  #target(random: Random, known: Known, url: string): string {
    const right: Fields = {
      run_id: known.runId,
      order_id: known.orderId,
      app_key: known.app.app_key,
      kind: 'call',
      step_id: 'product-pull',
      '*': 'app.css',
    }
    return url.replace(/:(\w+)|\*/g, (found, name = found) =>
      random.chance(0.5) && right[name] !== undefined
        ? right[name]
        : encodeURIComponent(wellFormed(someText(random))).slice(0, 400),
    )
  }

  /** Any route with any method, in any spelling; or a path that matches no route. */
  #anything(random: Random, known: Known, share: number): RawRequest {
    const route = random.pick(this.#routes)
    const method = random.chance(0.7) ? route.method : random.pick(METHODS)
    const path = this.#target(random, known, route.url)
    const spelt = random.chance(0.7) ? path : random.pick(SPELLINGS)(path)
    const target = random.chance(0.05) ? inline(someText(random)) : spelt
    const sandboxApi = path.startsWith('/sandbox/api')
    const headers: Headers = [
      ...(sandboxApi ? this.#signed(random, known, { path }, method) : []),
      [
        'Cookie',
        random.chance(0.7)
          ? known.cookies
          : `gatehouse_session=${inline(someText(random))}; ${inline(someText(random))}`,
      ],
      [
        'Content-Type',
        random.pick(['application/json', 'application/x-www-form-urlencoded', 'text/plain', inline(someText(random))]),
      ],
      ['Accept', random.pick(['*/*', 'text/html', 'application/xml', inline(someText(random))])],
    ]
    const body = random.chance(0.5)
      ? asBytes(random, random.chance(0.5) ? brokenJson(random, { a: [1, 'x', null] }, 0.3) : someText(random))
      : Buffer.alloc(0)
    const query = random.chance(0.4)
      ? `?${fieldsText(random, { return_to: '/', lang: 'zh-CN', after: '1', wait: '0', limit: '3' }, 0.3)}`
      : ''
    const spoilt = this.#finish(
      random,
      { method, target: (target.startsWith('/') ? target : `/${target}`) + query, headers, body },
      share,
    )
    return { ...spoilt, malformed: spoilt.malformed || !METHODS_OF_NODE.has(method) }
  }
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'get', 'FOO'] as const
const METHODS_OF_NODE: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
])

const HEADER_NAMES = [
  'Accept',
  'Accept-Language',
  'Cookie',
  'Origin',
  'Referer',
  'X-Forwarded-Proto',
  'X-Request-Id',
  'Content-Encoding',
  'If-None-Match',
  'Range',
  'Expect',
  'Authorization',
  'PartnerId',
  'Date',
] as const

const SPELLINGS: readonly ((path: string) => string)[] = [
  (path) => path.toUpperCase(),
  (path) => `/${path}`,
  (path) => `${path}/`,
  (path) => path.replaceAll('/', '//'),
  (path) => path.replace(/[a-z]/, (letter) => `%${letter.charCodeAt(0).toString(16)}`),
  (path) => `${path}%`,
  (path) => `${path}%ff`,
  (path) => `${path};a=b`,
  (path) => `/x/..${path}`,
  (path) => `http://other.example${path}`,
  (path) => path.repeat(60),
]
