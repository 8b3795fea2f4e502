import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fromEpochSeconds } from '../../../src/platform/lib/clock.ts'
import { formatHttpDate, parseHttpDate } from '../../../src/platform/lib/crypto/signing.ts'

const FORM = 'Date: not of the form "Tue, 05 May 2015 06:11:34 GMT"'

describe('the Date header', () => {
  it('is written according to RFC 9110', () => {
    expect(formatHttpDate(fromEpochSeconds(1_430_806_294))).toBe('Tue, 05 May 2015 06:11:34 GMT')
  })

  it('can be parsed back for every second', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 253_402_300_799 }), (seconds) => {
        const date = fromEpochSeconds(seconds)
        expect(parseHttpDate(formatHttpDate(date))).toEqual(date)
      }),
    )
  })

  it.each(['Tue, 5 May 2015 06:11:34 GMT', 'Tue, 05 May 2015 06:11:34 GMT'])(
    'may have a day with one digit: %s',
    (text) => {
      expect(parseHttpDate(text)).toEqual(fromEpochSeconds(1_430_806_294))
    },
  )

  it.each([
    ['Mon, 05 May 2015 06:11:34 GMT', 'Date: the weekday is Tue, not Mon'],
    ['Mon, 30 Feb 2015 06:11:34 GMT', 'Date: no such date or time'],
    ['Sun, 29 Feb 2015 06:11:34 GMT', 'Date: no such date or time'],
    ['Tue, 00 May 2015 06:11:34 GMT', 'Date: no such date or time'],
    ['Tue, 05 May 2015 24:00:00 GMT', 'Date: no such date or time'],
    ['Tue, 05 May 2015 06:60:34 GMT', 'Date: no such date or time'],
    ['Tue, 05 May 2015 06:11:60 GMT', 'Date: no such date or time'],
    ['Fri, 05 May 0015 06:11:34 GMT', 'Date: no such date or time'],
    ['tue, 05 may 2015 06:11:34 GMT', FORM],
    ['TUE, 05 MAY 2015 06:11:34 GMT', FORM],
    ['Tue, 05 May 2015 06:11:34 gmt', FORM],
    ['Tue, 05 May 2015 06:11:34 UTC', FORM],
    ['Tue, 05 May 2015 06:11:34 +0800', FORM],
    ['Tue, 05 May 2015 06:11:34 GMT+0800', FORM],
    ['Tue, 05 May 15 06:11:34 GMT', FORM],
    ['Sat, 01 Jan 10000 00:00:00 GMT', FORM],
    ['Tuesday, 05-May-15 06:11:34 GMT', FORM],
    ['Tue May  5 06:11:34 2015', FORM],
    ['Tue,  5 May 2015 06:11:34 GMT', FORM],
    [' Tue, 05 May 2015 06:11:34 GMT', FORM],
    ['Tue, 05 May 2015 06:11:34 GMT\n', FORM],
    ['星期二, 05 五月 2015 06:11:34 GMT', FORM],
    ['2015-05-05T06:11:34Z', FORM],
    ['1430806294', FORM],
    ['', FORM],
  ])('is refused: %j', (text, problem) => {
    expect(parseHttpDate(text)).toEqual({ problem })
  })
})
