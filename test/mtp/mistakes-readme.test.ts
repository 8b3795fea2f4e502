import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { MISTAKES } from '../../src/mtp/diagnose/index.ts'
import { WARNINGS } from '../../src/mtp/diagnose/warnings.ts'

const README = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
/** The rows of the table that follows this marker. */
function rowsAfter(marker: string, title: string): string[] {
  const [, after = ''] = README.split(`${marker}\n`)
  const [table = ''] = after.split('\n\n', 1)
  const [head, line, ...rows] = table.split('\n')
  expect([head, line]).toEqual([`| ${title} | explanation |`, '|---|---|'])
  return rows
}
const rowOf = ({ name, explanation }: { readonly name: string; readonly explanation: string }) =>
  `| \`${name}\` | ${explanation} |`

it('the README explains every mistake that the signature tool names, and no other', () => {
  const marker = '<!-- mistakes: a test compares this table with src/mtp/diagnose -->'
  expect(rowsAfter(marker, 'mistake')).toEqual(MISTAKES.map(rowOf))
})

it('and every warning', () => {
  const marker = '<!-- warnings: a test compares this table with src/mtp/diagnose/warnings.ts -->'
  expect(rowsAfter(marker, 'warning')).toEqual(Object.values(WARNINGS).map(rowOf))
})
