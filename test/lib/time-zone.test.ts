import { expect, it } from 'vitest'
import { addSeconds } from '../../src/platform/lib/clock.ts'
import { addDays, localDate, startOfDay } from '../../src/platform/lib/time-zone.ts'

it.each([
  ['Asia/Shanghai', '2026-05-06', '2026-05-05T16:00:00.000Z'],
  ['Europe/Berlin', '2026-03-29', '2026-03-28T23:00:00.000Z'], // spring, at night
  ['Europe/Berlin', '2026-10-25', '2026-10-24T22:00:00.000Z'],
  ['America/Santiago', '2026-09-06', '2026-09-06T04:00:00.000Z'], // spring at midnight: the day begins at 01:00
  ['America/Santiago', '2026-04-05', '2026-04-05T04:00:00.000Z'], // autumn: 24:00 becomes 23:00
  ['America/Havana', '2026-03-08', '2026-03-08T05:00:00.000Z'],
  ['America/Havana', '2026-11-01', '2026-11-01T04:00:00.000Z'], // autumn: 01:00 becomes 00:00
  ['Africa/Cairo', '2026-04-24', '2026-04-23T22:00:00.000Z'],
  ['Pacific/Kiritimati', '2026-01-01', '2025-12-31T10:00:00.000Z'],
])('a day in %s begins with its first moment: %s', (zone, date, start) => {
  expect(startOfDay(date, zone).toISOString()).toBe(start)
})

it('the start of every day is on that day, and the second before on the previous day', () => {
  for (const zone of ['America/Santiago', 'Atlantic/Azores', 'Australia/Lord_Howe']) {
    for (let date = '2026-01-01'; date < '2027'; date = addDays(date, 1)) {
      const start = startOfDay(date, zone)
      expect([localDate(addSeconds(start, -1), zone), localDate(start, zone)]).toEqual([addDays(date, -1), date])
    }
  }
})
