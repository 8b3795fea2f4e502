import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { routingKeyOf } from '../../src/authorization/account/wire.ts'

describe('the routing key', () => {
  it('is the first two bytes of SHA-256 of cid:user_id', () => {
    // printf 1:10001 | sha256sum
    expect(routingKeyOf(1, '10001')).toBe(0xb46e)
  })

  it('is two bytes, the same each time, and depends on both parts', () => {
    const seen = new Set<number>()
    fc.assert(
      fc.property(fc.nat(), fc.string(), (cid, userId) => {
        const key = routingKeyOf(cid, userId)
        seen.add(key)
        expect(key).toBe(routingKeyOf(cid, userId))
        expect(Number.isInteger(key) && key >= 0 && key <= 65_535).toBe(true)
      }),
    )
    expect(seen.size).toBeGreaterThan(90)
    expect(routingKeyOf(2, '10001')).not.toBe(routingKeyOf(1, '10001'))
  })
})
