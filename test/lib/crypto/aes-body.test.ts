import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { AES_KEY, encryptBody, KEY_DOES_NOT_FIT, openBody } from '../../../src/platform/lib/crypto/aes-body.ts'
import { aesDecrypted, aesEncrypted } from '../../aes.ts'

const KEY = '0123456789abcdef'
const HEX = '30313233343536373839616263646566'
const TEXT = '{"partnerId":1001}'
const VECTOR = 'KySuk7oNn6QfgzUaTZMIssYyDR5I9Gz8T34ZdBY2JyQ='
const OTHER = 'fedcba9876543210'

const opened = (body: string | Buffer, { key = KEY as string | null, status = undefined as unknown } = {}) => {
  const result = openBody(Buffer.from(body), status, key)
  return 'problem' in result ? result.problem : [result.bytes.toString(), result.decrypted]
}

it('the tests encrypt like the openssl command', () => {
  const hex = '00ff10ef20df30cf40bf50af609f708f'
  const iv = hex.slice(16) + hex.slice(0, 16)
  const encrypted = execFileSync('openssl', ['enc', '-aes-128-cbc', '-K', hex, '-iv', iv], { input: '中文 👋' })
  expect(aesEncrypted(hex, '中文 👋')).toBe(encrypted.toString('base64'))
})

describe('an encrypted body', () => {
  it('matches the example of the contract to the byte', () => {
    expect(encryptBody(KEY, TEXT)).toBe(VECTOR)
    expect(opened(VECTOR)).toEqual([TEXT, true])
  })

  it('is the same for the key as hex digits, in either case', () => {
    expect(encryptBody(HEX, TEXT)).toBe(VECTOR)
    expect(opened(VECTOR, { key: HEX.toUpperCase() })).toEqual([TEXT, true])
    const binary = '00ff10ef20df30cf40bf50af609f708f'
    expect(encryptBody(binary, TEXT)).toBe(aesEncrypted(binary, TEXT))
  })

  it.each(['', 'x', 'x'.repeat(15), 'x'.repeat(16), '中文 👋', '{"a":1}'.repeat(10_000)])(
    'can be read by an independent implementation, and vice versa: %#',
    (text) => {
      for (const key of [KEY, HEX, '0f'.repeat(16)]) {
        const ours = encryptBody(key, text)
        expect(ours).toBe(aesEncrypted(key, text))
        expect(aesDecrypted(key, ours)).toBe(text)
        expect(openBody(Buffer.from(ours), 'encrypted', key)).toEqual({ bytes: Buffer.from(text), decrypted: true })
      }
    },
  )

  it('may have line breaks in its Base64, and whitespace around it', () => {
    expect(opened(` ${VECTOR.slice(0, 20)}\r\n${VECTOR.slice(20)}\n`)).toEqual([TEXT, true])
  })

  it.each([
    ['no key', VECTOR, { key: null }, 'the body is encrypted, but no AES key is set for this partner'],
    ['another key', VECTOR, { key: OTHER }, KEY_DOES_NOT_FIT],
    [
      'cut off in a block',
      VECTOR.slice(0, 40),
      {},
      'the encrypted body is incomplete: its Base64 has 30 bytes, not a multiple of 16',
    ],
    ['cut off after a block', Buffer.from(VECTOR, 'base64').subarray(0, 16).toString('base64'), {}, KEY_DOES_NOT_FIT],
    [
      'a few bytes',
      'KySuk7oN',
      { status: 'encrypted' },
      'the encrypted body is incomplete: its Base64 has 6 bytes, not a multiple of 16',
    ],
    [
      'no Base64',
      '<html>',
      { status: ' Encrypted' },
      'the body is neither JSON nor the Base64 that X-Encryption-Status announces',
    ],
    [
      'base64url',
      VECTOR.replace('+', '-').replace('K', '_'),
      { status: 'encrypted' },
      'the body is neither JSON nor the Base64 that X-Encryption-Status announces',
    ],
  ])('that cannot be read is refused with the reason: %s', (_name, body, given, problem) => {
    expect(String(opened(body, given))).toBe(String(problem))
  })

  it.each([TEXT, ` \n${TEXT}`, '[1]', '', 'true', '12345', 'no such product', '<html>', '{"not whole'])(
    'is not detected in a plain body: %j',
    (body) => {
      expect(opened(body)).toEqual([body, false])
      expect(opened(body, { key: null })).toEqual([body, false])
    },
  )

  it('is not assumed in a plain body, whatever its header says', () => {
    expect(opened(TEXT, { status: 'encrypted' })).toEqual([TEXT, false])
    expect(opened('', { status: 'encrypted' })).toEqual(['', false])
  })
})

it.each([
  [KEY, true],
  ['a key with spaces'.slice(0, 16), true],
  [HEX, true],
  [HEX.toUpperCase(), true],
  ['0123456789abcde', false],
  [`${KEY}g`, false],
  ['中中中中中中中中中中中中中中中中', false],
  [`${KEY}\n`, false],
  ['g'.repeat(32), false],
])('a key has 16 characters or 32 hex digits: %j', (key, fits) => {
  expect(AES_KEY.test(key)).toBe(fits)
})
