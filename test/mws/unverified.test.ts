import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SignatureSearches } from '../../src/ticketing/mws/diagnose/signature-searches.ts'
import { listSignatureTests } from '../../src/ticketing/mws/signature-test-store.ts'
import { openWorld, type World } from '../harness.ts'
import { newSandboxPartner, type SandboxPartner } from '../sandbox/partners.ts'
import { type Signing, signatureOf } from '../signer.ts'

/** A caller who has not proved to hold a secret cannot find out whether a clientId or PartnerId exists. */

const TOOL = '/mtp/api/order/test/ba'
let world: World
let partner: SandboxPartner
beforeAll(async () => {
  world = await openWorld({ TRUST_PROXY: '127.0.0.1' })
  // The budget of searches is real time, which runs out sooner on a busy machine; only the count matters here.
  const share = { msPerMinute: 600_000, atOnce: 5 }
  Object.assign(world.deps.incoming, { searches: new SignatureSearches({ caller: share, partner: share }, 300_000) })
  partner = await newSandboxPartner(world, { partner_id: 7301, client_id: 'somebody' })
})
afterAll(() => world.close())

interface Sent {
  readonly clientId: string
  readonly partnerId?: string | undefined
  readonly secret: string
  readonly signing?: Partial<Signing>
}

let address = 0
/** Each call comes from another address, like those of an attacker with many. */
async function send(
  { clientId, partnerId, secret, signing = {} }: Sent,
  forwardedFor = `10.${++address >> 8}.${address & 255}.1`,
) {
  const date = world.clock.now().toUTCString()
  const { payload } = await world.app.inject({
    method: 'POST',
    url: TOOL,
    payload: '{}',
    headers: {
      'x-forwarded-for': forwardedFor,
      'content-type': 'application/json',
      ...(partnerId === undefined ? {} : { PartnerId: partnerId }),
      Date: date,
      Authorization: `MWS ${clientId}:${signatureOf({ path: TOOL, date, secret, ...signing })}`,
    },
  })
  return payload
}
const tests = () => listSignatureTests(world.deps, 7301n)

describe('a caller without a secret', () => {
  it.each<[string, Omit<Sent, 'clientId'>]>([
    ['a guess', { secret: 'a guess', partnerId: '7301' }],
    ['no PartnerId', { secret: 'a guess' }],
    ['the PartnerId of another partner', { secret: 'a guess', partnerId: '7302' }],
    ['the clientId as the key', { secret: 'CLIENT', partnerId: '7301' }],
    ['the PartnerId as the key', { secret: '7301', partnerId: '7301' }],
    ['another PartnerId as the key', { secret: '7301', partnerId: '7302' }],
    ['an old Date', { secret: 'a guess', partnerId: '7301', signing: { date: 'Tue, 05 May 2015 06:11:34 GMT' } }],
  ])('with %s gets the same answer for a known clientId as for an unknown one', async (_name, sent) => {
    const [one, other] = await Promise.all(
      ['somebody', 'nobody-1'].map(async (clientId) =>
        (await send({ ...sent, clientId, secret: sent.secret.replace('CLIENT', clientId) })).replaceAll(clientId, '*'),
      ),
    )
    expect(one).toBe(other)
  })

  it('gets the same answer for a known PartnerId as for an unknown one in place of the clientId', async () => {
    const sent = { secret: 'a guess', partnerId: '1' }
    expect(await send({ ...sent, clientId: '7301' })).toBe(await send({ ...sent, clientId: '7302' }))
  })

  it('gets the same answer for any clientId when there are too many calls to diagnose', async () => {
    const mistakesOf = async (clientId: string) => {
      const answers = await Promise.all(
        Array.from({ length: 65 }, () => send({ clientId, partnerId: '1', secret: 'x' })),
      )
      return answers.map((answer) => JSON.parse(answer).diagnosis.mistake).at(-1)
    }
    expect([await mistakesOf('somebody'), await mistakesOf('nobody-2')]).toEqual(['diagnosis-busy', 'diagnosis-busy'])
  })

  it('can use up only a part of the diagnoses from one network', async () => {
    const mistake = async (clientId: string, forwardedFor: string) =>
      JSON.parse(await send({ clientId, partnerId: '1', secret: 'x' }, forwardedFor)).diagnosis.mistake
    const mistakes = await Promise.all(Array.from({ length: 59 }, () => mistake('nobody-3', '192.0.2.1')))
    expect(mistakes.filter((name) => name === 'diagnosis-busy').length).toBeGreaterThanOrEqual(39)
    expect(await mistake('nobody-3', '192.0.2.2')).toBe('signature-unrecognised')
  })

  it('does not displace the stored tests of the partner’s own calls', async () => {
    const own = { clientId: 'somebody', partnerId: '7301', secret: partner.client_secret }
    expect(JSON.parse(await send(own))).toMatchObject({ code: 200, partnerId: '7301' })
    for (let round = 0; round < 6; round++) {
      await Promise.all(Array.from({ length: 10 }, () => send({ ...own, secret: 'a guess' })))
    }
    const kept = await tests()
    expect(kept.filter(({ verified }) => verified)).toMatchObject([{ mistakes: [] }])
    expect(kept.filter(({ verified }) => !verified).length).toBeLessThanOrEqual(20)
  })
})

describe('a partner', () => {
  it.each<[string, Partial<Sent>, string[]]>([
    ['a mistyped clientId', { clientId: 'sombody' }, ['client-id-unknown']],
    ['its PartnerId as the clientId', { clientId: '7301' }, ['partner-id-instead-of-client-id']],
    ['no PartnerId', { partnerId: undefined }, ['partner-id-missing']],
    ['the PartnerId of another partner', { partnerId: '7302' }, ['partner-id-mismatch']],
  ])('that has signed with the right secret but with %s gets that diagnosis', async (_name, sent, mistakes) => {
    const right = { clientId: 'somebody', partnerId: '7301', secret: partner.client_secret }
    const answer = JSON.parse(await send({ ...right, ...sent }))
    expect(answer).toMatchObject({ code: 300, partnerId: '7301', diagnosis: { mistakes } })
  })
})
