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

/** The entries of the list, or the rows of the table without its header, that follow a marker comment. */
export function rowsAfter(path: string, marker: string): string[] {
  const [, after = ''] = read(path).split(`<!-- ${marker}:`)
  const [block = ''] = after.slice(after.indexOf('\n') + 1).split(/\n\n/, 1)
  const lines = block.trimEnd().split('\n')
  const rows = lines.slice(lines[1]?.startsWith('|-') || lines[1]?.startsWith('| -') ? 2 : 0)
  if (rows.length === 0) throw new Error(`${path} has nothing after <!-- ${marker}: … -->`)
  return rows
}

/**
 * Expects the table or list after this marker to have exactly these rows. `npm run documents` writes them instead, so
 * nobody has to copy rows from the code.
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

const LINE_WIDTH = 128

/** Names in backticks as the lines of a paragraph. */
export function paragraphOf(names: readonly string[]): string[] {
  const lines: string[] = []
  for (const [at, name] of names.entries()) {
    const word = `\`${name}\`${at === names.length - 1 ? '.' : ','}`
    const line = `${lines.at(-1)} ${word}`
    if (at > 0 && line.length <= LINE_WIDTH) lines[lines.length - 1] = line
    else lines.push(word)
  }
  return lines
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
