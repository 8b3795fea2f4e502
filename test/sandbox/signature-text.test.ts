import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { firstDifference, segmentsOf } from '../../src/sandbox/portal/signature-tool.ts'

const shown = (text: string, at?: number) => segmentsOf(text, at).map((segment) => segment.text)

describe('a text byte by byte', () => {
  it('has a sign for every invisible character', () => {
    expect(segmentsOf('POST /a\r\n\tb')).toEqual([
      { text: 'POST' },
      { text: '␠', sign: 'space', label: 'SP' },
      { text: '/a' },
      { text: '␍', sign: 'carriage-return', label: 'CR' },
      { text: '␊', sign: 'line-feed', label: 'LF' },
      { text: '␉', sign: 'tab', label: 'TAB' },
      { text: 'b' },
    ])
    expect(shown('a\u00a0b\u200bc\u3000d\u0001')).toEqual(['a', 'U+00A0', 'b', 'U+200B', 'c', 'U+3000', 'd', 'U+0001'])
    expect(shown('景区😀')).toEqual(['景区😀'])
    expect(segmentsOf('')).toEqual([])
  })

  it('marks where it differs, even after its end', () => {
    expect(segmentsOf('abc', 1)).toEqual([{ text: 'a' }, { text: 'b', differs: true }, { text: 'c' }])
    expect(segmentsOf('ab', 2)).toEqual([{ text: 'ab' }, { text: '␃', sign: 'end', label: 'END', differs: true }])
  })

  it.each([
    ['a\nb', 'ab', { at: 1, byte: 2, expected: 'LF (0A)', signed: 'b (62)' }],
    ['ab', 'ab\n', { at: 2, byte: 3, expected: '', signed: 'LF (0A)' }],
    ['景b', '景c', { at: 1, byte: 4, expected: 'b (62)', signed: 'c (63)' }],
    ['景', '区', { at: 0, byte: 1, expected: '景 (E6 99 AF)', signed: '区 (E5 8C BA)' }],
    ['', 'x', { at: 0, byte: 1, expected: '', signed: 'x (78)' }],
    ['same', 'same', null],
  ])('%j and %j differ at %j', (expected, signed, difference) => {
    expect(firstDifference(expected, signed)).toEqual(difference)
  })

  it('loses no part of any text', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', ' ', '\n', '\r', '\t', 'é', '😀') }),
        fc.nat(12),
        (text, at) => {
          const back: Record<string, string> = { '␠': ' ', '␊': '\n', '␍': '\r', '␉': '\t', '␃': '' }
          expect(
            shown(text, at)
              .map((part) => back[part] ?? part)
              .join(''),
          ).toBe(text)
        },
      ),
    )
  })
})
