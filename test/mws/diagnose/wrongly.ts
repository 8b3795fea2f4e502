import { createHash, createHmac } from 'node:crypto'
import type { Signing } from '../../signer.ts'

/** The call on which every mistake is tried. Its day of the month is below 10, so `06` and `6` differ. */
export const CALL = {
  method: 'POST',
  host: 'gate.example:8443',
  path: '/rhone/mtp/api/order/consume/notice',
  url: '/rhone/mtp/api/order/consume/notice?trace=1',
  date: 'Wed, 06 May 2026 10:34:20 GMT',
}

export const PARTNER = {
  clientId: 'demo:partner',
  partnerId: '7001',
  secrets: ['123456ce8b61f8e608eaf2e9702864aF'],
}
const secret = PARTNER.secrets[0] as string
const { path, date } = CALL

const hmacWith =
  (hash: string): Signing['hmac'] =>
  (key, text) =>
    createHmac(hash, key).update(text).digest()
const base64 = (bytes: Buffer) => bytes.toString('base64')
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
/** Another Base64 text that decodes to the same bytes: it sets unused bits of the last character. */
export const withUnusedBits = (text: string) =>
  text.replace(/[^=](?==)/, (last) => LETTERS[LETTERS.indexOf(last) | 1] ?? last)

/** For each named mistake, the ways in which a partner makes it, as options of the independent signer. */
export const WRONGLY: Record<string, Partial<Signing>[]> = {
  'method-lower-case': [{ method: 'post' }, { method: 'Post' }],
  'method-wrong': [{ method: 'GET' }],
  'method-missing': [{ method: '' }],
  'space-missing': [{ space: '' }],
  'space-replaced': [{ space: '\n' }, { space: '  ' }],
  'newline-missing': [{ newline: '' }],
  'newline-literal': [{ newline: '\\n' }, { newline: '/n' }],
  'newline-crlf': [{ newline: '\r\n' }],
  'newline-replaced': [{ newline: ' ' }, { newline: '\n\n' }],
  'trailing-newline': [{ end: '\n' }, { end: '\r\n' }],
  'full-url-signed': [
    { path: `https://gate.example:8443${path}` },
    { path: `http://gate.example${path}` },
    { path: `https://gate.example:8443${path}?trace=1` },
    { path: `gate.example${path}` },
  ],
  'query-signed': [{ path: `${path}?` }],
  'path-of-another-environment': [
    { path: '/mtp/api/order/consume/notice' },
    { path: '/test/mtp/api/order/consume/notice' },
    { path: '/rhone/lv/order/consume/notice' },
  ],
  'path-of-another-endpoint': [
    { path: '/rhone/mtp/api/order/refund/notice' },
    { path: '/rhone/mtp/api/order/test/ba' },
  ],
  'path-slash': [{ path: path.slice(1) }, { path: `${path}/` }],
  'path-encoded': [{ path: encodeURIComponent(path) }, { path: encodeURIComponent(path).replaceAll('%2F', '%2f') }],
  'hex-instead-of-base64': [
    { encode: (bytes) => bytes.toString('hex') },
    { encode: (bytes) => bytes.toString('hex').toUpperCase() },
  ],
  'base64-last-character': [{ encode: (bytes) => withUnusedBits(base64(bytes)) }],
  'base64-of-hex': [{ encode: (bytes) => base64(Buffer.from(bytes.toString('hex'))) }],
  'base64-twice': [{ encode: (bytes) => base64(Buffer.from(base64(bytes))) }],
  base64url: [{ encode: (bytes) => base64(bytes).replaceAll('+', '-').replaceAll('/', '_') }],
  'base64-padding-missing': [{ encode: (bytes) => base64(bytes).replace(/=+$/, '') }],
  'base64-line-breaks': [
    { encode: (bytes) => `${base64(bytes).slice(0, 20)}\r\n${base64(bytes).slice(20)}` },
    { encode: (bytes) => `${base64(bytes)}\\n` },
    { encode: (bytes) => `${base64(bytes)}%0A` },
    { encode: (bytes) => `${base64(bytes)}\n` },
  ],
  'signature-url-encoded': [
    { encode: (bytes) => encodeURIComponent(base64(bytes)) },
    { encode: (bytes) => base64(bytes).replaceAll('+', ' ') },
  ],
  'sha-256-used': [{ hmac: hmacWith('sha256') }],
  'sha-224-used': [{ hmac: hmacWith('sha224') }],
  'sha-384-used': [{ hmac: hmacWith('sha384') }],
  'ripemd-160-used': [{ hmac: hmacWith('ripemd160') }],
  'sha-512-used': [{ hmac: hmacWith('sha512') }],
  'md5-used': [{ hmac: hmacWith('md5') }],
  'key-and-message-swapped': [{ hmac: (key, message) => createHmac('sha1', message).update(key).digest() }],
  'hmac-missing': [
    { hmac: (key, message) => createHash('sha1').update(key).update(message).digest() },
    { hmac: (key, message) => createHash('md5').update(message).update(key).digest() },
    { hmac: (_key, message) => createHash('sha1').update(message).digest() },
  ],
  'secret-with-white-space': [{ secret: `${secret}\n` }, { secret: ` ${secret}` }, { secret: `${secret}\r\n` }],
  'secret-with-prefix': [{ secret: `clientSecret: ${secret}` }, { secret: `demo:partner:${secret}` }],
  'secret-quoted': [{ secret: `"${secret}"` }],
  'secret-in-other-case': [{ secret: secret.toUpperCase() }, { secret: secret.toLowerCase() }],
  'secret-cut': [{ secret: secret.slice(0, -1) }, { secret: secret.slice(1) }],
  'secret-decoded': [{ secret: Buffer.from(secret, 'hex') }, { secret: Buffer.from(secret, 'base64') }],
  'secret-encoded': [{ secret: base64(Buffer.from(secret)) }, { secret: Buffer.from(secret).toString('hex') }],
  'client-id-as-key': [{ secret: 'demo:partner' }],
  'partner-id-as-key': [{ secret: '7001' }],
  'date-signed-as-iso-8601': [
    { date: '2026-05-06T10:34:20Z' },
    { date: '2026-05-06T10:34:20.000Z' },
    { date: '2026-05-06T18:34:20+08:00' },
    { date: '2026-05-06 18:34:20' },
    { date: '2026-05-06 10:34:20' },
  ],
  'date-signed-as-rfc-850': [{ date: 'Wednesday, 06-May-26 10:34:20 GMT' }],
  'date-signed-as-asctime': [
    { date: 'Wed May  6 10:34:20 2026' },
    { date: 'Wed May 06 10:34:20 GMT 2026' },
    { date: 'Wed May 06 18:34:20 CST 2026' },
  ],
  'date-signed-as-epoch': [{ date: '1778063660' }, { date: '1778063660000' }],
  'date-signed-with-other-day-digits': [{ date: 'Wed, 6 May 2026 10:34:20 GMT' }],
  'date-signed-in-other-case': [{ date: date.toLowerCase() }, { date: date.toUpperCase() }],
  'date-signed-with-other-zone': [
    { date: 'Wed, 06 May 2026 10:34:20 +0000' },
    { date: 'Wed, 06 May 2026 10:34:20 UTC' },
  ],
  'date-signed-in-local-time': [{ date: 'Wed, 06 May 2026 18:34:20 GMT' }, { date: 'Wed, 06 May 2026 18:34:20 +0800' }],
  'date-sent-in-other-form': [{ date: 'Wed, 06 May 2026 02:34:20 GMT' }],
  'date-signed-with-chinese-names': [
    { date: '星期三, 06 五月 2026 10:34:20 GMT' },
    { date: '周三, 06 5月 2026 10:34:20 GMT' },
  ],
  'date-minutes-apart': [{ date: 'Wed, 06 May 2026 10:34:23 GMT' }, { date: 'Wed, 06 May 2026 10:24:20 GMT' }],
  'date-computed-twice': [{ date: 'Wed, 06 May 2026 10:34:19 GMT' }, { date: 'Wed, 06 May 2026 10:34:21 GMT' }],
  'date-with-header-name': [{ date: `Date: ${date}` }],
  'date-not-signed': [{ date: '' }],
}
