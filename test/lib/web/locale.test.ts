import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { acceptedLanguages, acceptedTypes, prefersHtml } from '../../../src/platform/lib/web/accept.ts'
import {
  chooseLocale,
  inMinutes,
  languageLinks,
  pageTranslator,
  translator,
} from '../../../src/platform/lib/web/locale.ts'
import { processorTime } from '../../processor-time.ts'

describe('the language of a page', () => {
  it.each([
    [{}, 'en'],
    [{ acceptLanguage: 'de-DE,de;q=0.9,zh;q=0.8,en;q=0.7' }, 'zh-CN'],
    [{ acceptLanguage: 'en;q=0.5,zh-TW;q=0.9' }, 'zh-CN'],
    [{ acceptLanguage: 'en; q=0.5, zh ;Q=0.9' }, 'zh-CN'],
    [{ acceptLanguage: 'zh;q=0,en;q=0.1' }, 'en'],
    [{ acceptLanguage: ';;q=x,,;' }, 'en'],
    [{ cookie: 'zh-CN', acceptLanguage: 'en' }, 'zh-CN'],
    [{ cookie: '<script>', acceptLanguage: 'zh' }, 'zh-CN'],
    [{ asked: 'fr en-GB zh', cookie: 'zh-CN', acceptLanguage: 'zh' }, 'en'],
    [{ asked: 'fr', cookie: 'zh-CN', acceptLanguage: 'en' }, 'zh-CN'],
  ])('is chosen by %j: %s', (wishes, expected) => {
    expect(chooseLocale(wishes)).toBe(expected)
  })

  it('is switched by links that keep the rest of the query byte for byte', () => {
    expect(languageLinks('scope=A%20B&ui_locales=en&state=x')).toEqual([
      { code: 'en', name: 'English', href: '?scope=A%20B&state=x&ui_locales=en' },
      { code: 'zh-CN', name: '中文', href: '?scope=A%20B&state=x&ui_locales=zh-CN' },
    ])
    expect(languageLinks('')[0]?.href).toBe('?ui_locales=en')
  })

  it('never leads to another path or host, whatever the query', () => {
    fc.assert(
      fc.property(fc.webQueryParameters(), (query) => {
        for (const { href } of languageLinks(query)) {
          expect(new URL(href, 'https://here.example/p').href).toMatch(/^https:\/\/here\.example\/p\?/)
        }
      }),
    )
  })

  it('shows a wait in whole minutes, rounded up', () => {
    expect(inMinutes('en', 0)).toBe('in 1 minute')
    expect(inMinutes('en', 61)).toBe('in 2 minutes')
    expect(inMinutes('zh-CN', 720)).toBe('12 分钟后')
  })
})

describe('prefersHtml', () => {
  it.each([
    ['text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8', true],
    ['text/html', true],
    ['image/avif, text/html;q=0.5', true],
    ['application/json;q=0.5, text/html', true],
    ['application/json, text/plain, */*', false],
    ['application/json, text/html;q=0.9', false],
    ['text/html;charset=utf-8', true],
    ['text/html, image/gif, *; q=.2, */*; q=.2', true],
    ['*/*, text/html', false],
    ['text/html; q=0.1, application/json; q=0.2', false],
    ['text/html;q=0', false],
    ['*/*', false],
    ['', false],
    [undefined, false],
  ])('of %s is %s', (accept, expected) => {
    expect(prefersHtml(accept)).toBe(expected)
  })
})

describe('an overlong header', () => {
  it('is read up to 1,024 characters, without the entry that is cut off there', () => {
    const filler = 'de;q=0.9,'.repeat(20)
    expect(acceptedLanguages(`${'x'.repeat(1_020)},zh-CN`)).toEqual(['x'.repeat(1_020)])
    expect(acceptedTypes(`a/${'x'.repeat(1_018)},text/html`)).toEqual([`a/${'x'.repeat(1_018)}`])
    expect(acceptedLanguages('x'.repeat(30_000))).toEqual([])
    expect(chooseLocale({ acceptLanguage: `${filler}zh` })).toBe('zh-CN')
    expect(chooseLocale({ acceptLanguage: `${filler.repeat(10)}zh` })).toBe('en')
  })

  it('is cheap: 32 KB take not much longer than 2 KB', () => {
    const costOf = (length: number) => {
      const nasty = [',', ', ', 'a,', 'a;q=0.1,', ';'].map((part) => part.repeat(length / part.length))
      return processorTime(() => {
        for (let n = 0; n < 100; n++) {
          for (const header of nasty) {
            chooseLocale({ acceptLanguage: header, asked: ' '.repeat(length / 4) })
            prefersHtml(header)
          }
        }
      })
    }
    costOf(2_048) // compiles it
    const short = costOf(2_048)
    expect(costOf(32_768)).toBeLessThan(5 * short)
  })
})

describe('a value within a text', () => {
  const said = (t: typeof translator, actual: string) => t('en')('sandbox.junit.actual', { actual })
  const [FSI, PDI] = ['\u2068', '\u2069']

  it.each([
    ['שלום', `${FSI}שלום${PDI}`],
    [`a${PDI}שלום`, `${FSI}aשלום${PDI}`],
    ['\u2067abc', `${FSI}abc${PDI}`],
    ['abc 名字', 'abc 名字'],
  ])('%j is isolated from the text direction on a page, and unchanged elsewhere', (value, onPage) => {
    expect(said(pageTranslator, value)).toBe(`got ${onPage}`)
    expect(said(translator, value)).toBe(`got ${value}`)
  })
})
