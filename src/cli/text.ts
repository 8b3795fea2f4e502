import type { Command } from 'commander'

/** Rows in columns, each as wide as its widest cell; the last column may be of any width. */
export function aligned(rows: readonly (readonly string[])[]): string {
  const widths: number[] = []
  for (const row of rows) {
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length)
  }
  return rows
    .map((row) => row.map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd(widths[at] ?? 0))).join('  '))
    .join('\n')
}

/** A value as a person reads it; an empty one is shown as a dash. */
export function readable(value: unknown): string {
  if (value instanceof Date) return value.toISOString()
  if (Array.isArray(value)) return value.length > 0 ? value.join(', ') : '-'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return value === null || value === undefined ? '-' : String(value)
}

/** The value of `--number 5`, for the schema to check: anything that is not a number stays text. */
export const numberIfOne = (text: string): number | string => (/^-?\d+$/.test(text) ? Number(text) : text)

/** `--from` and `--to` of a list (`periodInput` reads them); `done`: what happened then, as `made `. */
export const withPeriod = (command: Command, done = ''): Command =>
  command
    .option('--from <time>', `${done}from this day (UTC) or moment on, as 2026-11-23 or 2026-11-23T08:00:00Z`)
    .option('--to <time>', `${done}until the end of this day (UTC), as 2026-11-23, or before this moment`)

/** For an option that may be repeated. */
export const collect = (text: string, before: unknown): string[] => [...(Array.isArray(before) ? before : []), text]

/** For one that may be repeated and may hold several words. */
export const collectWords = (text: string, before: unknown): string[] => [
  ...(Array.isArray(before) ? before : []),
  ...text.split(/[\s,]+/).filter((word) => word !== ''),
]
