import { describe, expect, it } from 'vitest'
import { hashPassword, verifyPassword } from '../../src/platform/lib/crypto/password.ts'
import { newPasswordOf, parseInput } from '../../src/platform/lib/json/input.ts'
import { hasInvisible, isSeen, isTypablePassword, normalName, normalPassword } from '../../src/platform/lib/precis.ts'

describe('a password, as in the examples of RFC 8265 §4.3', () => {
  it.each([
    ['spaces', 'correct horse battery staple', 'correct horse battery staple'],
    ['case', 'Correct Horse Battery Staple', 'Correct Horse Battery Staple'],
    ['letters beyond ASCII', 'πßå', 'πßå'],
    ['a symbol', 'Jack of ♦s', 'Jack of ♦s'],
    ['another space', 'foo\u1680bar', 'foo bar'],
    ['decomposed letters', 'cafe\u0301', 'caf\u00e9'],
    ['the space of Chinese keyboards', '我的\u3000密码', '我的 密码'],
    ['width, which counts', 'ＡＢＣ', 'ＡＢＣ'],
  ])('has one normal form: %s', (_name, typed, normal) => {
    expect(normalPassword(typed)).toBe(normal)
    expect(isTypablePassword(typed)).toBe(true)
  })

  it.each(['my cat is a \u0009by', 'nul\0nul', '\u200b'.repeat(8), 'soft\u00adhyphen', 'non\ufdd0character', '\ud800'])(
    'must not contain characters that cannot be typed: %j',
    (typed) => expect(isTypablePassword(typed)).toBe(false),
  )

  it('may contain emoji, and words that need joiners', () => {
    expect(isTypablePassword('❤️ 👩‍👩‍👧 می‌خواهم')).toBe(true)
  })

  it('is measured in its normal form', () => {
    const eight = newPasswordOf(8)
    expect(() => parseInput(eight, 'e\u0301'.repeat(4))).toThrow('must have at least 8 characters')
    expect(parseInput(eight, 'e\u0301'.repeat(8))).toBe('\u00e9'.repeat(8))
    expect(() => parseInput(eight, `${'x'.repeat(8)}\u200b`)).toThrow('must not contain control characters')
  })
})

describe('a password hash', () => {
  const [composed, apart] = ['pass w\u00f6rd', 'pass\u00a0wo\u0308rd']

  it('matches the password, however it is typed', async () => {
    const hash = await hashPassword(apart)
    expect(await Promise.all([composed, apart, 'pass word'].map((typed) => verifyPassword(hash, typed)))).toEqual([
      true,
      true,
      false,
    ])
  })

  it('of another system or an earlier release matches the password as typed', async () => {
    const { hash } = await import('@node-rs/argon2')
    const earlier = await hash(apart, { memoryCost: 1024, timeCost: 1 })
    expect(await verifyPassword(earlier, apart)).toBe(true)
    expect(await verifyPassword(earlier, composed)).toBe(false)
    expect(await verifyPassword(undefined, apart)).toBe(false)
  })
})

describe('a name', () => {
  it.each([
    ['as it is', 'alice', 'alice'],
    ['case, which counts', 'Alice', 'Alice'],
    ['fullwidth letters', 'ａｌｉｃｅ＠ｅｘａｍｐｌｅ．ｃｏｍ', 'alice@example.com'],
    ['halfwidth katakana with its mark', 'ｶﾞ', 'ガ'],
    ['halfwidth Hangul', '\uffa1\uffc2\uffdc', '\u3131\u314f\u3163'],
    ['decomposed letters', 'jose\u0301', 'jos\u00e9'],
    ['spaces', 'a \u00a0\u3000 b', 'a b'],
    ['compatibility, which is no width', 'ﬁve²', 'ﬁve²'],
    ['a fullwidth macron', '\uffe3', '\u00af'],
    ['an ideograph', '李雷', '李雷'],
  ])('is compared in one form: %s', (_name, typed, normal) => {
    expect(normalName(typed)).toBe(normal)
    expect(normalName(normal)).toBe(normal)
  })

  it.each(['ali\u200bce', '\u200b\u200b', 'a\u00adb', 'a\ufeffb', '\u3164', 'a\u2060', 'a\u{e0041}'])(
    'is found to contain invisible characters: %j',
    (typed) => expect(hasInvisible(typed)).toBe(true),
  )
})

describe('a name chosen by a stranger', () => {
  it.each([
    'Gate\u200bhouse',
    'Gate\u200dhouse',
    '\u200b',
    '\u3164',
    '\u2800',
    '\u0301',
    'a\ufe0f',
    'a\u180eb',
    '🎫\u200d',
    'A\u0301\ufe0f',
    'A\u0301\u200cB',
    '\u062f\u200c\u0645', // after a letter that does not join to the next one
    '\u0645\u200d\u0646', // letters that join anyway
    '\u0628\u200c\u0621',
    '1\ufe0f',
    '🎫\u200c🎫',
    '门\ufe0f',
    'a\u{e0100}',
    'a\u180b',
    '🏴\u{e0061}\u{e007f}',
    '🎫\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}',
  ])('is refused if part of it is invisible: %j', (typed) => expect(isSeen(typed)).toBe(false))

  it.each([
    'Sunny Day Trips',
    '门票 2 号',
    '❤️ 👩‍👩‍👧 👍🏽 ❤️‍🔥 👩🏽‍🚀',
    'می‌خواهم',
    'क्‍ष',
    '\u09b0\u200d\u09cd\u09af\u09be\u09ac', // Bengali: RAB
    '\u0d28\u0d3f\u0d32\u0d4d\u200d', // Malayalam, ending with a chillu
    '1\ufe0f\u20e3 #\ufe0f\u20e3',
    '葛\u{e0100}城',
    '\u1820\u180b',
    '🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}',
    '!',
  ])('is accepted: %s', (typed) => expect(isSeen(typed)).toBe(true))
})
