import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createPartner } from '../../src/ticketing/partners/partner.ts'
import { newPartner } from '../../src/ticketing/partners/wire.ts'
import { openWorld, type World } from '../harness.ts'
import { signedHeaders } from '../signer.ts'
import vectors from '../vectors.json' with { type: 'json' }

/** The vectors, sent over HTTP to a service whose clock shows their date; and the exact limits of the clock skew. */

const { secret, date, signatures } = vectors.mws
const SKEW_S = 600

let world: World
let origin: string

beforeAll(async () => {
  world = await openWorld()
  world.clock.advance((Date.parse(date) - world.clock.now().getTime()) / 1000)
  await createPartner(
    world.deps,
    newPartner.parse({ partner_id: 7001, client_id: 'seller', name: 'Seller', stage: 'live' }),
    secret,
  )
  await world.app.listen({ port: 0, host: '127.0.0.1' })
  origin = `http://127.0.0.1:${(world.app.server.address() as AddressInfo).port}`
})
afterAll(() => world.close())

const post = async (path: string, signature: string, sentDate = date): Promise<string> => {
  const headers = {
    PartnerId: '7001',
    Date: sentDate,
    Authorization: `MWS seller:${signature}`,
    'Content-Type': 'application/json',
  }
  return (await fetch(origin + path, { method: 'POST', headers, body: '{}' })).text()
}

const BA_FAILED = '"describe":"BA verification failed"'
const ofAreaB = Object.entries(signatures).filter(([path]) => path.includes('/mtp/api/'))

describe('the signature vector', () => {
  it.each(ofAreaB)('of %s is accepted', async (path, signature) => {
    const text = await post(path, signature)
    if (path.endsWith('/test/ba')) expect(text).toBe('{"code":200,"describe":"success","partnerId":"7001"}')
    // The signature has passed: only the body is refused.
    else expect(text).toMatch(/"code":300,"describe":"[^"]*body[^"]* is required|"describe":"body must be/)
  })

  it.each(ofAreaB)('of %s is refused on any other path', async (path, signature) => {
    for (const [other] of ofAreaB) {
      if (other !== path) expect(await post(other, signature)).toContain(BA_FAILED)
    }
  })
})

describe(`with ${SKEW_S} s of clock skew allowed, a Date that differs`, () => {
  it.each([
    [-SKEW_S - 1, false],
    [-SKEW_S, true],
    [SKEW_S, true],
    [SKEW_S + 1, false],
  ])('by %i s is accepted: %s', async (seconds, passes) => {
    const path = '/mtp/api/order/consume/notice'
    const sent = new Date(world.clock.now().getTime() + seconds * 1000).toUTCString()
    const { Authorization } = signedHeaders(
      { partnerId: '7001', clientId: 'seller', clientSecret: secret },
      { path, date: sent },
    )
    const text = await post(path, Authorization.slice('MWS seller:'.length), sent)
    expect(text.includes(BA_FAILED)).toBe(!passes)
  })
})
