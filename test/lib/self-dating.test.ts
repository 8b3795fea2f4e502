import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fromEpochSeconds } from '../../src/lib/clock.ts'
import { deriveKeys } from '../../src/lib/keys.ts'
import { mint, PREFIX, readSelfDating } from '../../src/lib/self-dating.ts'

const keys = deriveKeys('a secret key that is used by tests and by nothing else')
const expiresAt = fromEpochSeconds(1_800_000_000)

describe('a self-dating token', () => {
  it('gives back its routing key and expiry', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 65_535 }),
        fc.integer({ min: 0, max: 2 ** 32 - 1 }),
        (routingKey, seconds) => {
          const minted = { routingKey, expiresAt: fromEpochSeconds(seconds) }
          const text = mint(keys, { prefix: PREFIX.accessToken, ...minted })
          expect(readSelfDating(keys, PREFIX.accessToken, text)).toEqual(minted)
        },
      ),
    )
  })

  it('has the documented shape, and no two are alike', () => {
    const made = Array.from({ length: 100 }, () => mint(keys, { prefix: PREFIX.accessToken, routingKey: 7, expiresAt }))
    for (const text of made) expect(text).toMatch(/^ghat_[A-Za-z0-9_-]{48}$/)
    expect(new Set(made).size).toBe(100)
  })

  it('is refused when any one character is changed', () => {
    const text = mint(keys, { prefix: PREFIX.accessToken, routingKey: 7, expiresAt })
    for (let at = 0; at < text.length; at++) {
      const other = text[at] === 'A' ? 'B' : 'A'
      const forged = text.slice(0, at) + other + text.slice(at + 1)
      expect(readSelfDating(keys, PREFIX.accessToken, forged), forged).toBeNull()
    }
  })

  it('is refused under another prefix, another key or another bearer', () => {
    const text = mint(keys, { prefix: PREFIX.refreshToken, routingKey: 7, expiresAt, bearer: 'app-1' })
    expect(readSelfDating(keys, PREFIX.refreshToken, text, 'app-1')).not.toBeNull()
    expect(readSelfDating(keys, PREFIX.refreshToken, text, 'app-2')).toBeNull()
    expect(readSelfDating(keys, PREFIX.accessToken, text.replace('ghrt', 'ghat'), 'app-1')).toBeNull()
    expect(
      readSelfDating(deriveKeys('another secret key of some length, surely'), PREFIX.refreshToken, text, 'app-1'),
    ).toBeNull()
  })

  it.each(['', 'ghat_', 'x', `ghat_${'A'.repeat(48)}`, `ghat_${'é'.repeat(48)}`, 'ghat_'.padEnd(8_000, 'A')])(
    'is refused when malformed: %.20s',
    (text) => {
      expect(readSelfDating(keys, PREFIX.accessToken, text)).toBeNull()
    },
  )
})
