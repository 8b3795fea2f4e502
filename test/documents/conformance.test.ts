import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT, read } from './document.ts'

/** CONFORMANCE.md names a test for each requirement, and every named test exists. */

const document = read('.github/CONFORMANCE.md')
const CITED = /([\w./-]+)\s+"([^"]+)"/g
/** Titles of tests and of `it.each` tables. */
const TITLE = /(?:\b(?:it|test|describe)|\))\(\s*(?:'((?:[^'\\]|\\.)*)'|"([^"]*)")/g

const [, requirements = ''] = document.split('## OpenID Connect Core')
const rows = requirements.split('\n').filter((line) => line.startsWith('- '))
const cited = [...document.replace(/```[\s\S]*?```/g, '').matchAll(CITED)].flatMap(([, file = '', title = '']) =>
  file.startsWith('--') ? [] : [{ path: join('test/oidc', `${file}.test.ts`), title: title.replace(/\s+/g, ' ') }],
)

const titlesOf = (path: string): Set<string> =>
  new Set([...read(path).matchAll(TITLE)].map(([, single, double]) => single ?? double ?? ''))

describe('CONFORMANCE', () => {
  it('has a test for each requirement', () => {
    expect(rows.length).toBeGreaterThan(70)
    expect(rows.filter((row) => row.match(/ – /g)?.length !== 1 || !row.split(' – ')[1]?.match(CITED))).toEqual([])
  })

  it('names each specification', () => {
    for (const name of [
      'OpenID Connect Core',
      'Discovery',
      ...['6749', '6750', '7009', '7636', '7662', '8414', '9126'],
    ]) {
      expect(document).toMatch(new RegExp(`^## .*${name}`, 'm'))
    }
    expect(document).toMatch(/^## .*9207/m)
  })

  it('names only tests that exist, each by its title or a beginning that no other title of its file has', () => {
    const files = [...new Set(cited.map(({ path }) => path))]
    expect(files.filter((path) => !existsSync(`${ROOT}${path}`))).toEqual([])
    const titles = new Map(files.map((path) => [path, titlesOf(path)]))
    const found = ({ path, title }: (typeof cited)[number]) =>
      [...(titles.get(path) ?? [])].filter((one) =>
        title.endsWith('…') ? one.startsWith(title.slice(0, -1)) : one === title,
      )
    expect(cited.filter((citation) => found(citation).length !== 1)).toEqual([])
  })
})
