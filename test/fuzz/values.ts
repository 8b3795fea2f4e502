import type { Random } from './random.ts'

/** Texts and JSON that programs send by mistake and attackers on purpose. */

const TEXTS: readonly string[] = [
  '',
  ' ',
  '0',
  '-1',
  '1',
  'null',
  'undefined',
  'true',
  'NaN',
  '1e400',
  '-0',
  '0x10',
  '9007199254740993',
  '9223372036854775807',
  '9223372036854775808',
  '99999999999999999999999999',
  '1.005',
  '1,5',
  '２０２６',
  '2026-02-30',
  '2026-13-01 25:61:61',
  '0000-00-00',
  '9999-12-31 23:59:59',
  '%',
  '%00',
  '%zz',
  '%c0%ae%c0%ae',
  '..%2f..%2fetc%2fpasswd',
  '../../../../etc/passwd',
  "' or 1=1 --",
  '"; drop table app_user; --',
  '<script>alert(1)</script>',
  '{{7*7}}<%= 7*7 %>#{7*7}',
  '\u0000',
  'a\u0000b',
  '\ud800',
  '\udfff\ud800',
  '😀'.repeat(40),
  '\u202e\u200b\ufeff',
  'İıſK',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'http://169.254.169.254/latest/meta-data',
  'http://[::1]:1/',
  'https://user:pass@example.com#x',
  'javascript:alert(1)',
  'http://a..b/',
  'https://例え.テスト/',
  '\r\nX-Injected: 1',
  '\n',
  '\t',
  'A'.repeat(129),
  'A'.repeat(5_000),
  '中'.repeat(700),
]

export const someText = (random: Random): string =>
  random.chance(0.8)
    ? random.pick(TEXTS)
    : Array.from({ length: random.int(24) }, () =>
        String.fromCharCode(random.int(random.chance(0.8) ? 256 : 65_536)),
      ).join('')

/** JSON numbers, some of which no JavaScript number can represent. */
const NUMBERS: readonly string[] = [
  '0',
  '-0',
  '-1',
  '1',
  '2',
  '200',
  '1.5',
  '0.1',
  '1e5',
  '1E400',
  '-1e-400',
  '2147483648',
  '9007199254740993',
  '9223372036854775807',
  '9223372036854775808',
  '1'.repeat(400),
  `0.${'3'.repeat(400)}`,
]

const repeated = (random: Random, piece: string): string =>
  Array.from({ length: random.pick([0, 1, 2, 7, 1_200]) }, () => piece).join(',')

/** Any JSON value, as text. */
function someJson(random: Random): string {
  switch (random.int(9)) {
    case 0:
      return random.pick(['null', 'true', 'false'])
    case 1:
    case 2:
      return random.pick(NUMBERS)
    case 3:
      return `[${repeated(random, random.pick(['{}', 'null', '0', '""', '[]', '{"a":1}']))}]`
    case 4:
      return random.pick(['{}', '{"__proto__":{"a":1}}', '{"":0}', '{"constructor":null}', '{"a":1,"a":2}'])
    case 5:
      return random.pick(['[', '{"a":']).repeat(random.pick([1, 30, 3_000]))
    default:
      return JSON.stringify(someText(random))
  }
}

export type Json =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly Json[]
  | { readonly [name: string]: Json | undefined }

/** Otherwise nested lists that all repeat would exceed the maximum length of a string. */
const MAX_REPEATED = 4 * 1_048_576

/**
 * `value` as JSON text in which each part may be replaced, left out, repeated or wrapped, with a probability of
 * `share`.
 */
export function brokenJson(random: Random, value: Json, share: number): string {
  if (random.chance(share)) {
    const whole = () => brokenJson(random, value, 0)
    return random.chance(0.7)
      ? someJson(random)
      : random.pick([`[${whole()}]`, `[${whole()},${whole()}]`, JSON.stringify(whole())])
  }
  if (Array.isArray(value)) {
    const items = (value as readonly Json[]).map((item) => brokenJson(random, item, share))
    const [first = 'null'] = items
    const again = random.chance(share)
      ? Array.from({ length: Math.min(random.pick([1, 50, 1_500]), MAX_REPEATED / first.length) }, () => first)
      : []
    return `[${[...items, ...again].join(',')}]`
  }
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value as object).flatMap(([name, member]) => {
      if (member === undefined || random.chance(share / 2)) return []
      const written = `${JSON.stringify(name)}:${brokenJson(random, member as Json, share)}`
      return random.chance(share / 4) ? [written, `${JSON.stringify(name)}:${someJson(random)}`] : [written]
    })
    const more = random.chance(share / 4) ? [`${JSON.stringify(someText(random))}:${someJson(random)}`] : []
    return `{${[...members, ...more].join(',')}}`
  }
  return typeof value === 'bigint' ? String(value) : JSON.stringify(value)
}

/** The bytes of a JSON text, occasionally truncated, padded, or invalid as UTF-8. */
export function asBytes(random: Random, text: string): Buffer {
  const bytes = Buffer.from(text)
  if (!random.chance(0.08)) return bytes
  switch (random.int(4)) {
    case 0:
      return bytes.subarray(0, random.int(bytes.length + 1))
    case 1:
      return Buffer.concat([bytes, Buffer.from(random.pick([' ', '\n\n', '{}', 'x', '\0']))])
    case 2:
      return Buffer.concat([Buffer.from(random.pick(['\ufeff', ' ', '\xff', ")]}',\n"]), 'latin1'), bytes])
    default: {
      const spoilt = Buffer.from(bytes)
      for (let left = random.int(4) + 1; left > 0 && spoilt.length > 0; left--)
        spoilt[random.int(spoilt.length)] = random.int(256)
      return spoilt
    }
  }
}
