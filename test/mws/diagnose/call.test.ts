import { describe, expect, it } from 'vitest'
import { readLooseAuthorization } from '../../../src/ticketing/mws/diagnose/authorization.ts'
import { diagnose } from '../../../src/ticketing/mws/diagnose/index.ts'
import { diagnoseUnverified } from '../../../src/ticketing/mws/diagnose-call.ts'
import { processorTime } from '../../processor-time.ts'
import { signatureOf } from '../../signer.ts'
import { CALL, PARTNER } from './wrongly.ts'

const settings = {
  now: new Date('2026-05-06T10:34:20Z'),
  skewSeconds: 600,
  prefixes: ['', '/rhone', '/test'],
}
const secret = PARTNER.secrets[0] as string
const signature = signatureOf({ path: CALL.path, date: CALL.date, secret })
const withoutNewline = signatureOf({ path: CALL.path, date: CALL.date, secret, newline: '' })
const mistakes = (call: object, partner: typeof PARTNER = PARTNER) =>
  diagnose({ ...CALL, authorization: `MWS demo:partner:${signature}`, ...call }, partner, settings).mistakes

describe('the diagnosis of the Authorization header', () => {
  it.each([
    ['', ['authorization-missing']],
    [`demo:partner:${signature}`, ['scheme-missing']],
    [`mws demo:partner:${signature}`, ['scheme-wrong']],
    [`MWS:demo:partner:${signature}`, ['scheme-wrong']],
    [`MWSdemo:partner:${signature}`, ['scheme-wrong']],
    [`Basic demo:partner:${signature}`, ['scheme-wrong']],
    [`MWS demo:partner ${signature}`, ['client-id-unknown', 'signature-unrecognised']],
    [`MWS  demo:partner : ${signature}`, ['authorization-white-space']],
    ['MWS demo:partner:', ['signature-missing']],
    [`MWS 7001:${signature}`, ['partner-id-instead-of-client-id']],
    [`MWS 7001:${withoutNewline}`, ['partner-id-instead-of-client-id', 'newline-missing']],
    [`mws demo:partner:${withoutNewline}`, ['scheme-wrong', 'newline-missing']],
    [`MWS someone:${signature}`, ['client-id-unknown']],
  ])('finds the mistakes in: %s', (authorization, expected) => {
    expect(mistakes({ authorization })).toEqual(expected)
  })

  it('splits a header without a colon at its last space', () => {
    const partner = { ...PARTNER, clientId: 'shop' }
    expect(mistakes({ authorization: `MWS shop ${signature}` }, partner)).toEqual(['colon-missing'])
  })

  it('reads the clientId from a malformed header', () => {
    expect(readLooseAuthorization('mws  a:b : sig=')).toMatchObject({ clientId: 'a:b', signature: 'sig=' })
  })
})

describe('the diagnosis of a call', () => {
  it('reports an unrecognised signature for an unknown clientId, or that it is busy', () => {
    const call = { ...CALL, partnerId: '7001', authorization: `MWS nobody:${signature}` }
    expect(diagnoseUnverified(call, settings, false)).toMatchObject({
      mistakes: ['signature-unrecognised'],
      verified: false,
    })
    expect(diagnoseUnverified(call, settings, true).mistakes).toEqual(['diagnosis-busy'])
  })

  it('reports a missing Date', () => {
    expect(mistakes({ date: undefined })).toEqual(['date-header-missing'])
  })

  it('reports the PartnerId of another partner', () => {
    expect(mistakes({ partnerId: '7002' })).toEqual(['partner-id-mismatch'])
    expect(mistakes({ partnerId: '7001' })).toEqual([])
  })

  it('reports only the Date if the signature fits an invalid one', () => {
    const date = 'wed, 06 may 2026 10:34:20 gmt'
    const authorization = `MWS demo:partner:${signatureOf({ path: CALL.path, date, secret })}`
    expect(mistakes({ date, authorization })).toEqual(['date-names-in-other-case'])
  })

  it('reports mistakes in both the signature and the Date', () => {
    const date = 'Wed, 06 May 2026 18:34:20 GMT'
    const authorization = `MWS demo:partner:${signatureOf({ path: CALL.path, date, secret, newline: '\\n' })}`
    expect(mistakes({ date, authorization })).toEqual(['newline-literal', 'date-local-time-labelled-gmt'])
  })

  it('reports a Date that was signed in the right form but sent in another', () => {
    expect(mistakes({ date: '2026-05-06T10:34:20Z' })).toEqual(['date-sent-in-other-form', 'date-form-wrong'])
  })

  it('recognises the older of two live secrets', () => {
    const partner = { ...PARTNER, secrets: ['newer', secret] }
    expect(mistakes({ authorization: `MWS demo:partner:${withoutNewline}` }, partner)).toEqual(['newline-missing'])
  })

  it('shows what was signed next to what should have been signed', () => {
    const authorization = `MWS demo:partner:${withoutNewline}`
    expect(diagnose({ ...CALL, authorization }, PARTNER, settings)).toEqual({
      mistakes: ['newline-missing'],
      explanation: expect.stringContaining('The line feed between path and Date is missing.'),
      stringToSign: `POST ${CALL.path}\n${CALL.date}`,
      signedInstead: `POST ${CALL.path}${CALL.date}`,
      warnings: ['partner-id-missing'],
      verified: true,
    })
  })

  it('is cheap for a call of any size', () => {
    for (const filler of ['-', 'A', '%0a', '%', ' ', 'MWS ', ':', '=', 'é']) {
      const long = filler.repeat(100_000)
      const ms = processorTime(() => {
        mistakes({ authorization: `MWS demo:partner:${long}!` })
        mistakes({ authorization: `MWS demo:partner:x${long}!` })
        mistakes({ authorization: `${long}!` })
        mistakes({ url: `/${long}!`, date: long, host: long })
      })
      expect(ms, filler).toBeLessThan(2_000)
    }
  })
})
