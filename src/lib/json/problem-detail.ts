import { type Detail, localized, type TextId } from '../localized-text.ts'

/**
 * The problems of fields that schemas name (fields.ts, lossless.ts, shape.ts), as texts with values. A
 * schema says its problem in English, which is what answers and logs hold; one that is not listed here stays as it is.
 */
const PROBLEMS: readonly (readonly [problem: RegExp, text: TextId])[] = [
  [/^is required$/, 'must-be-required'],
  [/^is required because (?<field>\w+) is not (?<value>\w+)$/, 'required-because-not'],
  [/^is required because (?<field>\w+) is (?<value>\w+)$/, 'required-because'],
  [/^must not be empty$/, 'must-be-filled'],
  // Calls that were stored before have the second words.
  [/^must be (?:a string|a text)$/, 'must-be-text'],
  [/^must be (?:true or false|a boolean)$/, 'must-be-boolean'],
  [/^must be one of (?<values>.+)$/s, 'must-be-one-of'],
  [/^must have at most (?<most>\d+) entries$/, 'must-have-entries'],
  [/^must have at least one entry$/, 'must-have-entry'],
  [/^must have at most (?<most>\d+) characters$/, 'must-have-characters'],
  [/^must be a date, yyyy-MM-dd$/, 'must-be-date'],
  [/^must be a time, yyyy-MM-dd HH:mm:ss$/, 'must-be-time'],
  [/^must be a time of day, HH:mm$/, 'must-be-time-of-day'],
  [/^must be a price in yuan with at most two decimals$/, 'must-be-price'],
  [/^must be a price$/, 'must-be-a-price'],
  [/^must be -1 \(unlimited\), 0 or more$/, 'must-be-stock'],
  [/^must be a (?<bits>32|64)-bit integer, as a number or string$/, 'must-be-bits'],
  [/^must be digits, as a number or string$/, 'must-be-digits'],
  [/^must be more than (?<least>\d+) and at most (?<most>\d+) minutes$/, 'must-be-minutes'],
  [/^must be a (?<type>number)$/, 'must-be-a-type'],
  [/^must be an (?<type>array|object)$/, 'must-be-an-type'],
]

/** The problem of a field as a detail. */
export function problemDetail(problem: string): Detail {
  for (const [pattern, text] of PROBLEMS) {
    const found = pattern.exec(problem)
    if (found) return localized(text, { ...found.groups })
  }
  return problem
}
