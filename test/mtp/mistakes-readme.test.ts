import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { MISTAKES } from '../../src/mtp/diagnose/index.ts'

const README = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
const MARKER = '<!-- mistakes: a test compares this table with src/mtp/diagnose -->'

it('the README explains every mistake that the signature tool names, and no other', () => {
  const [, after = ''] = README.split(`${MARKER}\n`)
  const [table = ''] = after.split('\n\n', 1)
  const [head, line, ...rows] = table.split('\n')
  expect([head, line]).toEqual(['| mistake | explanation |', '|---|---|'])
  expect(rows).toEqual(MISTAKES.map(({ name, explanation }) => `| \`${name}\` | ${explanation} |`))
})
