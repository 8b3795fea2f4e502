import { expect, it } from 'vitest'
import { MASK, maskedHeaders, masker, NOT_KEPT } from '../../../src/platform/lib/crypto/masking.ts'

/** Which headers of a call are recorded, and in which form. */

const kept = (headers: Record<string, string | string[] | undefined>) => maskedHeaders(headers, (text) => text)

it.each([
  'Cookie',
  'cookie',
  'Set-Cookie',
  'X-Api-Key',
  'Proxy-Authorization',
  'X-Amz-Security-Token',
  'X-Forwarded-Authorization',
  'X-Original-Authorization',
  'Authentication-Info',
  'X-Forwarded-For',
  'X-CSRF-Token',
])('%s is recorded by name only', (name) => {
  expect(kept({ [name]: 'credential' })).toEqual({ [name]: NOT_KEPT })
  expect(kept({ [name]: ['credential', 'another'] })).toEqual({ [name]: NOT_KEPT })
})

it('a header that is temporarily hidden, like Content-Type in read-body.ts, is left out', () => {
  expect(kept({ 'content-type': undefined, accept: '*/*' })).toEqual({ accept: '*/*' })
})

it('a secret in any other header is masked', () => {
  const mask = masker(['s3cret'])
  expect(maskedHeaders({ 'x-echo': 'key=s3cret' }, mask)).toEqual({ 'x-echo': MASK })
})

it('headers that explain a call are recorded, with the signature shortened', () => {
  const signed = { Authorization: 'MWS client:c2lnbmF0dXJl', authorization: 'Basic dXNlcjpwYXNzd29yZA==' }
  const plain = { Date: 'Tue, 05 May 2015 06:11:34 GMT', PartnerId: '7001', 'content-type': 'application/json' }
  expect(kept({ ...signed, ...plain, host: undefined })).toEqual({
    ...plain,
    Authorization: 'MWS client:c2ln…',
    authorization: 'Basi…',
  })
})

it.each([
  ['JSON', (secret: string) => JSON.stringify(secret)],
  ['PHP’s json_encode', (secret: string) => JSON.stringify(secret).replaceAll('/', '\\/')],
  ['Gson', (secret: string) => JSON.stringify(secret).replaceAll('=', '\\u003d')],
  ['.NET', (secret: string) => JSON.stringify(secret).replaceAll('+', '\\u002B')],
  ['a URL', encodeURIComponent],
  ['a URL in lower case', (secret: string) => encodeURIComponent(secret).replace(/%../g, (code) => code.toLowerCase())],
])('a secret is masked as %s writes it', (_what, written) => {
  const secret = 'ab/cd+ef=='
  const text = masker([secret])(`{"echo":[${written(secret)}]}`)
  expect(text).toContain(MASK)
  expect(text).not.toContain('cd')
})

it.each([
  ['Gson', String.raw`k\u003cey\u0026\u0027\u003eof\u003d16+ch`],
  ['Go', String.raw`k\u003cey\u0026'\u003eof=16+ch`],
  ['.NET', String.raw`k\u003Cey\u0026\u0027\u003Eof=16\u002Bch`],
])('a key of any characters is masked as %s writes it', (_what, written) => {
  expect(masker([`k<ey&'>of=16+ch`])(`{"echo":"${written}"}`)).toBe(`{"echo":"${MASK}"}`)
})
