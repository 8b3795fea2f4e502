import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { parse } from 'lossless-json'
import { describe, expect, it } from 'vitest'
import { int64, numericText, smallInt } from '../../../src/platform/lib/json/fields.ts'
import { parseLossless, stringifyLossless } from '../../../src/platform/lib/json/lossless.ts'
import { processorTime } from '../../processor-time.ts'

const read = (text: string) => parseLossless(Buffer.from(text))
/** Why a text is not JSON; '' if it is. */
const problemOf = (text: string): string => {
  const result = read(text)
  return 'problem' in result ? String(result.problem) : ''
}
const parsed = (text: string) => {
  const result = read(text)
  if ('problem' in result) throw new Error(String(result.problem))
  return result.value
}

/** JSON texts with numbers as programs write them: rounded, ids as numbers and text, exponents, fractions. */
const { jsonText } = fc.letrec<{ jsonText: string }>((tie) => {
  const digits = (most: number) => fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength: most })
  const integer = fc
    .tuple(fc.boolean(), digits(24))
    .map(([isNegative, all]) => (isNegative ? '-' : '') + (all.replace(/^0+(?=.)/, '') || '0'))
  const number = fc.oneof(
    { weight: 3, arbitrary: integer },
    fc.tuple(integer, digits(20)).map(([whole, part]) => `${whole}.${part}`),
    fc.tuple(integer, fc.constantFrom('e', 'E', 'e+', 'e-'), digits(3)).map((parts) => parts.join('')),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
    fc.constantFrom('9007199254740991', '9007199254740992', '-9007199254740993', '1000000000000000', '-0', '0.0'),
  )
  const string = fc
    .oneof(
      fc.string(),
      fc.string({ unit: 'binary' }),
      integer,
      number.map((text) => `, ${text}`),
    )
    .filter((value) => !/[\0\p{Surrogate}]/u.test(value))
    .map((value) => JSON.stringify(value))
  const name = fc.oneof(string, fc.constantFrom('"__proto__"', '"1"', '"constructor"', '"toString"'))
  const space = fc.constantFrom('', '', ' ', '\n', '\r\n\t')
  const spaced = (text: fc.Arbitrary<string>) => fc.tuple(space, text, space).map((parts) => parts.join(''))
  const list = (entry: fc.Arbitrary<string>, begin: string, end: string) =>
    fc.array(spaced(entry), { maxLength: 4 }).map((entries) => begin + entries.join(',') + end)
  const field = fc.tuple(spaced(name), spaced(tie('jsonText'))).map((pair) => pair.join(':'))
  return {
    jsonText: fc.oneof(
      { maxDepth: 4 },
      { weight: 3, arbitrary: number },
      string,
      fc.constantFrom('true', 'false', 'null'),
      list(tie('jsonText'), '[', ']'),
      list(field, '{', '}'),
    ),
  }
})

/** The reference implementation, which decides for each number whether it becomes a bigint. */
const exactly = (text: string): unknown =>
  parse(text, null, (literal) =>
    /^-?\d{1,20}$/.test(literal) && literal.length <= 20 && !Number.isSafeInteger(Number(literal))
      ? BigInt(literal)
      : Number(literal),
  )

describe('lossless JSON', () => {
  it('the fast path reads a text with the same result as the exact one', () => {
    fc.assert(
      fc.property(jsonText, (text) => {
        const result = read(text)
        if ('problem' in result) {
          expect(String(result.problem)).toContain('appears twice')
          return
        }
        expect(isDeepStrictEqual(result.value, exactly(text)), text).toBe(true)
        // The fields are in the same order too.
        expect(stringifyLossless([result.value])).toBe(stringifyLossless([exactly(text)]))
      }),
      { numRuns: 2_000 },
    )
  })

  it('both paths refuse invalid JSON', () => {
    const isRefused = (text: string) => {
      try {
        exactly(text)
        return false
      } catch {
        return true
      }
    }
    const spoilt = fc.tuple(jsonText, fc.nat(), fc.constantFrom('', '0', '-', '.', '"', ',', '}', '\\', '\u001f', 'e'))
    fc.assert(
      fc.property(spoilt, ([text, at, put]) => {
        const place = at % (text.length + 1)
        const broken = text.slice(0, place) + put + text.slice(place + 1)
        const result = read(broken)
        if ('problem' in result && !result.problem.toString().startsWith('not JSON: ')) return
        expect('problem' in result, broken).toBe(isRefused(broken))
      }),
      { numRuns: 2_000 },
    )
  })

  it.each([
    '8985652356562370001',
    '-8985652356562370001',
    '[1,8985652356562370001]',
    '[8985652356562370001]',
    '[ 8985652356562370001 ]',
    '[1,\n\t-8985652356562370001]',
    '{"id":8985652356562370001}',
    '{"id" : 8985652356562370001 }',
    '\ufeff8985652356562370001',
  ])('keeps the id in %j', (text) => {
    expect(stringifyLossless({ body: parsed(text) as object })).toContain('8985652356562370001')
  })

  it('keeps every 64-bit integer from wire to wire', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (id) => {
        expect(stringifyLossless({ body: parsed(`{"id":${id}}`) as object })).toBe(`{"body":{"id":${id}}}`)
        expect(int64().parse(parsed(String(id)))).toBe(id)
        expect(int64().parse(String(id))).toBe(id)
      }),
    )
  })

  it('reads everything that JSON.parse reads, with the same result', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        const text = JSON.stringify(value)
        if (/\\u0000|\\ud[89a-f]/i.test(text)) return
        const large = (part: unknown) => (typeof part === 'bigint' ? Number(part) : part)
        expect(JSON.parse(JSON.stringify(parsed(text), (_name, part) => large(part)))).toEqual(JSON.parse(text))
      }),
    )
  })

  it('makes a bigint only from an integer that would be rounded', () => {
    expect(parsed('[8985652356562370000, 9007199254740991, 9007199254740993, -0, 1.5, 1e3]')).toEqual([
      8985652356562370000n,
      9007199254740991,
      9007199254740993n,
      -0,
      1.5,
      1000,
    ])
    expect(parsed('9'.repeat(500_000))).toBe(Number.POSITIVE_INFINITY)
  })

  it('skips a byte order mark and whitespace', () => {
    expect(parsed('\ufeff {"a":1}\r\n')).toEqual({ a: 1 })
  })

  it('treats __proto__ like any other name', () => {
    const value = parsed('{"__proto__":{"admin":true},"constructor":{"prototype":1}}') as Record<string, unknown>
    expect(Object.keys(value)).toEqual(['__proto__', 'constructor'])
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
    expect(value.admin).toBeUndefined()
    expect(({} as Record<string, unknown>).admin).toBeUndefined()
  })

  const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`

  it('reads 32 levels of nesting', () => {
    expect(read(nested(32))).toHaveProperty('value')
  })

  it.each([
    ['nested deeper than 32 levels', nested(33)],
    ['nested deeper than 32 levels', nested(10_000)],
    ['nested deeper than 32 levels', '{"a":'.repeat(500_000)],
    ['JSON in which the name "a" appears twice in one object', '{"a":1,"a":2}'],
    ['JSON in which the name "a" appears twice in one object', '{"a":1,"a":1}'],
    ['JSON in which the name "body" appears twice in one object', '{"body":[],"body":{}}'],
    ['JSON in which the name "a" appears twice in one object', '{"a":1,"\\u0061" :2}'],
    ['JSON in which the name "__proto__" appears twice in one object', '[{"x":{"__proto__":1,"__proto__":1}}]'],
    ['JSON with a string that contains U+0000 or half of a surrogate pair', '{"a":"x\\u0000"}'],
    ['JSON with a string that contains U+0000 or half of a surrogate pair', '{"\\ud83d":1}'],
    ['empty', ''],
    ['empty', ' \n'],
  ])('refuses with the reason: %s', (problem, text) => {
    expect(read(text)).toMatchObject({ problem })
  })

  it.each(['{', '{"a"', '{"a":1,}', '[1,]', '01', '1.', '-', 'nul', '"\n"', '"\\x"', '"abc', "{'a':1}", '1 2', 'NaN'])(
    'refuses %j as JSON.parse does',
    (text) => {
      expect(() => JSON.parse(text)).toThrow()
      expect(problemOf(text)).toMatch(/^not JSON: /)
    },
  )

  it('refuses invalid UTF-8', () => {
    const refused = { problem: 'not valid UTF-8', place: { line: 1, column: 2 } }
    expect(parseLossless(Buffer.from([0x22, 0xc3, 0x28, 0x22]))).toEqual(refused)
    expect(parseLossless(Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]))).toEqual(refused)
  })

  it('accepts equal names in different objects, and equal texts in one array', () => {
    expect(parsed('{"a":{"a":["a","a"]},"b":{"a":"a"}}')).toEqual({ a: { a: ['a', 'a'] }, b: { a: 'a' } })
  })

  it('stays linear on a megabyte of anything', () => {
    for (const part of ['"\\"', '\\"', '"', '{', '"a":', '9', ' ', '\\u0061', '[]', '"a",']) {
      const text = part.repeat(Math.ceil(1_048_576 / part.length))
      expect(
        processorTime(() => read(text)),
        part,
      ).toBeLessThan(2_000)
    }
  })
})

describe('number or numeric text', () => {
  it.each([[1], ['1'], [1n], ['01']])('%o is valid as a 64-bit id, a count and digits', (given) => {
    expect(int64().parse(given)).toBe(1n)
    expect(smallInt().parse(given)).toBe(1)
    expect(numericText().parse(given)).toBe('1')
  })

  it.each([
    1.5,
    '1.5',
    '',
    ' 1',
    '1 ',
    '0x1',
    '1e3',
    'one',
    null,
    true,
    [1],
    2n ** 64n,
    2n ** 63n,
    '9223372036854775808',
  ])('%s is none of these', (given) => {
    for (const schema of [int64(), smallInt(), numericText()]) expect(schema.safeParse(given).success).toBe(false)
  })

  it('refuses a number that may have been rounded', () => {
    expect(int64().safeParse(parsed('8985652356562370001.0')).success).toBe(false)
    expect(int64().safeParse(2 ** 53).success).toBe(false)
  })

  it('limits a count to 32 bits', () => {
    expect(smallInt().parse(2147483647)).toBe(2147483647)
    expect(smallInt().safeParse(2147483648).success).toBe(false)
    expect(smallInt().parse('-2147483648')).toBe(-2147483648)
  })
})
