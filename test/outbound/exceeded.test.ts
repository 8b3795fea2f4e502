import { expect, it } from 'vitest'
import { exceededLimit } from '../../src/platform/outbound/call-failure.ts'

const LIMITS = { connectMs: 2_500, headersMs: 4_000, totalMs: 6_000, bytes: 2_097_152 }

it.each([
  ['dns', 'UND_ERR_CONNECT_TIMEOUT', 'the host name could not be resolved within 2.5 s'],
  ['connect', 'UND_ERR_CONNECT_TIMEOUT', 'could not connect within 2.5 s'],
  ['tls', 'UND_ERR_CONNECT_TIMEOUT', 'could not establish TLS within 2.5 s'],
  ['timeout', 'UND_ERR_HEADERS_TIMEOUT', 'the response took too long: nothing came within 4 s'],
  ['timeout', 'TimeoutError', 'the response took too long: it was not complete within 6 s'],
  ['too-large', 'UND_ERR_RES_EXCEEDED_MAX_SIZE', 'the response is larger than 2 MiB'],
  ['too-large', 'UND_ERR_HEADERS_OVERFLOW', 'the headers of the response are larger than 16 KiB'],
  ['connect', 'ECONNREFUSED', undefined],
] as const)('%s by %s names the limit of the settings', (failure, code, told) => {
  expect(exceededLimit(failure, code, LIMITS)).toEqual(told)
})
