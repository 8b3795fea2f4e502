import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { print, reportFailure } from '../../src/operations/cli/report.ts'
import { aligned, printable, printableJson, printableLines } from '../../src/operations/cli/text.ts'

/** Text written by partners and users must not control the operator's terminal. */

const HOSTILE: readonly (readonly [what: string, text: string])[] = [
  ['an escape sequence that clears the screen', 'a\u001b[2Jb'],
  ['an operating system command that sets the title', 'a\u001b]0;owned\u0007b'],
  ['the C1 form of an escape sequence', 'a\u009b31mb'],
  ['a carriage return that writes over the line', 'paid\rfree'],
  ['a backspace', 'paid\b\b\b\bfree'],
  ['a delete', 'a\u007fb'],
  ['an override of the direction of writing', 'a\u202eb\u202c'],
  ['an isolate', 'a\u2066b\u2069'],
  ['an Arabic letter mark', 'a\u061cb'],
  ['a line separator', 'a\u2028b'],
]
/** Control characters except the line feed, and characters that change the direction of writing. */
const COMMAND = /(?!\n)[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u

const written = (write: (terminal: { stdout: PassThrough; stderr: PassThrough }) => void): string => {
  const terminal = { stdout: new PassThrough(), stderr: new PassThrough() }
  write(terminal)
  return [terminal.stdout.read(), terminal.stderr.read()].map((part) => String(part ?? '')).join('')
}
const terminalOf = (streams: { stdout: PassThrough; stderr: PassThrough }) => ({
  ...streams,
  stdin: new PassThrough(),
  env: {},
})

it('a column with Chinese text, whose characters are two cells wide, is aligned', () => {
  expect(
    aligned([
      ['票务', '1'],
      ['tickets', '2'],
      ['（新）', '3'],
    ]),
  ).toBe('票务     1\ntickets  2\n（新）   3')
})

describe.each(HOSTILE)('%s', (_what, text) => {
  it('is never written to the terminal, neither as text nor as JSON', () => {
    for (const json of [true, false]) {
      const output = written((streams) => print(terminalOf(streams), json, { text }, (one) => `first\n${one.text}`))
      expect(output).not.toMatch(COMMAND)
      const failed = written((streams) => reportFailure(terminalOf(streams), new Error(text), json))
      expect(failed).not.toMatch(COMMAND)
      if (json) expect(JSON.parse(output)).toEqual({ text })
    }
    for (const shown of [
      printable(text),
      printableLines(text),
      printableJson(JSON.stringify(text)),
      aligned([[text]]),
    ]) {
      expect(shown).not.toMatch(COMMAND)
    }
  })
})

it('a line feed in a cell does not start a new row', () => {
  expect(aligned([['state', 'paid\nstate  refunded']])).toBe('state  paid\ufffdstate  refunded')
})

it('harmless text is written unchanged', () => {
  const text = '北京 Ünïcode 👩‍👩‍👧 a\tb'
  expect(printableLines(text)).toBe(text)
  expect(printableJson(JSON.stringify({ text }, null, 2))).toBe(JSON.stringify({ text }, null, 2))
})
