import { readFileSync } from 'node:fs'
import { transformSync } from 'rolldown/utils'
import { describe, expect, it } from 'vitest'

/** What pages of people may use: older browsers (README names them) skip a whole rule, or script, over one thing unknown to them. */

const BROWSERS = ['chrome79', 'safari14']
const SCRIPTS = [
  'local-time.js',
  'oidc-form-post.js',
  'passkey.js',
  'send-once.js',
  'developer-try.js',
  'sandbox-copy.js',
]
const STYLES = ['gatehouse.css', 'account.css', 'account-security.css']

const read = (name: string): string => readFileSync(new URL(`../../../views/assets/${name}`, import.meta.url), 'utf8')

describe.each(SCRIPTS)('%s', (name) => {
  const compiled = (target: string[]) => transformSync(name, read(name), { target }).code

  it('has no newer syntax', () => {
    expect(compiled(BROWSERS)).toBe(compiled(['esnext']))
  })

  it('has no newer function or option', () => {
    const newer =
      /\b(structuredClone|replaceAll|replaceChildren|at|hasOwn|findLast|allSettled|toSorted|timeout)\(|\.size\b|\w+Style:/
    expect(newer.exec(read(name))).toBeNull()
  })
})

const NEWER_SELECTOR = /:(is|where|has)\(|:not\([^)]*,|&/
const NEWER_DECLARATION =
  /\binset:|\b(margin|padding|border)-(inline|block)\b|\baspect-ratio:|color-mix\(|light-dark\(|^(?!.*-webkit-mask:).*\smask:/s
/** Where a row is displayed, `gap` is newer than where a grid is. */
const isRowWithGap = (declarations: string): boolean =>
  /display: (inline-)?flex/.test(declarations) && /\bgap:/.test(declarations)

describe.each(STYLES)('%s', (name) => {
  it('has no rule that is skipped', () => {
    const rules = read(name)
      .replace(/\/\*[\s\S]*?\*\//g, '')
      .matchAll(/([^{}]+)\{([^{}]*)\}/g)
    const skipped = [...rules].filter(
      ([, selector = '', declarations = '']) =>
        NEWER_SELECTOR.test(selector) || NEWER_DECLARATION.test(declarations) || isRowWithGap(declarations),
    )
    expect(skipped.map(([rule]) => rule.trim())).toEqual([])
  })
})
