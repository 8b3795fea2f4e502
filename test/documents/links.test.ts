import { existsSync, readFileSync, statSync } from 'node:fs'
import { posix } from 'node:path'
import { describe, expect, it } from 'vitest'
import { anchorOf, DOCUMENTS, headings, prose, ROOT, read } from './document.ts'

/** Files, headings and scripts that documents refer to exist, and some documents have a maximum length. */

const MAX_BYTES = { 'README.md': 12_000, '.github/ARCHITECTURE.md': 12_288, '.github/CONTRIBUTING.md': 8_704 }

const isFile = (path: string): boolean => statSync(`${ROOT}${path}`, { throwIfNoEntry: false })?.isFile() ?? false

/** The broken links of a document that is stored at `path`. */
function brokenLinks(path: string, document: string): string[] {
  const linked = [...prose(document).matchAll(/\]\(([^)\s]+)\)|\b(?:src|href)="([^"]+)"/g)]
  return linked
    .map(([, link = '', source = '']) => link || source)
    .filter((target) => {
      if (/^(https?|mailto):/.test(target)) return false
      const [file = '', anchor] = target.split('#')
      const to = file === '' ? path : posix.normalize(posix.join(posix.dirname(path), file))
      if (to !== path && !existsSync(`${ROOT}${to}`)) return true
      if (anchor === undefined) return false
      const text = to === path ? document : read(to)
      return !headings(text).map(anchorOf).includes(anchor)
    })
}

const PATH = /(?<![\w./:-])((?:src|test|views|migrations|\.github|\.ci)\/[\w./-]*[\w/])/g

/** Repository paths that a document names but that do not exist. */
const missingPaths = (document: string): string[] =>
  [...document.replace(/\]\([^)]*\)/g, '').matchAll(PATH)]
    .map(([, path = '']) => path)
    .filter((path) => !existsSync(`${ROOT}${path}`))

/** Broken paths in backticks that are relative to the document, such as `../oauth/failures.ts`. */
const missingRelativePaths = (path: string, document: string): string[] =>
  [...document.matchAll(/`(\.\.\/[\w./-]+)`/g)]
    .map(([, to = '']) => to)
    .filter((to) => !existsSync(`${ROOT}${posix.join(posix.dirname(path), to)}`))

const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }

/** npm scripts that a text mentions but package.json does not have. */
function missingScripts(text: string): string[] {
  const named = [...text.matchAll(/\bnpm\s+(?:run\s+(?:--silent )?)?([\w:-]+)/g)].flatMap(([whole, name = '']) =>
    /^npm\s+run/.test(whole) || ['start', 'test'].includes(name) ? [name] : [],
  )
  return named.filter((name) => !(name in scripts))
}

describe('a document', () => {
  it.each(Object.entries(MAX_BYTES))('%s has at most %i bytes', (path, most) => {
    expect(readFileSync(`${ROOT}${path}`).length).toBeLessThanOrEqual(most)
  })

  it.each(DOCUMENTS)('%s has no broken links', (path) => {
    expect(brokenLinks(path, read(path))).toEqual([])
  })

  it.each(DOCUMENTS)('%s names only files that exist', (path) => {
    expect([...missingPaths(read(path)), ...missingRelativePaths(path, read(path))]).toEqual([])
  })

  it.each([...DOCUMENTS, '.ci/run', '.github/workflows/ci.yml', 'Dockerfile'])(
    '%s runs only scripts that exist',
    (path) => {
      expect(missingScripts(read(path))).toEqual([])
    },
  )

  it.each(DOCUMENTS)('%s has unique headings, so that each has its own anchor', (path) => {
    const titles = headings(read(path))
    expect(titles.filter((title, at) => titles.indexOf(title) !== at)).toEqual([])
  })

  it('can be reached by links from the README', () => {
    const seen = new Set<string>()
    const visit = (path: string): void => {
      if (seen.has(path)) return
      seen.add(path)
      for (const [, target = ''] of prose(read(path)).matchAll(/\]\(([^)#\s]+)[^)]*\)/g)) {
        const to = posix.normalize(posix.join(posix.dirname(path), target))
        if (to.endsWith('.md') && isFile(to)) visit(to)
      }
    }
    visit('README.md')
    expect(DOCUMENTS.filter((path) => !seen.has(path))).toEqual([])
  })

  it('shows pictures that are not empty files', () => {
    const pictures = [...read('README.md').matchAll(/<img src="([^"]+)"/g)].map(([, path]) => path)
    expect(pictures.length).toBeGreaterThan(0)
    for (const path of pictures) expect(readFileSync(`${ROOT}${path}`).length).toBeGreaterThan(1000)
  })
})

it('.editorconfig agrees with the formatter', () => {
  const { formatter } = JSON.parse(read('.biome.json'))
  const editor = Object.fromEntries(
    [...read('.editorconfig').matchAll(/^(\w+) = (.*)$/gm)].map(([, key, value]) => [key, value]),
  )
  expect(editor).toMatchObject({
    indent_style: formatter.indentStyle,
    indent_size: String(formatter.indentWidth ?? 2),
    max_line_length: String(formatter.lineWidth),
  })
})

describe('the checks of documents report', () => {
  it('a link to a file or heading that does not exist', () => {
    const document =
      '# One\n[a](nowhere.md) [b](#two) [c](#one) [d](README.md#gatehouse) [e](README.md#nothing) [f](https://x.example)'
    expect(brokenLinks('SOME.md', document)).toEqual(['nowhere.md', '#two', 'README.md#nothing'])
  })

  it('a path that does not exist', () => {
    expect(missingPaths('`src/app.ts`, `src/gone.ts`. `test/` and test/gone, .ci/run; /sandbox/src/x')).toEqual([
      'src/gone.ts',
      'test/gone',
    ])
  })

  it('a script that does not exist', () => {
    expect(missingScripts('`npm run gone`, `npm run check`, npm start, npm ci')).toEqual(['gone'])
  })
})

describe('the walks of ARCHITECTURE', () => {
  /** The length of each walk before the rooms had doors; today's must be shorter. */
  const MAX_FILES = { 'A code exchange': 26, 'A consumption notice': 37, 'Start of a sandbox step': 45 }

  it.each(Object.entries(MAX_FILES))('%s enters each room once and names only files that exist', (title, most) => {
    const [, walk = ''] =
      new RegExp(`\\*\\*${title}\\*\\*[^\\n]*\\n((?:[- ] .*\\n)+)`).exec(read('.github/ARCHITECTURE.md')) ?? []
    const rooms = walk.split(/^- /m).slice(1)
    const files = rooms.flatMap((room) => {
      const [, folder = ''] = /^`(src\/[a-z-]+\/[a-z-]+\/)`:/.exec(room) ?? []
      return [...room.matchAll(/`([a-z/-]+\.ts)`/g)].map(([, file]) => folder + file)
    })
    expect(rooms.length).toBeGreaterThan(3)
    expect(files.filter((file) => !existsSync(`${ROOT}${file}`))).toEqual([])
    const entered = rooms.map((room) => room.split(':')[0])
    expect(new Set(entered).size).toBe(entered.length)
    expect(files.length).toBeLessThan(most)
  })
})
