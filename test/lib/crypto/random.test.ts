import { describe, expect, it } from 'vitest'
import { pooledRandomBytes } from '../../../src/platform/lib/crypto/opaque-token.ts'

describe('random bytes', () => {
  it('have the requested length, are never repeated, and do not change later', () => {
    const taken = Array.from({ length: 2_000 }, () => pooledRandomBytes(21))
    const seen = new Set(taken.map((bytes) => bytes.toString('hex')))
    expect(seen.size).toBe(2_000)
    expect(taken.every((bytes) => bytes.length === 21)).toBe(true)
    // No run of zeroes, as from a pool that is wiped after use or not filled yet.
    expect([...seen].filter((hex) => hex.includes('0'.repeat(12)))).toEqual([])
  })

  it('have the requested length even if more are requested than are left in the pool', () => {
    const odd = [8_000, 8_192, 100, 8_192].map((count) => pooledRandomBytes(count))
    expect(odd.map((bytes) => bytes.length)).toEqual([8_000, 8_192, 100, 8_192])
    for (const bytes of odd) expect(bytes.toString('hex')).not.toContain('0'.repeat(16))
  })
})
