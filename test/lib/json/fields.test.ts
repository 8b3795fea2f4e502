import { expect, it } from 'vitest'
import { yesOrNo } from '../../../src/platform/lib/json/fields.ts'

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
