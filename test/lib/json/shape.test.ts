import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { smallInt } from '../../../src/platform/lib/json/fields.ts'
import { problemsText, readShape } from '../../../src/platform/lib/json/shape.ts'

const schema = z.object({ list: z.array(z.object({ count: smallInt(), name: z.string(), kind: z.literal([1, 2]) })) })

describe('problems of a shape', () => {
  it('are reported all at once, each with its path', () => {
    const result = readShape(schema, {
      list: [
        { count: 1, name: 'a', kind: 1 },
        { name: 7, kind: 3 },
      ],
    })
    expect(result).toEqual({
      problems: [
        { path: 'list[1].count', problem: 'is required' },
        { path: 'list[1].name', problem: 'must be a string' },
        { path: 'list[1].kind', problem: 'must be one of 1, 2' },
      ],
    })
  })

  it('are worded as one sentence with at most five', () => {
    const result = readShape(z.array(smallInt()), ['a', 'b', 'c', 'd', 'e', 'f', 'g'])
    const text = String(problemsText('problems' in result ? result.problems : []))
    expect(text).toMatch(/^\[0\] must be a 32-bit integer, as a number or string; \[1\] .*; \[4\] .*; and more$/)
  })

  it('of the value itself are worded too', () => {
    const result = readShape(schema, [])
    expect(problemsText('problems' in result ? result.problems : [])).toEqual('the JSON value must be an object')
  })

  it('are absent for a valid value', () => {
    expect(readShape(smallInt(), '7')).toEqual({ value: 7 })
  })
})
