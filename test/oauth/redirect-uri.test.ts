import { describe, expect, it } from 'vitest'
import { checkRedirectUri, withResponseParameters } from '../../src/authorization/oauth/redirect-uri.ts'
import { CORPUS_APPS, REDIRECT_CORPUS } from '../redirect-corpus.ts'

describe('a redirect_uri', () => {
  it.each(REDIRECT_CORPUS)('$verdict $app $uri', ({ app, uri, verdict }) => {
    const found = checkRedirectUri(uri, CORPUS_APPS[app])
    expect(found instanceof URL ? 'ok' : found).toBe(verdict)
  })

  it('is tested with a corpus without duplicates and of sufficient size', () => {
    expect(new Set(REDIRECT_CORPUS.map(({ app, uri }) => `${app} ${uri}`)).size).toBe(REDIRECT_CORPUS.length)
    expect(REDIRECT_CORPUS.length).toBeGreaterThan(200)
  })
})

describe('the response', () => {
  it.each([
    ['https://good.com', 'https://good.com?code=C&state=S'],
    ['https://good.com/cb', 'https://good.com/cb?code=C&state=S'],
    ['https://good.com/cb?', 'https://good.com/cb?code=C&state=S'],
    ['https://good.com/cb?a=1', 'https://good.com/cb?a=1&code=C&state=S'],
    ['https://good.com/cb?a=1&', 'https://good.com/cb?a=1&code=C&state=S'],
    ['https://good.com/cb?a=%2f%2F+b;c=\'"{}|&&x', 'https://good.com/cb?a=%2f%2F+b;c=\'"{}|&&x&code=C&state=S'],
    ['https://good.com/a/../b?x=%zz', 'https://good.com/a/../b?x=%zz&code=C&state=S'],
    ['HTTPS://GOOD.com:443/cb', 'HTTPS://GOOD.com:443/cb?code=C&state=S'],
    ['https://中文.com/路?问=答%2f', 'https://xn--fiq228c.com/%E8%B7%AF?%E9%97%AE=%E7%AD%94%2f&code=C&state=S'],
    ['https://münchen.de:8443?q=%e4', 'https://xn--mnchen-3ya.de:8443?q=%e4&code=C&state=S'],
  ])('is appended to %s', (redirectUri, expected) => {
    expect(withResponseParameters(redirectUri, { code: 'C', state: 'S' })).toBe(expected)
  })

  it('has the state alone when the user refused', () => {
    expect(withResponseParameters('https://good.com/cb?a=1', { state: 'S' })).toBe('https://good.com/cb?a=1&state=S')
  })
})
