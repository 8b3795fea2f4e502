import { expect, it } from 'vitest'
import { fromEpochSeconds, fullJitter } from '../../src/platform/lib/clock.ts'
import { addDays, beijingDate, beijingTime } from '../../src/platform/lib/time-zone.ts'

it('Beijing is eight hours ahead of UTC, also across midnight and New Year', () => {
  const newYear = fromEpochSeconds(Date.UTC(2026, 11, 31, 16, 0, 0) / 1000)
  expect(beijingTime(newYear)).toBe('2027-01-01 00:00:00')
  expect(beijingDate(fromEpochSeconds(newYear.getTime() / 1000 - 1))).toBe('2026-12-31')
})

it.each([
  ['2026-05-06', 90, '2026-08-04'],
  ['2028-02-28', 1, '2028-02-29'],
  ['2026-12-31', 1, '2027-01-01'],
])('%s and %i days is %s', (date, days, later) => {
  expect(addDays(date, days)).toBe(later)
})

it('full jitter lies between 0 and a maximum that doubles up to a limit', () => {
  for (const [n, end] of [
    [0, 4],
    [1, 8],
    [5, 128],
    [20, 600],
    [5_000, 600],
  ] as const) {
    const drawn = Array.from({ length: 1_000 }, () => fullJitter(n, 4, 600))
    expect(Math.min(...drawn)).toBeGreaterThanOrEqual(0)
    expect(Math.max(...drawn)).toBeLessThan(end)
    expect(Math.max(...drawn)).toBeGreaterThan(end * 0.9)
    expect(Math.min(...drawn)).toBeLessThan(end * 0.1)
  }
})
