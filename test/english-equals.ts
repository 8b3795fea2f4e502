import { expect } from 'vitest'
import { storedText } from '../src/platform/lib/localized-text.ts'

/**
 * Lets tests compare translatable texts with plain strings: a text, also in its stored form, equals its English
 * wording, which is what responses show.
 */

const MARK = Symbol.for('english equals')
const held = globalThis as { [MARK]?: true }

/** The English wording of a text; any other value unchanged. */
function wordsOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('id' in value && 'values' in value)) return value
  if (Object.keys(value).length !== 2) return value
  const { success, data } = storedText.safeParse({ ...value })
  return success ? String(data) : value
}

const isEnglishOf = (one: unknown, other: unknown): boolean | undefined =>
  typeof one === 'object' && typeof other === 'string' ? wordsOf(one) === other || undefined : undefined

// Equality testers and matchers stay in place for all files of a worker, so add them once.
if (!held[MARK]) {
  held[MARK] = true
  expect.addEqualityTesters([(one, other) => isEnglishOf(one, other) ?? isEnglishOf(other, one)])
  for (const matcher of [expect.stringContaining(''), expect.stringMatching('')]) {
    const matchers = Object.getPrototypeOf(matcher) as { asymmetricMatch: (this: unknown, value: unknown) => boolean }
    const { asymmetricMatch } = matchers
    matchers.asymmetricMatch = function (value) {
      return asymmetricMatch.call(this, wordsOf(value))
    }
  }
}
