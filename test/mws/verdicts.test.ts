import { expect, it } from 'vitest'
import type { Deps } from '../../src/platform/deps.ts'
import { isVerified, namesPartner, type PartnerCall, toleratedIn } from '../../src/ticketing/mws/authenticate.ts'
import { diagnose, explain } from '../../src/ticketing/mws/diagnose/index.ts'
import type { PartnerWithSecrets } from '../../src/ticketing/partners/index.ts'
import { fuzzSettings, type Random, randomAt } from '../fuzz/random.ts'
import { signatureOf } from '../signer.ts'
import { withUnusedBits } from './diagnose/wrongly.ts'

/** The signature tool finds no mistake in exactly those calls that the verifier accepts. */

const CALLS = 10_000
const NOW = new Date('2026-05-06T10:34:20.250Z')
const PATH = '/mtp/api/order/consume/notice'
const SECRET = '123456ce8b61f8e608eaf2e9702864aF'
const SKEW_S = 600

const deps = { clock: { now: () => NOW }, config: { MTP_CLOCK_SKEW_S: SKEW_S } } as unknown as Deps
const partnerOf = (stage: 'live' | 'sandbox') =>
  ({
    ...{ partner_id: 7001n, client_id: 'demo:partner', status: 'active', stage },
    secrets: [{ secret: 'an older one' }, { secret: SECRET }],
  }) as unknown as PartnerWithSecrets

/** One change of a header, or none. */
const CHANGES: readonly ((text: string, random: Random) => string)[] = [
  (text) => text,
  withUnusedBits,
  (text) => `${text} `,
  (text) => ` ${text}`,
  (text) => text.replace(/=+$/, ''),
  (text) => `${text}=`,
  (text) => text.replace('MWS', 'mws'),
  (text) => text.replace(' ', '  '),
  (text) => text.replace(' ', '\t'),
  (text) => text.replace(':', ': '),
  (text) => text.replace('demo', 'Demo'),
  (text) => text.replace('demo', 'démo'),
  (text) => text.replaceAll('+', '-').replaceAll('/', '_'),
  (text) => text.replace('GMT', 'UTC'),
  (text) => text.replace(' 0', ' '),
  (text) => text.toLowerCase(),
  (text, random) => {
    const at = random.int(text.length)
    return text.slice(0, at) + random.pick([...'Aa0+/= :\n\u00a0']) + text.slice(at + 1)
  },
  (text, random) => text.slice(0, random.int(text.length)),
]

function callOf(random: Random): PartnerCall {
  const seconds = random.pick([0, 0, 0, 1, SKEW_S, -SKEW_S, SKEW_S + 1, -SKEW_S - 1, 28_800])
  const date = new Date(NOW.getTime() + seconds * 1_000).toUTCString()
  const query = random.chance(0.2) ? random.pick(['?', '?a=1', '?a=%20']) : ''
  const path = random.chance(0.2) ? '/mtp/api/%6frder/consume/notice' : PATH
  const signed = random.pick([path, path, path, decodeURIComponent(path), path + query, `${path}/`])
  const secret = random.chance(0.9) ? SECRET : random.pick(['an older one', 'another'])
  const change = (text: string, share: number) => (random.chance(share) ? random.pick(CHANGES)(text, random) : text)
  const authorization = `MWS demo:partner:${signatureOf({ path: signed, date, secret })}`
  return {
    method: 'POST',
    url: path + query,
    authorization: change(authorization, 0.6),
    date: change(date, 0.1),
    partnerId: random.pick(['7001', '7001', '7001', '07001', ' 7001', '7002', '', undefined]),
    doubled: random.chance(0.02) ? ['date'] : [],
  }
}

function isAccepted(partner: PartnerWithSecrets, call: PartnerCall): boolean {
  if (!isVerified(deps, partner, call)) return false
  if (partner.stage === 'sandbox' && toleratedIn(deps, partner, call).length > 0) return false
  return call.partnerId === undefined || namesPartner(call.partnerId, partner.partner_id)
}

it.each(['live', 'sandbox'] as const)(`both agree on ${CALLS} random calls of a partner in stage %s`, (stage) => {
  const partner = partnerOf(stage)
  const known = {
    ...{ clientId: partner.client_id, partnerId: '7001', strict: stage === 'sandbox' },
    secrets: partner.secrets.map(({ secret }) => secret),
  }
  const settings = { now: NOW, skewSeconds: SKEW_S, prefixes: [''] }
  const differing: string[] = []
  let accepted = 0
  for (let place = 0; place < CALLS; place++) {
    const call = callOf(randomAt(fuzzSettings().seed, place))
    const isRight = isAccepted(partner, call)
    const { mistakes } = diagnose(call, known, settings, (...given) => explain(...given, []))
    if (isRight) accepted++
    if (isRight !== (mistakes.length === 0)) differing.push(`${JSON.stringify(call)}: ${isRight}, ${mistakes}`)
  }
  expect(differing).toEqual([])
  expect(accepted).toBeGreaterThan(CALLS / 20)
  expect(accepted).toBeLessThan(CALLS / 2)
})
