import { describe, expect, it } from 'vitest'
import { randomBytes } from '../../../src/platform/lib/crypto/opaque-token.ts'

describe('random bytes', () => {
  it('are as many as asked for, never twice the same, and stay as they are', () => {
    const taken = Array.from({ length: 2_000 }, () => randomBytes(21))
    const seen = new Set(taken.map((bytes) => bytes.toString('hex')))
    expect(seen.size).toBe(2_000)
    expect(taken.every((bytes) => bytes.length === 21)).toBe(true)
    // No stretch of zeroes where what was handed out is wiped, or where nothing was fetched yet.
    expect([...seen].filter((hex) => hex.includes('0'.repeat(12)))).toEqual([])
  })

  it('also when more are asked for than are left', () => {
    const odd = [8_000, 8_192, 100, 8_192].map((count) => randomBytes(count))
    expect(odd.map((bytes) => bytes.length)).toEqual([8_000, 8_192, 100, 8_192])
    for (const bytes of odd) expect(bytes.toString('hex')).not.toContain('0'.repeat(16))
  })
})
