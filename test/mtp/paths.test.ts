import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mountsOf, pathMeant, spelled } from '../../src/platform/config/mounts.ts'
import { formatHttpDate } from '../../src/platform/lib/crypto/signing.ts'
import { createPartner } from '../../src/ticketing/partners/partner.ts'
import { newPartner } from '../../src/ticketing/partners/wire.ts'
import { openWorld, type World } from '../harness.ts'
import { signedHeaders } from '../signer.ts'

const SECRET = '123456ce8b61f8e608eaf2e9702864a9'
const CHANGE = '/mtp/api/deal/change/notice'
const ENCODED = '/%E6%97%85'

let world: World
beforeAll(async () => {
  world = await openWorld({
    MTP_PATH_PREFIXES: '/rhone,/旅,/sandbox/api/dispatch=/mtp/api,/rhone-doc=/rhone,/旅-alt=/旅',
  })
  await createPartner(world.deps, newPartner.parse({ partner_id: 7001, client_id: 'seller', name: 'Seller' }), SECRET)
})
afterAll(() => world.close())

async function post(path: string, signed = path) {
  const date = formatHttpDate(world.clock.now())
  const headers = signedHeaders({ clientId: 'seller', partnerId: '7001', clientSecret: SECRET }, { path: signed, date })
  const payload = JSON.stringify({ partnerId: '7001', body: { partnerDealId: 'd-1', status: 0 } })
  const answer = await world.app.inject({ method: 'POST', url: path, headers: { ...headers }, payload })
  return { status: answer.statusCode, ...(answer.json() as object) }
}

const success = { status: 200, code: 200, describe: 'success', partnerId: '7001' }
const none = { status: 404, code: 404, describe: 'no such path', partnerId: '7001' }

describe('a path of area B', () => {
  it('has one spelling, in which a non-ASCII prefix is percent-encoded', async () => {
    expect([spelled('/rhone/a'), spelled('/旅/a'), spelled(`${ENCODED}/a`)]).toEqual([
      '/rhone/a',
      `${ENCODED}/a`,
      `${ENCODED}/a`,
    ])
    expect(await post(ENCODED + CHANGE)).toEqual(success)
    expect(await post(ENCODED + CHANGE, `/旅${CHANGE}`), 'signed decoded').toEqual(success)
    expect(await post(ENCODED.toLowerCase() + CHANGE)).toEqual(none)
    expect(await post(`/%72hone${CHANGE}`, `/rhone${CHANGE}`)).toEqual(none)
  })

  it.each(['/rhone/lvx', '/rhone/', '/rhone/mtp', '/rhone/mtp/apis', `${ENCODED}/x`, '/mtp/api/x'])(
    '%s does not exist: 404 in the envelope of area B',
    async (path) => {
      expect(await post(path)).toEqual(none)
      const get = await world.app.inject({ method: 'GET', url: path, headers: { accept: 'text/html' } })
      expect([get.statusCode, get.json()]).toEqual([404, { code: 404, describe: 'no such path', partnerId: '' }])
    },
  )

  it.each(['/mtp/api/%zz', '/rhone/mtp/api/deal/change/notic%e', '/sandbox/api/runs/%ff'])(
    '%s cannot be decoded: 404 in the envelope of area B',
    async (path) => {
      const answer = await world.app.inject({ method: 'POST', url: path })
      expect(answer.json()).toEqual({ code: 404, describe: 'the path cannot be decoded', partnerId: '' })
      expect(answer.statusCode).toBe(404)
    },
  )

  it.each(['POST', 'GET'] as const)(
    'of the first protocol version is answered with the supported version: %s',
    async (method) => {
      const headers = { partnerid: '7001', 'content-type': 'application/json' }
      const answer = await world.app.inject({ method, url: '/rhone/lv/order/consume/notice', headers })
      const describe = 'no such path: the first version of the protocol (/lv/) is not supported; use /rhone/mtp/api/'
      expect([answer.statusCode, answer.json()]).toEqual([404, { code: 404, describe, partnerId: '7001' }])
    },
  )

  it.each([
    ['/sandbox/api/dispatch', '/mtp/api', '/rhone/mtp/api'],
    ['/rhone-doc/mtp/api', '/rhone/mtp/api', '/mtp/api'],
    ['/旅-alt/mtp/api', `${ENCODED}/mtp/api`, '/mtp/api'],
  ])('%s may be mapped to %s: either path may be signed, but no other', async (mount, meant, other) => {
    const [path, mapped, third] = [mount, meant, other].map((one) => spelled(one + CHANGE.slice('/mtp/api'.length)))
    const refused = { code: 300, describe: 'BA verification failed' }
    expect(await post(path as string)).toEqual(success)
    expect(await post(path as string, mapped)).toEqual(success)
    expect(await post(path as string, third)).toMatchObject(refused)
    expect(await post(mapped as string, path), 'the path that is meant has one name').toMatchObject(refused)
    expect(await post(`${path}?a=1`, mapped), 'without the query').toEqual(success)
    expect(await post(`${path}?a=1`, `${mapped}?a=1`), 'with it, in stage sandbox').toMatchObject(refused)
    expect(await post(spelled(`${mount}/x`))).toEqual(none)
  })

  it('whose mapping only strips its beginning is a plain prefix, which must be part of the signed path', () => {
    const prefixes = ['/rhone', '/gw/mtp/api=/mtp/api', '/gw/rhone=/rhone', '/a=/mtp/api', '/a/b=/rhone/mtp/api']
    const meant = (path: string) => pathMeant(prefixes, path)
    expect(['/rhone/mtp/api/x', '/mtp/api/x', '/gw/mtp/api/x', '/gw/rhone/mtp/api/x', '/ax', '/a'].map(meant)).toEqual(
      Array(6).fill(undefined),
    )
    expect(['/a/x', '/a/b/x'].map(meant)).toEqual(['/mtp/api/x', '/rhone/mtp/api/x'])
  })

  it.each(['/rhone,/rhone/v1=/mtp/api', '/rhone/v1,/rhone=/mtp/api,/rhone/mtp=/mtp/api', '/a=/mtp/api,/a/b=/mtp/api'])(
    'may be nested in another: the service starts with %s, and each prefix answers',
    async (MTP_PATH_PREFIXES) => {
      const nested = await openWorld({ MTP_PATH_PREFIXES })
      try {
        for (const mount of mountsOf(nested.deps.config.MTP_PATH_PREFIXES)) {
          const url = mount + CHANGE.slice('/mtp/api'.length)
          const answer = await nested.app.inject({ method: 'POST', url, payload: '{}' })
          expect([url, answer.json()]).toMatchObject([url, { code: 300, describe: 'BA verification failed' }])
          const none = await nested.app.inject({ method: 'POST', url: `${mount}/x`, payload: '{}' })
          expect([none.statusCode, none.json()]).toMatchObject([404, { code: 404, describe: 'no such path' }])
        }
      } finally {
        await nested.close()
      }
    },
  )

  it('outside the prefixes is not answered in the envelope of area B', async () => {
    const answer = await world.app.inject({ method: 'GET', url: '/rhonemtp', headers: { accept: 'application/json' } })
    expect([answer.statusCode, answer.json()]).toMatchObject([404, { rescode: 20007 }])
  })
})
