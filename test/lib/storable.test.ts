import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cutTo, isStorable, storableJson } from '../../src/platform/lib/storable.ts'

const anyText = fc.string({ unit: fc.constantFrom('a', '王', '🎫', '\ud83c', '\udfab', '\0', '\\', 'u0000', 'ud83c') })

it('a text is never cut in the middle of a character', () => {
  expect(['a🎫', 'ab', '🎫🎫', '', '🎫'].map((text) => cutTo(text, 2))).toEqual(['a', 'ab', '🎫', '', '🎫'])
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.nat(20), (text, most) => {
      const cut = cutTo(text, most)
      expect(text.startsWith(cut)).toBe(true)
      expect(isStorable(cut)).toBe(isStorable(text) || !cut.includes('\0'))
      expect(cut.length).toBeGreaterThanOrEqual(Math.min(most, text.length) - 1)
      expect(cut.length).toBeLessThanOrEqual(most)
    }),
  )
})

describe('JSON for jsonb', () => {
  it('equals that of JSON.stringify, except for characters that jsonb refuses', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const read: unknown = JSON.parse(storableJson({ text, list: [text] }))
        const kept = text.replace(/[\0\p{Surrogate}]/gu, '\ufffd')
        expect(read).toEqual({ text: kept, list: [kept] })
      }),
    )
  })
})
