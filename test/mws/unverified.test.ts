import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SignatureSearches } from '../../src/ticketing/mws/diagnose/signature-searches.ts'
import { listSignatureTests } from '../../src/ticketing/mws/signature-test.ts'
import { openWorld, type World } from '../harness.ts'
import { newSandboxPartner, type SandboxPartner } from '../sandbox/partners.ts'
import { type Signing, signatureOf } from '../signer.ts'

/** Whether somebody has a clientId or PartnerId is not told to a caller who has not proved to hold a secret. */

const TOOL = '/mtp/api/order/test/ba'
let world: World
let partner: SandboxPartner
beforeAll(async () => {
  world = await openWorld({ TRUST_PROXY: '127.0.0.1' })
  // Searches take longer on a busy machine, and their budget is of real time: what is counted is looked at here.
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
/** Each from an address of its own, as a stranger with many would. */
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
    ['a PartnerId of another', { secret: 'a guess', partnerId: '7302' }],
    ['the clientId for a key', { secret: 'CLIENT', partnerId: '7301' }],
    ['the PartnerId for a key', { secret: '7301', partnerId: '7301' }],
    ['another PartnerId for a key', { secret: '7301', partnerId: '7302' }],
    ['an old Date', { secret: 'a guess', partnerId: '7301', signing: { date: 'Tue, 05 May 2015 06:11:34 GMT' } }],
  ])('with %s is told the same of a clientId that somebody has and of one that nobody has', async (_name, sent) => {
    const [one, other] = await Promise.all(
      ['somebody', 'nobody-1'].map(async (clientId) =>
        (await send({ ...sent, clientId, secret: sent.secret.replace('CLIENT', clientId) })).replaceAll(clientId, '*'),
      ),
    )
    expect(one).toBe(other)
  })

  it('is told the same of a PartnerId in the place of the clientId', async () => {
    const sent = { secret: 'a guess', partnerId: '1' }
    expect(await send({ ...sent, clientId: '7301' })).toBe(await send({ ...sent, clientId: '7302' }))
  })

  it('is told the same when too many are looked into', async () => {
    const mistakesOf = async (clientId: string) => {
      const told = await Promise.all(Array.from({ length: 65 }, () => send({ clientId, partnerId: '1', secret: 'x' })))
      return told.map((answer) => JSON.parse(answer).diagnosis.mistake).at(-1)
    }
    expect([await mistakesOf('somebody'), await mistakesOf('nobody-2')]).toEqual(['diagnosis-busy', 'diagnosis-busy'])
  })

  it('from one network uses up only a part of what is looked into', async () => {
    const mistake = async (clientId: string, forwardedFor: string) =>
      JSON.parse(await send({ clientId, partnerId: '1', secret: 'x' }, forwardedFor)).diagnosis.mistake
    const told = await Promise.all(Array.from({ length: 59 }, () => mistake('nobody-3', '192.0.2.1')))
    expect(told.filter((name) => name === 'diagnosis-busy').length).toBeGreaterThanOrEqual(39)
    expect(await mistake('nobody-3', '192.0.2.2')).toBe('signature-unrecognised')
  })

  it('crowds out none of the verdicts on the partner’s own calls', async () => {
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
    ['its clientId mistyped', { clientId: 'sombody' }, ['client-id-unknown']],
    ['its PartnerId for the clientId', { clientId: '7301' }, ['partner-id-instead-of-client-id']],
    ['no PartnerId', { partnerId: undefined }, ['partner-id-missing']],
    ['the PartnerId of another', { partnerId: '7302' }, ['partner-id-mismatch']],
  ])('that has signed rightly with %s is told so', async (_name, sent, mistakes) => {
    const right = { clientId: 'somebody', partnerId: '7301', secret: partner.client_secret }
    const answer = JSON.parse(await send({ ...right, ...sent }))
    expect(answer).toMatchObject({ code: 300, partnerId: '7301', diagnosis: { mistakes } })
  })
})
