import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decryptSecret, deriveKeys, encryptSecret } from '../../../src/platform/lib/crypto/keys.ts'
import { SECRET_KEY } from '../../harness.ts'

const keys = deriveKeys(SECRET_KEY)
const cannot = /^a sealed secret cannot be opened: SECRET_KEY is not/

describe('a sealed secret', () => {
  it('opens to the same text, for any text and context', () => {
    const text = fc.string({ unit: 'grapheme' })
    fc.assert(
      fc.property(text, text, (secret, context) => {
        expect(decryptSecret(keys, encryptSecret(keys, secret, context), context)).toBe(secret)
      }),
    )
  })

  it('looks different each time and reveals only the length of the text', () => {
    const sealed = Array.from({ length: 100 }, () => encryptSecret(keys, 'a-secret-text', 'row 1'))
    expect(new Set(sealed.map((buffer) => buffer.toString('hex'))).size).toBe(100)
    expect(new Set(sealed.map((buffer) => buffer.subarray(0, 12).toString('hex'))).size).toBe(100)
    for (const buffer of sealed) {
      expect(buffer).toHaveLength(12 + 'a-secret-text'.length + 16)
      expect(buffer.includes('secret')).toBe(false)
    }
  })

  it('does not open with any one bit changed', () => {
    const sealed = encryptSecret(keys, 'secret', 'row 1')
    for (let bit = 0; bit < sealed.length * 8; bit++) {
      const altered = Buffer.from(sealed)
      altered[bit >> 3] = (altered[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      expect(() => decryptSecret(keys, altered, 'row 1')).toThrow(cannot)
    }
  })

  it('does not open if truncated or extended, in another context or under another key', () => {
    const sealed = encryptSecret(keys, 'secret', 'row 1')
    for (let length = 0; length < sealed.length; length++) {
      expect(() => decryptSecret(keys, sealed.subarray(0, length), 'row 1')).toThrow(cannot)
    }
    expect(() => decryptSecret(keys, Buffer.concat([sealed, Buffer.alloc(1)]), 'row 1')).toThrow(cannot)
    expect(() => decryptSecret(keys, sealed, 'row 2')).toThrow(cannot)
    expect(() => decryptSecret(keys, sealed, '')).toThrow(cannot)
    expect(() => decryptSecret(deriveKeys(`${SECRET_KEY}.`), sealed, 'row 1')).toThrow(cannot)
  })
})
