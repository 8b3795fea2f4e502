import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { expect } from 'vitest'

export const ROOT = new URL('../../', import.meta.url).pathname

export const read = (path: string): string => readFileSync(`${ROOT}${path}`, 'utf8')

const below = (folder: string): string[] =>
  readdirSync(`${ROOT}${folder}`, { recursive: true, encoding: 'utf8' }).map((path) => `${folder}/${path}`)

/** The paths of all Markdown documents in the repository. */
export const DOCUMENTS: readonly string[] = ['README.md', ...['.github', 'src', 'test'].flatMap(below)].filter((path) =>
  path.endsWith('.md'),
)

/** The rows of the table that follows a marker comment, without the header. */
export function rowsAfter(path: string, marker: string): string[] {
  const [, after = ''] = read(path).split(`<!-- ${marker}:`)
  const [table = ''] = after.slice(after.indexOf('\n') + 1).split(/\n\n/, 1)
  const rows = table.trimEnd().split('\n').slice(2)
  if (rows.length === 0) throw new Error(`${path} has no table after <!-- ${marker}: … -->`)
  return rows
}

/**
 * Expects the table after this marker to have exactly these rows. `npm run documents` writes them instead, so nobody
 * has to copy rows from the code.
 */
export function expectRows(path: string, marker: string, expected: readonly string[]): void {
  const rows = rowsAfter(path, marker)
  if (process.env.DOCUMENTS === 'write') {
    const [before = '', after = ''] = read(path).split(`<!-- ${marker}:`)
    const written = after.replace(rows.join('\n'), () => expected.join('\n'))
    writeFileSync(`${ROOT}${path}`, `${before}<!-- ${marker}:${written}`)
  } else {
    expect(rows).toEqual(expected)
  }
}

export const rowOf = (...cells: readonly unknown[]): string => `| ${cells.join(' | ')} |`.replace(/\| {2}(?=\|)/g, '| ')

export const cellsOf = (row: string): string[] =>
  row
    .replace(/^\| | \|$/g, '')
    .split(' | ')
    .map((cell) => cell.trim())

/** The document without its code blocks. */
export const prose = (document: string): string => document.replace(/^```[\s\S]*?^```$/gm, '')

/** The headings of a document, in order. */
export const headings = (document: string): string[] =>
  [...prose(document).matchAll(/^#+ (.*)$/gm)].map(([, title = '']) => title)

/** The anchor that GitHub gives a heading. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')
