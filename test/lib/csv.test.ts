import { expect, it } from 'vitest'
import { withoutFormula } from '../../src/platform/lib/csv.ts'

it.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '\n=1', '＝1+1', '＋1', '－1', '＠SUM(A1)'])(
  'a cell that a spreadsheet would read as a formula is escaped: %j',
  (text) => expect(withoutFormula(text)).toBe(`'${text}`),
)

it.each(['a=1', '1', '', '门票＝2'])('any other cell stays as it is: %j', (text) =>
  expect(withoutFormula(text)).toBe(text),
)
