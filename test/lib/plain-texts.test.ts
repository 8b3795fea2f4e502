import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

/** Rules of style that can be checked by machine. */

const root = new URL('../../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, root), 'utf8')
const filesOf = (folder: string, ending: RegExp) =>
  readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' })
    .map((path) => `${folder}${path}`)
    .filter((path) => ending.test(path))

const HAN = String.raw`[\u4e00-\u9fff]`

/** Every text with Chinese in it that people read: texts of pages, and string literals in the code. */
function chineseTexts(): [where: string, text: string][] {
  const locales = filesOf('views/locales/', /\.zh-CN\.json$|\/zh-CN\.json$/).flatMap((path) =>
    Object.entries(JSON.parse(read(path)) as Record<string, string>),
  )
  // Names of products and people are data.
  const code = filesOf('src/', /\.ts$/).filter(
    (path) => !/demo\/partner\/(?:assortment|catalogue)|demo\/seed|test-visitors/.test(path),
  )
  const literals = code.flatMap((path) =>
    [...read(path).matchAll(/'((?:[^'\\\n]|\\.)*)'/g)].map(([, text = '']): [string, string] => [path, text]),
  )
  return [...locales, ...literals].filter(([, text]) => new RegExp(HAN).test(text))
}

/** English that is not translated in a Chinese sentence: code, headers, standards and names. */
const STAYS = [
  'OAuth 2.0',
  'HTTP Basic',
  'POST /path',
  'Tue, 05 May 2015 06:11:34 GMT',
  'MWS clientId:signature',
  'X-Encryption-Status: encrypted',
  'Java Date.toString()',
  'yyyy-MM-dd HH:mm:ss',
  'npm run demo:order',
  'gatehouse user import',
  'AES-128-CBC',
  'OpenID Connect',
  'JSON Schema',
  'alice / alice-password',
  'bob / bob-password',
  'gatehouse audit list',
  'gatehouse audit verify',
  'gatehouse sandbox contacts',
]

describe('Chinese texts', () => {
  const texts = chineseTexts()

  it('are found', () => expect(texts.length).toBeGreaterThan(800))

  it('have full-width punctuation next to Chinese characters', () => {
    const halfWidth = new RegExp(`${HAN}["”]?[,:;?!()]|[,:;?!()]["“]?${HAN}`)
    expect(texts.filter(([, text]) => halfWidth.test(text))).toEqual([])
  })

  it('have a space between Chinese characters and Latin letters or digits', () => {
    const joined = new RegExp(`${HAN}[A-Za-z0-9]|[A-Za-z0-9]${HAN}`)
    expect(texts.filter(([, text]) => joined.test(text.replaceAll('\\n', ' ')))).toEqual([])
  })

  it('contain no untranslated English phrases', () => {
    const sentence = /[A-Za-z][\w'’.-]*(?: [A-Za-z][\w'’.-]*)+/
    const left = texts.map(([where, text]) => [where, STAYS.reduce((rest, stays) => rest.replaceAll(stays, ''), text)])
    expect(left.filter(([, text = '']) => sentence.test(text))).toEqual([])
  })
})

/** Phrases over which readers stumbled; they must not come back. */
const STUMBLED_OVER = [
  'stands why',
  'mend it',
  'need another look',
  'stands beside',
  'it is your turn:',
  'step is being made',
  'lines appear below',
  'are behind you',
  'the test run opens',
  'go on with it',
  'look at this',
  'the address may be called',
  'came about',
  'the host name leads to',
  'the connection ended before',
  'what came is no http',
  'fits no mistake',
  'gives tickets back',
  'code is as expected',
  'quantities fit',
  'orderstatus fits',
  'not the step where',
  'for everybody to verify',
  'use all tickets of the order',
  'whitespace too much',
  'micro-app’s server heard',
  'told apart',
  'by nobody',
  'waits for nothing',
  'a way that is off',
]

it('no text or comment has a phrase over which readers stumbled', () => {
  const files = [...filesOf('views/', /\.(?:eta|json|js)$/), ...filesOf('src/', /\.ts$/)]
  const found = files.flatMap((path) => {
    const text = read(path)
      .replace(/\n\s*(?:\*|\/\/)?\s*/g, ' ')
      .toLowerCase()
    return STUMBLED_OVER.filter((words) => text.includes(words)).map((words) => `${path}: ${words}`)
  })
  expect(found).toEqual([])
})
