import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fromEpochSeconds } from '../../../src/platform/lib/clock.ts'
import { deriveKeys } from '../../../src/platform/lib/crypto/keys.ts'
import { issueToken, PREFIX, parseToken } from '../../../src/platform/lib/crypto/opaque-token.ts'
import { altered } from '../../altered.ts'

const keys = deriveKeys('a secret key that is used by tests and by nothing else')
const expiresAt = fromEpochSeconds(1_800_000_000)

const access = () => issueToken(keys, { prefix: PREFIX.accessToken, routingKey: 7, expiresAt })

describe('an opaque token', () => {
  it('gives back its routing key and expiry', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 65_535 }),
        fc.integer({ min: 0, max: 2 ** 32 - 1 }),
        (routingKey, seconds) => {
          const given = { routingKey, expiresAt: fromEpochSeconds(seconds) }
          const within = new Date(seconds * 1000 + 999)
          const made = issueToken(keys, { prefix: PREFIX.accessToken, ...given, expiresAt: within })
          const read = parseToken(keys, PREFIX.accessToken, made.text)
          expect(read).toEqual({ ...given, text: expect.any(String), hash: expect.any(Buffer) })
          expect(read).toEqual(made)
        },
      ),
    )
  })

  it('has the documented format and is unique', () => {
    const made = Array.from({ length: 100 }, () => access().text)
    for (const text of made) expect(text).toMatch(/^ghat_[A-Za-z0-9_-]{48}$/)
    expect(new Set(made).size).toBe(100)
  })

  it('is stored as a whole HMAC-SHA256, of which it carries the first nine bytes', () => {
    const { text, hash } = issueToken(keys, { prefix: PREFIX.refreshToken, routingKey: 7, expiresAt, boundTo: 'app-1' })
    const bytes = Buffer.from(text.slice('ghrt_'.length), 'base64url')
    const expected = createHmac('sha256', keys.token).update('ghrt\napp-1\n').update(bytes.subarray(0, 27)).digest()
    expect(hash).toEqual(expected)
    expect(bytes.subarray(27)).toEqual(expected.subarray(0, 9))
  })

  it('is refused when any one character is changed', () => {
    const { text } = access()
    for (let at = 0; at < text.length; at++) {
      const forged = altered(text, at)
      expect(parseToken(keys, PREFIX.accessToken, forged), forged).toBeNull()
    }
  })

  it('is refused under another prefix, another key or another boundTo', () => {
    const { text } = issueToken(keys, { prefix: PREFIX.refreshToken, routingKey: 7, expiresAt, boundTo: 'app-1' })
    expect(parseToken(keys, PREFIX.refreshToken, text, 'app-1')).not.toBeNull()
    expect(parseToken(keys, PREFIX.refreshToken, text, 'app-2')).toBeNull()
    expect(parseToken(keys, PREFIX.accessToken, text.replace('ghrt', 'ghat'), 'app-1')).toBeNull()
    expect(
      parseToken(deriveKeys('another secret key of some length, surely'), PREFIX.refreshToken, text, 'app-1'),
    ).toBeNull()
  })

  it.each(['', 'ghat_', 'x', `ghat_${'A'.repeat(48)}`, `ghat_${'é'.repeat(48)}`, 'ghat_'.padEnd(8_000, 'A')])(
    'is refused when malformed: %.20s',
    (text) => {
      expect(parseToken(keys, PREFIX.accessToken, text)).toBeNull()
    },
  )
})
