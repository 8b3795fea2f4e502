import { describe, expect, it } from 'vitest'
import { addSeconds } from '../../../src/platform/lib/clock.ts'
import { formatHttpDate } from '../../../src/platform/lib/crypto/signing.ts'
import { diagnoseDate } from '../../../src/ticketing/mws/diagnose/date-header.ts'

const now = new Date('2026-05-06T10:34:20Z')
const found = (date: string) => diagnoseDate(date, now, 600)
const atMinutes = (minutes: number) => found(formatHttpDate(addSeconds(now, minutes * 60)))

describe('the diagnosis of the Date header', () => {
  it.each([0, 7, -7, 10, -10])('accepts a difference of %d minutes', (minutes) => {
    expect(atMinutes(minutes)).toBeNull()
  })

  it.each([
    [480, 'UTC+8'],
    [482, 'UTC+8'],
    [-300, 'UTC-5'],
    [330, 'UTC+5:30'],
    [345, 'UTC+5:45'],
    [-210, 'UTC-3:30'],
    [60, 'UTC+1'],
    [840, 'UTC+14'],
  ])('recognises a difference of %d minutes as the time zone %s', (minutes, zone) => {
    const mistake = atMinutes(minutes)
    expect(mistake?.name).toBe('date-local-time-labelled-gmt')
    expect(mistake?.explanation).toMatch(new RegExp(`Its time zone looks like ${zone.replace('+', '\\+')}\\.$`))
  })

  it.each([
    [11, 'clock-fast', 'Your clock is 11 minutes fast.'],
    [-17, 'clock-slow', 'Your clock is 17 minutes slow.'],
    [130, 'clock-fast', 'Your clock is 2 hours fast.'],
    [-1440, 'clock-slow', 'Your clock is 24 hours slow.'],
    [-525_600, 'clock-slow', 'Your clock is 365 days slow.'],
  ])('reports a difference of %d minutes as %s', (minutes, name, sentence) => {
    expect(atMinutes(minutes)?.name).toBe(name)
    expect(atMinutes(minutes)?.explanation).toContain(sentence)
  })

  it.each([
    ['', 'date-header-missing', 'missing'],
    ['Tue, 06 May 2026 10:34:20 GMT', 'date-weekday-wrong', 'the weekday is Wed, not Tue'],
    ['Wed, 30 Feb 2026 10:34:20 GMT', 'date-impossible', 'does not exist'],
    ['wed, 06 may 2026 10:34:20 gmt', 'date-names-in-other-case', 'wrong letter case'],
    ['Wed, 06 May 2026 10:34:20 Gmt', 'date-names-in-other-case', 'wrong letter case'],
    ['Wed, 06 May 2026 18:34:20 +0800', 'date-zone-not-gmt', '"+0800"'],
    ['Wed, 06 May 2026 18:34:20 CST', 'date-zone-not-gmt', '"CST"'],
    ['Wed, 06 May 2026 10:34:20 UTC', 'date-zone-not-gmt', '"UTC"'],
    ['Wed, 06 May 2026 18:34:20 GMT+08:00', 'date-zone-not-gmt', '"GMT+08:00"'],
    ['æ\u0098\u009fæ\u009c\u009fä¸\u0089, 06 May 2026 10:34:20 GMT', 'date-names-not-english', 'English'],
    ['2026-05-06T10:34:20Z', 'date-form-wrong', 'ISO 8601'],
    ['2026-05-06 18:34:20', 'date-form-wrong', 'ISO 8601'],
    ['Wednesday, 06-May-26 10:34:20 GMT', 'date-form-wrong', 'RFC 850'],
    ['1778063660', 'date-form-wrong', 'Unix timestamp'],
    ['1778063660000', 'date-form-wrong', 'Unix timestamp'],
    ['Wed May  6 10:34:20 2026', 'date-form-wrong', 'asctime'],
    ['Wed May 06 18:34:20 CST 2026', 'date-form-wrong', 'asctime'],
    ['Wed, 06 May 10000 10:34:20 GMT', 'date-form-wrong', 'not an HTTP date'],
    ['yesterday', 'date-form-wrong', 'not an HTTP date'],
  ])('reports %j as %s', (date, name, words) => {
    expect(found(date)?.name).toBe(name)
    expect(found(date)?.explanation).toContain(words)
  })
})
