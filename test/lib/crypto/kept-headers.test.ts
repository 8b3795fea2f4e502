import { expect, it } from 'vitest'
import { MASK, maskedHeaders, masker, NOT_KEPT } from '../../../src/platform/lib/crypto/masking.ts'

/** What is kept of the headers of a call. */

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
])('%s is kept by name only', (name) => {
  expect(kept({ [name]: 'credential' })).toEqual({ [name]: NOT_KEPT })
  expect(kept({ [name]: ['credential', 'another'] })).toEqual({ [name]: NOT_KEPT })
})

it('one that is hidden for a while, as Content-Type is (read-body.ts), is not there', () => {
  expect(kept({ 'content-type': undefined, accept: '*/*' })).toEqual({ accept: '*/*' })
})

it('a secret in any of them is still told', () => {
  const mask = masker(['s3cret'])
  expect(maskedHeaders({ 'x-echo': 'key=s3cret' }, mask)).toEqual({ 'x-echo': MASK })
})

it('those that explain a call are kept, the signature shortened in either direction', () => {
  const signed = { Authorization: 'MWS client:c2lnbmF0dXJl', authorization: 'Basic dXNlcjpwYXNzd29yZA==' }
  const plain = { Date: 'Tue, 05 May 2015 06:11:34 GMT', PartnerId: '7001', 'content-type': 'application/json' }
  expect(kept({ ...signed, ...plain, host: undefined })).toEqual({
    ...plain,
    Authorization: 'MWS client:c2ln…',
    authorization: 'Basi…',
  })
})
