import { readFileSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { checkSecret, generateSecret, newWebhookSecret } from '../../../src/platform/lib/crypto/generated-secret.ts'
import { deriveKeys } from '../../../src/platform/lib/crypto/keys.ts'
import { issueToken, PREFIX } from '../../../src/platform/lib/crypto/opaque-token.ts'

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

describe('a generated secret', () => {
  it('has a prefix, 256 random bits and a CRC-32, all of which survive percent-encoding', () => {
    const secret = generateSecret('ghas')
    expect(secret).toMatch(/^ghas_[0-9A-Za-z]{49}$/)
    expect(encodeURIComponent(secret)).toBe(secret)
    const number = [...secret.slice(-6)].reduce((value, digit) => value * 62 + DIGITS.indexOf(digit), 0)
    expect(number).toBe(crc32(secret.slice(0, -6)))
    expect(new Set(Array.from({ length: 1_000 }, () => generateSecret('ghcs'))).size).toBe(1_000)
  })

  it('is recognised by its form', () => {
    expect(checkSecret(generateSecret('ghas'))).toEqual({ kind: 'app_secret', verdict: 'intact' })
    expect(checkSecret(generateSecret('ghcs'))).toEqual({ kind: 'clientSecret', verdict: 'intact' })
    for (const other of ['', 'demo-secret-for-local-use-only', 'A'.repeat(43)]) {
      expect(checkSecret(other)).toEqual({ verdict: 'unknown' })
    }
  })

  it('is recognised as mistyped if a character is changed, missing, doubled or swapped', () => {
    const secret = generateSecret('ghas')
    for (let at = 5; at < secret.length; at++) {
      const [before, one = '', after] = [secret.slice(0, at), secret[at], secret.slice(at + 1)]
      const swapped = before.slice(0, -1) + one + before.slice(-1) + after
      for (const wrong of [`${before}${one === 'x' ? 'y' : 'x'}${after}`, before + after, before + one + one + after]) {
        expect(checkSecret(wrong), wrong).toMatchObject({ verdict: 'mistyped' })
      }
      if (at > 5 && swapped !== secret) expect(checkSecret(swapped)).toMatchObject({ verdict: 'mistyped' })
    }
    for (const wrong of [` ${secret}`, `${secret}\n`, secret.replace('ghas_', 'ghcs_'), secret.replace('_', '')]) {
      expect(checkSecret(wrong), wrong).toMatchObject({ verdict: 'mistyped' })
    }
  })
})

describe('the patterns of OPERATIONS for secret scanners', () => {
  const operations = readFileSync(new URL('../../../.github/OPERATIONS.md', import.meta.url), 'utf8')
  const [, table = ''] = /<!-- secret patterns[^\n]*\n([\s\S]*?)\n\n/.exec(operations) ?? []
  const patterns = [...table.matchAll(/^\| [^|]+ \| `([^`]+)` \|$/gm)].map(
    ([, pattern = '']) => new RegExp(pattern, 'g'),
  )
  const keys = deriveKeys('a secret key of these tests alone')
  const issued = Object.values(PREFIX).map(
    (prefix) => issueToken(keys, { prefix, routingKey: 1, expiresAt: new Date(2_000_000_000_000) }).text,
  )

  it.each([generateSecret('ghas'), generateSecret('ghcs'), newWebhookSecret(), ...issued])(
    'find %s once, as a whole',
    (secret) => {
      expect(patterns.length).toBeGreaterThan(3)
      const found = patterns.flatMap((pattern) => `x = "${secret}";\n`.match(pattern) ?? [])
      expect(found).toEqual([secret])
    },
  )

  it('find nothing in text that only looks similar', () => {
    const text = readFileSync(new URL('../../../src/platform/lib/crypto/generated-secret.ts', import.meta.url), 'utf8')
    for (const pattern of patterns) expect(text.match(pattern)).toBeNull()
  })
})
