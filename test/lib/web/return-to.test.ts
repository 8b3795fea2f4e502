import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { localPath, pageOf } from '../../../src/platform/lib/web/return-to.ts'

const HERE = 'https://gate.example'

describe('return_to', () => {
  it.each([
    ['/', '/'],
    ['/oauth/v2/authorize?app_key=a&redirect_uri=https%3A%2F%2Fapp.example&scope=A%20B#x', undefined],
    ['/a?return_to=//evil.example', undefined],
    ['/名字', '/%E5%90%8D%E5%AD%97'],
    ['/a/../b', '/b'],
  ])('%s is kept', (returnTo, expected = returnTo) => {
    expect(localPath(returnTo, HERE)).toBe(expected)
  })

  it.each([
    undefined,
    '',
    'sign-in',
    'https://evil.example/',
    'https:/evil.example',
    'javascript:alert(1)',
    '//evil.example',
    '///evil.example',
    '/\\evil.example',
    '/a\\..\\..\\evil.example',
    '\\\\evil.example',
    ' //evil.example',
    '/\t/evil.example',
    '/\n/evil.example',
    '/a\r\nSet-Cookie: x=y',
    '/\u0000',
    '/.//evil.example',
    '/a/..//evil.example',
    '/%2e//evil.example',
    `/${'a'.repeat(9_000)}`,
  ])('%j becomes /', (returnTo) => {
    expect(localPath(returnTo, HERE)).toBe('/')
  })

  it('never leads to another origin or breaks a header, whatever is given', () => {
    const pieces = fc.constantFrom(
      '/',
      '//',
      '\\',
      '.',
      '..',
      '@',
      ':',
      '?',
      '#',
      '%2f',
      '%5c',
      '\t',
      '\n',
      'evil.example',
      'é',
    )
    const path = fc.array(pieces, { maxLength: 8 }).map((parts) => `/${parts.join('')}`)
    fc.assert(
      fc.property(fc.oneof(path, fc.string(), fc.webUrl()), (returnTo) => {
        const result = localPath(returnTo, HERE)
        expect(result).toMatch(/^\/(?![/\\])[\x21-\x7e]*$/)
        expect(new URL(result, HERE).origin).toBe(HERE)
        expect(localPath(result, HERE)).toBe(result)
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('the path of the page that sent a form', () => {
  it.each([
    ['https://gate.example/account/profile', '/account/profile'],
    ['https://gate.example/account/profile?done=saved', '/account/profile'],
    ['https://gate.example/account?withdrawn=app-1&ui_locales=zh-CN', '/account?ui_locales=zh-CN'],
    ['https://gate.example/console/users/user/edit?cid=1&user_id=a&done=1', '/console/users/user/edit?cid=1&user_id=a'],
    ['https://gate.example//evil.example', '/'],
    ['https://evil.example/account', '/other'],
    ['nonsense', '/other'],
    [undefined, '/other'],
  ])('%s is %s', (referer, path) => {
    const headers = referer === undefined ? {} : { referer }
    expect(pageOf({ method: 'POST', url: '/account/form', headers }, HERE, '/other')).toBe(path)
  })
})
