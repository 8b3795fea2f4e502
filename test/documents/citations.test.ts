import { existsSync, readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { headings, ROOT, read } from './document.ts'

/**
 * Comments cite documents in three forms: rows of an order of checks, a document's heading in quotation marks, or the
 * path of a README. Every citation must resolve.
 */

const PATHS: Readonly<Record<string, string>> = {
  README: 'README.md',
  ARCHITECTURE: '.github/ARCHITECTURE.md',
  CONTRIBUTING: '.github/CONTRIBUTING.md',
  DECISIONS: '.github/DECISIONS.md',
  REFERENCE: '.github/REFERENCE.md',
  OPERATIONS: '.github/OPERATIONS.md',
  SECURITY: '.github/SECURITY.md',
  SETTINGS: '.github/SETTINGS.md',
}
const ROWS = /\b(A[1-3]|A4 and A5) rows? (\d+)(?:[–-](\d+))?/g
const HEADING = new RegExp(`\\b(${Object.keys(PATHS).join('|')}) "([^"]+)"`, 'g')
const README = /\b((?:src|test)\/[\w/-]+\.md)\b/g
/** Citations that are too vague to look up. */
const VAGUE = /\((?:source|README), |\((?:spec|decisions)[,:] |\bdecisions\.md\b|\btraps? \d+|\bissue \d{1,2}\b/g

/** The numbers of a section's list. */
function numbersUnder(document: string, heading: string): Set<number> {
  const [, after = ''] = read(document).split(new RegExp(`^#+ ${heading}$`, 'm'))
  const [section = ''] = after.split(/^#/m, 1)
  return new Set([...section.matchAll(/^(\d+)\. /gm)].map(([, number]) => Number(number)))
}

/** Only the comments, because code may call a function with `(source, …)`. */
const commentsOf = (source: string): string =>
  (source.match(/\/\*[\s\S]*?\*\/|(?<=^|\s)(?:\/\/|--) .*$/gm) ?? []).join('\n')

/** Joins comments that span several lines. */
const unwrapped = (source: string): string => source.replace(/\n\s*(?:\*|\/\/|--) ?/g, ' ')

const between = (first: number, last: number): number[] =>
  Array.from({ length: Math.max(1, last - first + 1) }, (_, index) => first + index)

interface Citation {
  readonly text: string
  readonly exists: boolean
}

function citationsIn(source: string): Citation[] {
  const text = unwrapped(source)
  const rows = [...text.matchAll(ROWS)].map(([found, table, first, last = first]) => {
    const known = numbersUnder('.github/REFERENCE.md', `${table}: order of checks`)
    return { text: found, exists: between(Number(first), Number(last)).every((row) => known.has(row)) }
  })
  const named = [...text.matchAll(HEADING)].map(([found, name = '', heading = '']) => ({
    text: found,
    exists: headings(read(PATHS[name] ?? '')).includes(heading),
  }))
  const paths = [...text.matchAll(README)].map(([found]) => ({ text: found, exists: existsSync(`${ROOT}${found}`) }))
  const vague = [...unwrapped(commentsOf(source)).matchAll(VAGUE)].map(([found]) => ({ text: found, exists: false }))
  return [...rows, ...named, ...paths, ...vague]
}

const below = ['src', 'test', 'migrations'].flatMap((folder) =>
  readdirSync(`${ROOT}${folder}`, { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`),
)
const sources = [...readdirSync(ROOT), ...below].filter(
  (path) => /\.(ts|sql|yml)$/.test(path) && path !== 'test/documents/citations.test.ts',
)

describe('the citations in comments', () => {
  const all = sources.flatMap((path) => citationsIn(read(path)).map((citation) => ({ path, ...citation })))

  it('all resolve', () => {
    expect(all.filter(({ exists }) => !exists).map(({ path, text }) => `${path}: ${text}`)).toEqual([])
  })

  it('occur in each form, so that every check finds something', () => {
    const count = (form: RegExp) => all.filter(({ text }) => new RegExp(form.source).test(text)).length
    expect([ROWS, HEADING, README].map((form) => count(form) > 0)).toEqual([true, true, true])
    expect(count(HEADING)).toBeGreaterThan(40)
  })
})

it.each<[string, boolean]>([
  ['/** A2 row 9 */', true],
  ['/** A2 rows 9–15 */', true],
  ['/** A2 rows 9–99 */', false],
  ['/** A4 and A5 row 9 */', true],
  ['/** A3 row 3 */', false],
  ['/** REFERENCE "Payloads" */', true],
  ['/** (REFERENCE\n * "Order of checks of\n * a signed call") */', true],
  ['/** DECISIONS "Nothing of the kind" */', false],
  ['/** src/demo/README.md */', true],
  ['/** src/demo/GONE.md */', false],
  ['/** (decisions, section 1) */', false],
  ['/** (spec: Product) */', false],
])('%s resolves: %s', (comment, exists) => {
  expect(citationsIn(comment).map((citation) => citation.exists)).toEqual([exists])
})
