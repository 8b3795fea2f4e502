import type { z } from 'zod'
import { InvalidInput, parseInput } from '../../src/platform/lib/json/input.ts'

/** The validation problems of the value by field; empty if it is valid. */
export function problemsOf<T>(schema: z.ZodType<T>, value: unknown): Record<string, string> {
  try {
    parseInput(schema, value)
  } catch (error) {
    if (error instanceof InvalidInput) {
      return Object.fromEntries(error.problems.map(({ field, problem }) => [field, String(problem)]))
    }
    throw error
  }
  return {}
}
