import { describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { INTERFACES } from '../../src/interfaces/index.ts'
import { problemDetail } from '../../src/lib/json/problem-detail.ts'
import { readShape } from '../../src/lib/json/shape.ts'
import { translator } from '../../src/lib/web/locale.ts'
import { detailText } from '../../src/sandbox/texts.ts'
import { PRODUCT } from '../interfaces/product-example.ts'

/** The same text and values everywhere: what a schema says, and what a reader sees. */

const [en, zh] = [translator('en'), translator('zh-CN')]

const WRONG: readonly unknown[] = [undefined, null, {}, [], [{}], 'x', '', 9e15, true, { a: 1 }, 'x'.repeat(300)]

/** Values with one field broken in each way. */
const broken = (): unknown[] => [
  ...WRONG.map((body) => ({ code: 200, body })),
  ...Object.keys(PRODUCT).flatMap((name) =>
    WRONG.map((value) => ({ code: 200, body: [{ ...PRODUCT, [name]: value }] })),
  ),
]

const problems = new Set(
  INTERFACES.flatMap(({ answer }) =>
    broken().flatMap((value) => {
      const read = readShape(answer as z.ZodType, value)
      return 'problems' in read ? read.problems.map(({ problem }) => problem) : []
    }),
  ),
)

describe('the problems of fields', () => {
  it('are worded in English as the schemas say them, and in Chinese without English words', () => {
    expect(problems.size).toBeGreaterThan(8)
    for (const problem of problems) {
      const detail = problemDetail(problem)
      expect(detailText(detail, en)).toBe(problem)
      if (typeof detail === 'string') continue
      expect(detailText(detail, zh)).not.toMatch(/\b(?:must|required|entries|characters)\b/)
    }
    const plain = [...problems].filter((problem) => typeof problemDetail(problem) === 'string')
    expect(plain).toEqual([])
  })

  it('that no list knows stay as they are', () => {
    expect(problemDetail('must be blue')).toBe('must be blue')
  })
})
