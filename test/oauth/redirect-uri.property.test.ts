import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkRedirectUri, withResponseParameters } from '../../src/authorization/oauth/redirect-uri.ts'
import { CORPUS_APPS, REDIRECT_CORPUS } from '../redirect-corpus.ts'

const app = CORPUS_APPS.plain
const check = (text: string) => checkRedirectUri(text, app)

/** Independent of the code under test: whether the host is one of the plain app's. */
const isRegistered = ({ hostname, host }: URL): boolean =>
  (app.hosts as readonly string[]).includes(hostname) ||
  /^[^.].*\.wild\.com$/.test(hostname) ||
  host === 'port.com:8443'

/** Pieces of attacks on redirect URIs, assembled in any order: most results are refused, but enough pass. */
const PIECES = [
  ...['https://', 'http://', 'https:', '//', 'javascript:', 'good.com', 'evil.com', 'a.wild.com', 'port.com:8443'],
  ...[
    'localhost',
    '127.0.0.1',
    '[::1]',
    '中文.com',
    'ｇｏｏｄ.com',
    '.',
    ':',
    ':443',
    ':8443',
    '@',
    '/',
    '\\',
    '?',
    '#',
  ],
  ...['&', '=', '%2f', '%2e', '%40', '%5c', '%00', '%', '\t', '\n', '\r', ' ', '\u0000', '\u3000', 'user', '*', "'"],
]
const assembled = fc.array(fc.constantFrom(...PIECES), { maxLength: 10 }).map((parts) => parts.join(''))
const likely = fc
  .tuple(fc.constantFrom('https://', 'http://', 'HTTPS://'), fc.constantFrom(...app.hosts), assembled)
  .map((parts) => parts.join(''))
const mutated = fc
  .tuple(fc.constantFrom(...REDIRECT_CORPUS.map((entry) => entry.uri)), fc.nat(), fc.constantFrom(...PIECES))
  .map(([uri, at, piece]) => uri.slice(0, at % (uri.length + 1)) + piece + uri.slice(at % (uri.length + 1)))
const anything = fc.oneof(fc.string({ unit: 'binary' }), fc.webUrl(), assembled, likely, mutated)
const accepted = fc.oneof(likely, mutated).filter((text) => check(text) instanceof URL)

describe('an accepted redirect_uri', () => {
  it('leads to a registered host over https, or http on the loopback interface', () => {
    let passed = 0
    fc.assert(
      fc.property(anything, (text) => {
        if (!(check(text) instanceof URL)) return
        passed++
        const target = new URL(text)
        expect(isRegistered(target), target.hostname).toBe(true)
        const local = /^(localhost|127\..*|\[::1\])$/.test(target.hostname)
        expect(local ? ['https:', 'http:'] : ['https:']).toContain(target.protocol)
      }),
      { numRuns: 20_000 },
    )
    expect(passed).toBeGreaterThan(300)
  })

  it('contains nothing that two parsers could read differently', () => {
    fc.assert(
      fc.property(accepted, (text) => {
        expect(text).not.toMatch(/[\\#\s]|\p{Cc}/u)
        const target = new URL(text)
        expect([target.username, target.password, target.hash]).toEqual(['', '', ''])
        expect(/^https?:\/\/[^/?@%]+([/?]|$)/i.test(text)).toBe(true)
      }),
      { numRuns: 5_000 },
    )
  })

  it('receives the response at the same origin and path, with its query unchanged byte for byte', () => {
    const answer = { code: 'ghac_Code-1', state: 'aZ09' }
    fc.assert(
      fc.property(accepted, (text) => {
        const location = withResponseParameters(text, answer)
        expect(location).toMatch(/^[\x21-\x7e]+$/)
        const [before, after] = [new URL(text), new URL(location)]
        expect(after.origin + after.pathname).toBe(before.origin + before.pathname)
        const ascii = text.replace(/[^\x20-\x7e]+/g, encodeURIComponent)
        const query = ascii.includes('?') ? ascii.slice(ascii.indexOf('?')) : '?'
        const added = location.slice(location.indexOf('?') + query.length)
        expect(location.slice(location.indexOf('?'))).toBe(query + added)
        expect(added.replace(/^&/, '')).toBe('code=ghac_Code-1&state=aZ09')
        expect(after.searchParams.getAll('code').at(-1)).toBe(answer.code)
        expect(after.searchParams.getAll('state').at(-1)).toBe(answer.state)
      }),
      { numRuns: 5_000 },
    )
  })
})

it('checkRedirectUri never throws, whatever the text', () => {
  fc.assert(fc.property(anything, (text) => void verdict(text)))
})

const verdict = (text: string): string => {
  const found = check(text)
  return found instanceof URL ? 'ok' : found
}
