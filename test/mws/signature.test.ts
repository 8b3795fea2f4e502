import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { authorizationHeader, sign, stringToSign } from '../../src/platform/lib/crypto/signing.ts'
import { parseAuthorization, verify } from '../../src/ticketing/mws/authenticate.ts'
import { signatureOf, signedHeaders } from '../signer.ts'
import vectors from '../vectors.json' with { type: 'json' }

const { secret, method, date, signatures } = vectors.mws
const path = '/rhone/mtp/api/order/consume/notice'
const partner = { partnerId: '7001', clientId: 'shop', clientSecret: secret }

describe('the signature of area B', () => {
  it.each(Object.entries(signatures))('matches the vector of %s', (vectorPath, signature) => {
    expect(sign(secret, { method, path: vectorPath, date })).toBe(signature)
    expect(signatureOf({ path: vectorPath, date, secret })).toBe(signature)
  })

  it('covers upper-case method, space, path, line feed and date', () => {
    expect(stringToSign({ method: 'post', path: '/a', date: 'D' })).toBe('POST /a\nD')
    expect(authorizationHeader('shop', secret, { method, path, date })).toBe(
      signedHeaders(partner, { path, date }).Authorization,
    )
  })
})

const callSigned = (url: string, signedPath: string, by = secret) => ({
  method: 'POST',
  url,
  date,
  authorization: signedHeaders({ ...partner, clientSecret: by }, { path: signedPath, date }).Authorization,
})

describe('verification', () => {
  it.each([
    [path, path],
    [`${path}?a=1`, path],
    [`${path}?a=1`, `${path}?a=1`],
    [`${path}?`, `${path}?`],
    ['/mtp/api/%E4%B8%AD', '/mtp/api/%E4%B8%AD'],
    ['/mtp/api/%E4%B8%AD', '/mtp/api/中'],
    [`http://gate.example${path}?a=1`, path],
  ])('of a call to %s accepts a signature of %s', (url, signedPath) => {
    expect(verify(callSigned(url, signedPath), 'shop', [secret])).toBe(0)
  })

  it.each([
    [path, '/mtp/api/order/consume/notice'],
    ['/mtp/api/order/consume/notice', path],
    [path, `${path}/`],
    [path, path.slice(1)],
    [path, `https://gate.example${path}`],
    [`${path}?a=1`, `${path}?a=2`],
    [path, path.toUpperCase()],
    ['/mtp/api/%E0', '/mtp/api/'],
  ])('of a call to %s refuses a signature of %s', (url, signedPath) => {
    expect(verify(callSigned(url, signedPath), 'shop', [secret])).toBeNull()
  })

  it('tells which of several live secrets was used', () => {
    expect(verify(callSigned(path, path, 'new'), 'shop', ['old', 'new'])).toBe(1)
    expect(verify(callSigned(path, path, 'old'), 'shop', ['old', 'new'])).toBe(0)
    expect(verify(callSigned(path, path, 'gone'), 'shop', ['old', 'new'])).toBeNull()
    expect(verify(callSigned(path, path), 'shop', [])).toBeNull()
  })

  it('compares the whole header', () => {
    const call = callSigned(path, path)
    expect(verify(call, 'another', [secret])).toBeNull()
    for (const authorization of [
      `${call.authorization} `,
      call.authorization.replace('MWS', 'mws'),
      call.authorization.replace('MWS ', 'MWS  '),
      call.authorization.slice(0, -1),
      '',
    ]) {
      expect(verify({ ...call, authorization }, 'shop', [secret]), authorization).toBeNull()
    }
  })

  it('fails when any one character of path, date or signature is changed', () => {
    const call = callSigned(path, path)
    fc.assert(
      fc.property(fc.constantFrom('url' as const, 'date' as const, 'authorization' as const), fc.nat(), (part, at) => {
        const index = at % call[part].length
        const other = call[part][index] === 'x' ? 'y' : 'x'
        const changed = call[part].slice(0, index) + other + call[part].slice(index + 1)
        expect(verify({ ...call, [part]: changed }, 'shop', [secret])).toBeNull()
      }),
    )
  })
})

describe('the Authorization header', () => {
  it('is split at its last colon', () => {
    expect(parseAuthorization('MWS shop:abc=')).toEqual({ clientId: 'shop', signature: 'abc=' })
    expect(parseAuthorization('MWS a:b:c:abc=')).toEqual({ clientId: 'a:b:c', signature: 'abc=' })
    expect(parseAuthorization('MWS shop:')).toEqual({ clientId: 'shop', signature: '' })
  })

  it.each([
    ['', 'Authorization: the scheme is not "MWS" and one space'],
    ['shop:abc=', 'Authorization: the scheme is not "MWS" and one space'],
    ['mws shop:abc=', 'Authorization: the scheme is not "MWS" and one space'],
    ['MWS\tshop:abc=', 'Authorization: the scheme is not "MWS" and one space'],
    ['Basic c2hvcDphYmM=', 'Authorization: the scheme is not "MWS" and one space'],
    ['MWS shop abc=', 'Authorization: no colon between clientId and signature'],
    ['MWS :abc=', 'Authorization: the clientId is empty'],
    ['MWS  :abc=', 'Authorization: the clientId is empty'],
  ])('%j is refused', (header, problem) => {
    expect(parseAuthorization(header)).toEqual({ problem })
  })
})
