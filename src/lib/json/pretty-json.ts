import { parse, stringify } from 'lossless-json'
import { inspectJson } from './json-limits.ts'

/** A value with its 64-bit ids (`bigint`) as exact numbers, on indented lines. */
export const prettyLossless = (value: unknown): string => stringify(value, null, 2) ?? ''

/**
 * JSON on indented lines, its numbers exactly as they were written (`1.10`, ids beyond 2^53); undefined for what is no
 * JSON, has a name twice, or is nested too deeply.
 */
export function prettyJson(text: string): string | undefined {
  if (inspectJson(text) !== undefined) return undefined
  try {
    return stringify(parse(text), null, 2)
  } catch {
    return undefined
  }
}
