import { expect, it } from 'vitest'
import { exactReason } from '../../src/platform/outbound/call-failure.ts'

const LIMITS = { connectMs: 2_500, headersMs: 4_000, totalMs: 6_000, bytes: 2_097_152 }

it.each([
  ['dns', 'UND_ERR_CONNECT_TIMEOUT', 'the host name could not be resolved within 2.5 s'],
  ['connect', 'UND_ERR_CONNECT_TIMEOUT', 'could not connect within 2.5 s'],
  ['tls', 'UND_ERR_CONNECT_TIMEOUT', 'could not establish TLS within 2.5 s'],
  ['timeout', 'UND_ERR_HEADERS_TIMEOUT', 'the response took too long: nothing came within 4 s'],
  ['timeout', 'TimeoutError', 'the response took too long: it was not complete within 6 s'],
  ['too-large', 'UND_ERR_RES_EXCEEDED_MAX_SIZE', 'the response is larger than 2 MiB'],
  ['too-large', 'UND_ERR_HEADERS_OVERFLOW', 'the headers of the response are larger than 16 KiB'],
  ['broken', 'HPE_INVALID_CONSTANT', 'what came back is not a valid HTTP response'],
  ['broken', 'HTTPParserError', 'what came back is not a valid HTTP response'],
  ['broken', 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'the Content-Length of the response is not the length of its body'],
  ['broken', 'UND_ERR_SOCKET', undefined],
  ['tls', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'could not establish TLS, because the certificate is self-signed'],
  ['tls', 'CERT_HAS_EXPIRED', 'could not establish TLS, because the certificate has expired'],
  ['tls', 'ERR_SSL_WRONG_VERSION_NUMBER', undefined],
  ['connect', 'CERT_HAS_EXPIRED', undefined],
  ['connect', 'ECONNREFUSED', undefined],
] as const)('%s with code %s is reported with the configured limit or the known cause', (failure, code, reason) => {
  expect(exactReason({ failure, code, isAnswered: false }, LIMITS)).toEqual(reason)
})

it('a truncated body is not reported as invalid HTTP', () => {
  expect(exactReason({ failure: 'broken', code: 'HTTPParserError', isAnswered: true }, LIMITS)).toBeUndefined()
})
