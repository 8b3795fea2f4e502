import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { readConfig } from '../src/config/index.ts'
import { settings } from '../src/config/schema.ts'
import { SOFT_FIELDS } from '../src/interfaces/soft-fields.ts'
import { RESCODES } from '../src/lib/web/rescode.ts'

const README = readFileSync(new URL('../README.md', import.meta.url), 'utf8')

/** The rows of the table that follows a marker comment. */
function rowsAfter(marker: string): string[] {
  const [, after = ''] = README.split(`<!-- ${marker}:`)
  const [table = ''] = after.slice(after.indexOf('\n') + 1).split(/\n\n/, 1)
  return table.split('\n').slice(2)
}

/** What a person would write for the default of a setting. */
function defaultOf(name: string): string {
  const defaults = readConfig({}) as Readonly<Record<string, unknown>>
  const schema = settings.shape[name as keyof typeof settings.shape]
  if (schema.safeParse(undefined).data === undefined) return ''
  const value = defaults[name]
  if (typeof value === 'boolean') return value ? '`on`' : '`off`'
  const text = Array.isArray(value) ? value.join(',') : String(value)
  return text === '' ? '' : `\`${text}\``
}

describe('the README', () => {
  it('has a row for each setting, as config.ts describes it', () => {
    const expected = Object.entries(settings.shape).map(([name, schema]) =>
      `| \`${name}\` | ${defaultOf(name)} | ${schema.description} |`.replace('|  |', '| |'),
    )
    expect(rowsAfter('settings')).toEqual(expected)
  })

  it('has a row for each rescode', () => {
    const expected = Object.entries(RESCODES).map(
      ([rescode, { name, status, message }]) => `| ${rescode} | ${name} | ${status} | ${message} |`,
    )
    expect(rowsAfter('rescodes')).toEqual(expected)
  })

  it('has a row for each field of a product that bends', () => {
    expect(rowsAfter('soft fields')).toEqual(Object.entries(SOFT_FIELDS).map(([name, kept]) => `| ${name} | ${kept} |`))
  })

  it('shows pictures that exist', () => {
    const pictures = [...README.matchAll(/<img src="([^"]+)"/g)].map(([, path]) => path)
    expect(pictures.length).toBeGreaterThan(0)
    for (const path of pictures)
      expect(readFileSync(new URL(`../${path}`, import.meta.url)).length).toBeGreaterThan(1000)
  })
})
