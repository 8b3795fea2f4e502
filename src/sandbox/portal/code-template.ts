import { readFileSync } from 'node:fs'
import { ROOT } from '../../platform/lib/root.ts'

/** Sample code for sellers, filled in as literals of its language. */

/** Writes a text as a literal of one language, quotes included. */
export type Quote = (value: string) => string

/** A literal in double quotes. What JSON escapes, these languages read in the same way. */
export const doubleQuoted: Quote = (value) => JSON.stringify(value)
export const shellQuoted: Quote = (value) => `'${value.replaceAll("'", "'\\''")}'`
export const phpQuoted: Quote = (value) => `'${value.replace(/['\\]/g, '\\$&')}'`

/** A file below views/sandbox, without its ending. */
export const readTemplate = (name: string): string => readFileSync(new URL(`views/sandbox/${name}.txt`, ROOT), 'utf8')

/** `{{name}}` in a template becomes a literal. */
export const fillTemplate = (template: string, quote: Quote, values: Readonly<Record<string, string>>): string =>
  template.replace(/\{\{(\w+)\}\}/g, (_whole, name: string) => quote(values[name] ?? ''))
