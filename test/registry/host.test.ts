import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hostMatches, parseHostEntry } from '../../src/authorization/registry/host.ts'

describe('a registered host', () => {
  it.each([
    ['example.com', 'example.com'],
    ['EXAMPLE.com', 'example.com'],
    ['example.com.', 'example.com'],
    ['example.com:8443', 'example.com:8443'],
    ['example.com:0443', 'example.com:443'],
    ['example.com:80', 'example.com:80'],
    ['localhost', 'localhost'],
    ['my_host', 'my_host'],
    ['*.Example.com', '*.example.com'],
    ['*.a.example.com.', '*.a.example.com'],
    ['*.example.co.uk', '*.example.co.uk'],
    ['*.me.github.io', '*.me.github.io'],
    ['*.shop.internal', '*.shop.internal'],
    ['münchen.de', 'xn--mnchen-3ya.de'],
    ['*.中文.com', '*.xn--fiq228c.com'],
    ['ｅxample。com', 'example.com'],
    ['127.0.0.1', '127.0.0.1'],
    ['127.1:3000', '127.0.0.1:3000'],
    ['[::1]', '[::1]'],
    ['[2001:DB8:0::1]:8443', '[2001:db8::1]:8443'],
  ])('%s is stored as %s', (text, entry) => {
    expect(parseHostEntry(text)).toEqual({ entry })
  })

  it.each([
    ['', /empty/],
    ['*.co.uk', /public suffix/],
    ['*.Com.CN', /public suffix/],
    ['*.github.io', /public suffix/],
    ['*.s3.amazonaws.com', /public suffix/],
    ['*.公司.cn', /public suffix/],
    [' example.com', /whitespace/],
    ['exam\tple.com', /control/],
    ['example.com\n', /control/],
    ['exam\u0000ple.com', /control/],
    ['https://example.com', /scheme/],
    ['user@example.com', /user name/],
    ['example.com/', /path/],
    ['example.com/cb', /path/],
    ['evil\\example.com', /path/],
    ['example.com?x', /query/],
    ['example.com#x', /fragment/],
    ['ex%61mple.com', /percent/],
    ['*', /"\*"/],
    ['*example.com', /"\*"/],
    ['a.*.com', /"\*"/],
    ['*.*.example.com', /"\*"/],
    ['*.com', /two labels/],
    ['*.com.', /two labels/],
    ['*.localhost', /two labels/],
    ['*.', /must be a host/],
    ['*.example.com:443', /port/],
    ['*.127.0.0.1', /IP address/],
    ['*.1.2', /IP address/],
    ['*.[::1]', /IP address/],
    ['::1', /brackets/],
    ['2001:db8::1', /not a valid|1 to 65535/],
    ['[::1', /brackets|not a valid/],
    ['[::g]', /not a valid/],
    ['example.com:', /1 to 65535/],
    ['example.com:0', /1 to 65535/],
    ['example.com:65536', /1 to 65535/],
    ['example.com:80:80', /1 to 65535/],
    ['example.com:-1', /1 to 65535/],
    [':8080', /must be a host/],
    ['.example.com', /not a valid/],
    ['a..com', /not a valid/],
    ['a,b.com', /not a valid/],
    ['-a.com', /not a valid/],
    ["a'b.com", /not a valid/],
    [`${'a'.repeat(64)}.com`, /not a valid/],
    [`${'a.'.repeat(127)}com`, /not a valid/],
    ['256.1.1.1', /not a valid/],
  ])('%j is refused with a reason', (text, reason) => {
    expect(parseHostEntry(text)).toEqual({ problem: expect.stringMatching(reason) })
  })

  it('is either refused or stored in a form that is stable when parsed again', () => {
    const pieces = fc.constantFrom(
      '*.',
      '*',
      'a',
      'example',
      '.',
      '.com',
      ':',
      '80',
      '[',
      ']',
      '::1',
      'ü',
      '。',
      '@',
      '/',
      '%',
    )
    const texts = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(pieces, { maxLength: 8 }).map((all) => all.join('')),
    )
    fc.assert(
      fc.property(texts, (text) => {
        const parsed = parseHostEntry(text)
        if ('problem' in parsed) return
        expect(parsed.entry).toMatch(/^(\*\.)?(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(:\d+)?$/)
        expect(parseHostEntry(parsed.entry)).toEqual(parsed)
      }),
      { numRuns: 5_000 },
    )
  })
})

describe('hostMatches', () => {
  it.each([
    ['good.com', 'https://good.com/cb', true],
    ['good.com', 'https://GOOD.com:8443/cb', true],
    ['good.com', 'https://a.good.com/cb', false],
    ['good.com', 'https://good.com.evil/cb', false],
    ['good.com', 'https://notgood.com/cb', false],
    ['good.com', 'https://good.com@evil.com/', false],
    ['good.com', 'https://good.com./', false],
    ['good.com:8443', 'https://good.com:8443/', true],
    ['good.com:8443', 'https://good.com/', false],
    ['good.com:443', 'https://good.com/', true],
    ['good.com:443', 'https://good.com:443/', true],
    ['good.com:443', 'http://good.com/', false],
    ['good.com:80', 'http://good.com/', true],
    ['good.com:443', 'http://good.com:443/', true],
    ['*.good.com', 'https://good.com/', false],
    ['*.good.com', 'https://a.good.com/', true],
    ['*.good.com', 'https://a.b.good.com:9/', true],
    ['*.good.com', 'https://.good.com/', false],
    ['*.good.com', 'https://a..good.com/', false],
    ['*.good.com', 'https://evilgood.com/', false],
    ['*.good.com', 'https://a.good.com.evil.com/', false],
    ['*.good.com', 'https://a.good.com./', false],
    ['*.good.com', 'https://a_b.good.com/', false],
    ['*.good.com', 'https://-a.good.com/', false],
    ['*.good.com', 'https://a-.b.good.com/', false],
    ['*.good.com', "https://a'b.good.com/", false],
    ['*.good.com', 'https://a$b.good.com/', false],
    ['*.good.com', 'https://a-b.good.com/', true],
    ['*.good.com', 'https://xn--fiq228c.good.com/', true],
    ['*.co.uk', 'https://anybody.co.uk/', false],
    ['*.github.io', 'https://anybody.github.io/', false],
    ['xn--fiq228c.com', 'https://中文.com/', true],
    ['127.0.0.1', 'http://127.0.0.1:3001/cb', true],
    ['127.0.0.1', 'http://2130706433/cb', true],
    ['[::1]', 'http://[::1]:3001/cb', true],
    ['[::1]:3001', 'http://[0:0::1]:3001/cb', true],
    ['[::1]:3001', 'http://[::1]:3002/cb', false],
  ])('for %s and %s is %s', (entry, url, expected) => {
    expect(hostMatches(entry, new URL(url))).toBe(expected)
  })

  it('for a "*." entry is true for exactly the hosts that add at least one label', () => {
    const label = fc.stringMatching(/^[a-z][a-z0-9]{0,5}$/)
    fc.assert(
      fc.property(fc.array(label, { maxLength: 4 }), label, (labels, other) => {
        const covered = new URL(`https://${[...labels, 'good', 'com'].join('.')}/`)
        expect(hostMatches('*.good.com', covered)).toBe(labels.length > 0)
        expect(hostMatches('*.good.com', new URL(`https://${[...labels, `${other}good`, 'com'].join('.')}/`))).toBe(
          false,
        )
      }),
    )
  })
})
