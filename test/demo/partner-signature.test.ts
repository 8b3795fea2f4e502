import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { authorization } from '../../src/demo/partner/signature.ts'
import { signedHeaders } from '../signer.ts'
import { openPartner, PARTNER, sourcesOfPartner, type TestPartner } from './partner.ts'

let partner: TestPartner
beforeAll(async () => {
  partner = await openPartner()
})
afterAll(() => partner.app.close())

const REFUSED = { code: 300, describe: 'BA verification failed', partnerId: '7001' }
const at = (seconds: number) => {
  const date = new Date(partner.clock.now().getTime() + seconds * 1000)
  return { date: date.toUTCString() }
}

describe('the signature of the demo partner', () => {
  it('matches the published example', () => {
    const signed = { method: 'post', path: '/mtp/api/deal/change/notice', date: 'Wed, 06 May 2015 10:34:20 GMT' }
    expect(authorization('client', '123456ce8b61f8e608eaf2e9702864a9', signed)).toBe(
      'MWS client:dyETsD0AcZ5Yxp53p57m8WNFj7g=',
    )
  })

  it('is accepted when right, with a clock up to ten minutes off', async () => {
    for (const seconds of [0, -600, 600]) {
      expect(await partner.call('/alive', undefined, at(seconds)), `${seconds} s`).toMatchObject({ code: 200 })
    }
    expect(await partner.call('/alive?trace=1', undefined, { headers: headersFor('/alive') })).toMatchObject({
      code: 200,
    })
  })

  const headersFor = (path: string) => ({
    ...signedHeaders(PARTNER, { path, date: partner.clock.now().toUTCString() }),
  })

  it.each<[string, () => Parameters<TestPartner['call']>[2]]>([
    ['another secret', () => ({ secret: 'another' })],
    ['an unknown clientId', () => ({ clientId: 'somebody' })],
    ['a clientId of another case', () => ({ clientId: 'Demo-Partner' })],
    ['a Date that is too old', () => at(-601)],
    ['a Date that is too new', () => at(601)],
    ['a Date without GMT', () => ({ date: 'Wed, 06 May 2026 10:34:20' })],
    ['a Date with an offset', () => ({ date: 'Wed, 06 May 2026 18:34:20 +0800' })],
    ['an ISO Date', () => ({ date: '2026-05-06T10:34:20Z' })],
    ['no Date', () => ({ headers: { Date: '' } })],
    ['no Authorization', () => ({ headers: { Authorization: '' } })],
    [
      'another scheme',
      () => ({ headers: { Authorization: headersFor('/alive').Authorization.replace('MWS', 'Basic') } }),
    ],
    [
      'the scheme in lower case',
      () => ({ headers: { Authorization: headersFor('/alive').Authorization.replace('MWS', 'mws') } }),
    ],
    ['something after the signature', () => ({ headers: { Authorization: `${headersFor('/alive').Authorization}=` } })],
    ['the signature of another path', () => ({ headers: headersFor('/order/refund') })],
    ['the Date of another call', () => ({ headers: { Date: at(1).date } })],
  ])('is refused with %s', async (_name, overrides) => {
    expect(await partner.call('/alive', undefined, overrides())).toEqual(REFUSED)
  })

  it('is checked before the body, so that an unsigned caller learns nothing about its body', async () => {
    expect((await partner.send('/order/create', '{not json', { secret: 'x' })).json()).toEqual(REFUSED)
    expect((await partner.send('/order/create', '{not json')).json()).toMatchObject({ code: 410 })
  })
})

describe('the demo partner as an example to copy', () => {
  it('imports nothing from the service, except in control/, which is not copied', () => {
    const copied = sourcesOfPartner().filter(([file]) => !file.startsWith('control/'))
    const foreign = copied.flatMap(([file, source]) => {
      const depth = file.split('/').length - 1
      return [...source.matchAll(/from '([^']+)'/g)]
        .map(([, name = '']) => name)
        .filter((name) =>
          name.startsWith('.')
            ? name.split('../').length - 1 > depth
            : !/^(node:.*|fastify|undici|lossless-json)$/.test(name),
        )
        .map((name) => `${file} → ${name}`)
    })
    expect(foreign).toEqual([])
  })

  it('keeps its correct code free of imports of its mistakes', () => {
    const importing = sourcesOfPartner()
      .filter(
        ([file, source]) => !/^(mistakes|control)\//.test(file) && file !== 'index.ts' && source.includes('mistakes/'),
      )
      .map(([file]) => file)
    expect(importing).toEqual([])
  })

  it('never writes its secret or a signature to the log', async () => {
    await partner.call('/alive', undefined, at(-601))
    expect(partner.logged()).toContain('BA verification failed')
    expect(partner.logged()).not.toMatch(/MWS|a secret for tests/)
  })
})
