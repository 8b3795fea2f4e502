import { expect, it } from 'vitest'
import { date, dateTime, oneOf, price, timeOfDay, yesOrNo } from '../../../src/platform/lib/json/fields.ts'
import { readShape } from '../../../src/platform/lib/json/shape.ts'

it.each([
  [true, true],
  ['TRUE', true],
  [1, true],
  ['0', false],
  [false, false],
  ['yes', undefined],
  ['constructor', undefined], // a name that every object has
  ['__proto__', undefined],
  [{}, undefined],
  [null, undefined],
])('yesOrNo reads %j as %s', (sent, read) => {
  expect(yesOrNo().safeParse(sent)).toEqual({ success: true, data: read })
})

const status = () => oneOf(0, 1, 2)

it.each([
  [date, [2026, 11, 30], 'must be a date, yyyy-MM-dd'],
  [date, 1_796_000_000_000, 'must be a date, yyyy-MM-dd'],
  [dateTime, { year: 2026 }, 'must be a time, yyyy-MM-dd HH:mm:ss'],
  [dateTime, '2026-11-30T08:00:00', 'must be a time, yyyy-MM-dd HH:mm:ss'],
  [timeOfDay, [9, 30], 'must be a time of day, HH:mm'],
  [status, 'used', 'must be one of 0, 1, 2'],
  [status, 7, 'must be one of 0, 1, 2'],
  [price, true, 'must be a price in yuan with at most two decimals'],
  [price, null, 'must be a price in yuan with at most two decimals'],
])('%o refuses %j by naming the form', (field, sent, wanted) => {
  const read = readShape(field(), sent)
  const problems = 'problems' in read ? read.problems : []
  expect(problems.map(({ problem }) => String(problem))).toEqual([wanted])
})
