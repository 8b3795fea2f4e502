import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createPartner } from '../../src/ticketing/partners/partner.ts'
import { newPartner } from '../../src/ticketing/partners/wire.ts'
import { openWorld, type World } from '../harness.ts'
import { signedHeaders } from '../signer.ts'

/** Malformed HTTP: only the request target tells whether a partner's program sent it. */

const ENCODED = '/%E6%97%85'
const SECRET = '123456ce8b61f8e608eaf2e9702864a9'

let world: World
let origin: string
beforeAll(async () => {
  world = await openWorld({ MTP_PATH_PREFIXES: '/rhone,/旅,/dispatch=/mtp/api' })
  origin = await world.app.listen({ host: '127.0.0.1', port: 0 })
})
afterAll(() => world.close())

/** Status and JSON of the answer to these bytes. */
function sent(bytes: string): Promise<[status: number, body: object]> {
  const { hostname, port } = new URL(origin)
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const socket = connect(Number(port), hostname)
    socket.on('data', (chunk) => chunks.push(chunk)).on('error', reject)
    socket.on('close', () => {
      const [head = '', body = ''] = Buffer.concat(chunks).toString('utf8').split('\r\n\r\n')
      resolve([Number(head.split(' ')[1]), JSON.parse(body)])
    })
    socket.write(bytes)
  })
}

const MALFORMED: readonly (readonly [string, number, (target: string) => string])[] = [
  ['without Host', 400, (target) => `POST ${target} HTTP/1.1\r\nContent-Length: 0\r\n\r\n`],
  ['with a header of control characters', 400, (target) => `POST ${target} HTTP/1.1\r\nHost: x\r\nX: \u0001\r\n\r\n`],
  ['with 40 KiB of headers', 431, (target) => `POST ${target} HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(40_960)}\r\n\r\n`],
  ['with a method in lower case', 400, (target) => `post ${target} HTTP/1.1\r\nHost: x\r\n\r\n`],
  ['with a method in mixed case', 400, (target) => `Post ${target} HTTP/1.1\r\nHost: x\r\n\r\n`],
]

describe.each(MALFORMED)('a request %s', (_way, status, request) => {
  it.each([
    ['/mtp/api/order/consume/notice', 300],
    ['/rhone/mtp/api/order/consume/notice', 300],
    ['/rhone/anything?a=1', 300],
    ['/dispatch/order/consume/notice', 300],
    [`${ENCODED}/mtp/api/order/consume/notice`, 300],
    ['http://gatehouse/mtp/api/order/consume/notice', 300],
    ['/sandbox/api/runs', 300],
    ['/mtp/api/order/pay/notice', 400],
    ['/rhone/mtp/api/order/pay/notice?a=1', 400],
    ['/dispatch/order/pay/notice', 400],
  ])('to %s is refused in the envelope of area B with code %i', async (target, code) => {
    expect(await sent(request(target))).toEqual([status, { code, describe: expect.any(String), partnerId: '' }])
  })

  it.each(['/oauth/v2/api/token', '/elsewhere/mtp/api/order/pay/notice', '/dispatcher/x', '/?x=/mtp/api/x'])(
    'to %s is refused in the envelope of area A',
    async (target) => {
      expect(await sent(request(target))).toMatchObject([status, { rescode: 20007 }])
    },
  )
})

describe('a path that cannot be decoded', () => {
  it.each(['/mtp/api/%zz', '/rhone/x/%zz', '/dispatch/%zz', '/dispatch/order/pay/notice/%zz', '/sandbox/api/runs/%ff'])(
    'is not found, in the envelope of area B: %s',
    async (url) => {
      const answer = await world.app.inject({ method: 'POST', url })
      const body = { code: 404, describe: 'the path cannot be decoded', partnerId: '' }
      expect([answer.statusCode, answer.json()]).toEqual([404, body])
    },
  )

  it.each(['/oauth/v2/%zz', '/dispatcher/%zz'])('is not found, in the envelope of area A: %s', async (url) => {
    const answer = await world.app.inject({ method: 'POST', url, headers: { accept: 'application/json' } })
    expect([answer.statusCode, answer.json()]).toMatchObject([404, { rescode: 20007 }])
  })
})

describe('bytes after a whole notice that are no request', () => {
  const path = '/mtp/api/deal/change/notice'
  const notice = JSON.stringify({ partnerId: 7001, body: { partnerDealId: '门票', status: 0 } })

  beforeAll(async () => {
    const input = newPartner.parse({ partner_id: 7001, client_id: 'seller', name: 'Seller' })
    await createPartner(world.deps, input, SECRET)
  })

  function signed(length: number): string {
    const date = world.clock.now().toUTCString()
    const headers = signedHeaders({ clientId: 'seller', partnerId: '7001', clientSecret: SECRET }, { path, date })
    const lines = Object.entries({ Host: 'x', ...headers, 'Content-Length': length })
    return [`POST ${path} HTTP/1.1`, ...lines.map(([name, value]) => `${name}: ${value}`), '\r\n'].join('\r\n')
  }

  it('do not hide that it was accepted', async () => {
    const whole = signed(Buffer.byteLength(notice)) + notice
    expect(await sent(`${whole}no request\r\n\r\n`)).toMatchObject([200, { code: 200 }])
  })

  it('do not hide why it was refused, as its length counts characters', async () => {
    const refused = { code: 300, describe: expect.stringContaining('HTTP body: not') }
    expect(await sent(signed(notice.length) + notice)).toMatchObject([200, refused])
  })
})
