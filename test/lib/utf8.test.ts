import { describe, expect, it } from 'vitest'
import { checkedUtf8, NotUtf8, placed, readUtf8 } from '../../src/platform/lib/utf8.ts'
import { processorTime } from '../processor-time.ts'

const bytes = (...parts: (string | number[])[]): Buffer => Buffer.concat(parts.map((part) => Buffer.from(part)))
/** "李雷" in GBK. */
const GBK = [0xc0, 0xee, 0xc0, 0xd7]

const described = (given: Buffer): string => {
  const read = readUtf8(given)
  return 'problem' in read ? String(placed(read)) : `text ${read.text}`
}

const NOT_UTF8: [string, Buffer, string][] = [
  ['GBK', bytes('name=', GBK), 'not valid UTF-8 (line 1, column 6)'],
  ['GBK on the third line', bytes('a\r\nb\nok 李雷 ', GBK), 'not valid UTF-8 (line 3, column 7)'],
  ['Latin-1', bytes('caf', [0xe9]), 'not valid UTF-8 (line 1, column 4)'],
  ['a character cut off', bytes('a\nb', [0xe6, 0x9d]), 'not valid UTF-8 (line 2, column 2)'],
  ['half of a surrogate pair', bytes([0xed, 0xa0, 0x80]), 'not valid UTF-8 (line 1, column 1)'],
  ['after a U+FFFD that was sent as one', bytes('\ufffd', GBK), 'not valid UTF-8 (line 1, column 2)'],
  ['after a byte order mark', bytes('\ufeffab', GBK), 'not valid UTF-8 (line 1, column 3)'],
  ['UTF-16, little end first', Buffer.from('\ufeff{"a":1}', 'utf16le'), 'UTF-16, not UTF-8'],
  ['UTF-16, big end first', Buffer.from('\ufeff{"a":1}', 'utf16le').swap16(), 'UTF-16, not UTF-8'],
  ['UTF-16 without a mark', Buffer.from('cid,name', 'utf16le'), 'UTF-16, not UTF-8'],
]

const TEXTS: [string, Buffer, string][] = [
  ['nothing', bytes(''), ''],
  ['ASCII', bytes('a'), 'a'],
  ['Chinese', bytes('李雷'), '李雷'],
  ['a byte order mark', bytes('\ufeff李雷'), '李雷'],
  ['U+FFFD that was sent as one', bytes('a\ufffdb'), 'a\ufffdb'],
]

it.each(NOT_UTF8)('%s is refused, with its position', (_name, given, problem) => expect(described(given)).toBe(problem))
it.each(TEXTS)('%s is read', (_name, given, text) => expect(described(given)).toBe(`text ${text}`))

describe('in a stream', () => {
  /** Reads it in pieces of this size. */
  async function read(given: Buffer, size: number): Promise<string> {
    const pieces = (async function* () {
      for (let at = 0; at < given.length; at += size) yield given.subarray(at, at + size)
    })()
    const whole: Buffer[] = []
    for await (const piece of checkedUtf8(pieces)) whole.push(piece)
    return Buffer.concat(whole).toString()
  }
  const SIZES = [1, 2, 3, 5, 1_000]

  it.each(NOT_UTF8)('%s is refused at the same position, however it is split', async (_name, given, problem) => {
    for (const size of SIZES)
      await expect(read(given, size)).rejects.toEqual(expect.objectContaining({ message: problem }))
    await expect(read(given, 4)).rejects.toBeInstanceOf(NotUtf8)
  })

  it('text comes out unchanged', async () => {
    const text = 'a\n李雷 caf\u00e9 \u{1f600}\r\n'.repeat(20)
    for (const size of SIZES) expect(await read(bytes(text), size)).toBe(text)
  })
})

it('stays linear on a megabyte of anything', () => {
  for (const part of [GBK, [0xff], [0xef, 0xbf, 0xbd], [0xe6, 0x9d]]) {
    expect(processorTime(() => described(Buffer.alloc(1_048_576, Buffer.from(part))))).toBeLessThan(1_000)
  }
})
