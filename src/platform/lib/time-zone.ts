import { addSeconds, DAY_S, fromEpochMilliseconds, utcDate } from './clock.ts'
import { readOr } from './read-or.ts'

/** UTC offsets in use on earth, in minutes. */
const ZONES = [
  ...Array.from({ length: 27 }, (_, index) => (index - 12) * 60).filter((minutes) => minutes !== 0),
  ...[-570, -210, 210, 270, 330, 345, 390, 525, 570, 630, 765],
]
/** How inaccurate a clock may be for its zone still to be recognized. */
const ZONE_TOLERANCE_MIN = 5

/** The zone whose local time was sent as GMT, such as `UTC+8`, if the clock's deviation matches one. */
export function zoneOfOffset(minutesAhead: number): string | undefined {
  const zone = ZONES.find((offset) => Math.abs(minutesAhead - offset) <= ZONE_TOLERANCE_MIN)
  if (zone === undefined) return undefined
  const minutes = Math.abs(zone) % 60
  const hours = Math.floor(Math.abs(zone) / 60)
  return `UTC${zone < 0 ? '-' : '+'}${hours}${minutes === 0 ? '' : `:${minutes}`}`
}

/** Times of area B have no zone: they are Beijing time, UTC+8 all year. */
const AHEAD_S = 8 * 3_600

/** `yyyy-MM-dd HH:mm:ss` in Beijing. */
export const beijingTime = (at: Date): string => addSeconds(at, AHEAD_S).toISOString().slice(0, 19).replace('T', ' ')

/** `yyyy-MM-dd HH:mm:ss UTC` from ISO 8601, as pages show times (views/when.eta). */
export const utcTime = (iso: string): string => `${iso.slice(0, 19).replace('T', ' ')} UTC`

/** `yyyy-MM-dd` in Beijing. */
export const beijingDate = (at: Date): string => beijingTime(at).slice(0, 10)

/** The date that many days later; both `yyyy-MM-dd`. */
export function addDays(date: string, days: number): string {
  const [year = 0, month = 1, day = 1] = date.split('-').map(Number)
  return utcDate(year, month, day + days)
    .toISOString()
    .slice(0, 10)
}

/** Whether this is the name of a known time zone, such as `Asia/Shanghai`. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z][\w/+-]{0,63}$/.test(name)) return false
  return readOr(() => new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '', false)
}

/** `yyyy-MM-ddTHH:mm:ss` in that zone. */
function localTime(at: Date, timeZone: string): string {
  const format = new Intl.DateTimeFormat('sv', { timeZone, dateStyle: 'short', timeStyle: 'medium' })
  return format.format(at).replace(' ', 'T')
}

/** `yyyy-MM-dd` in that zone. */
export const localDate = (at: Date, timeZone: string): string => localTime(at, timeZone).slice(0, 10)

/** The first moment of a day in that zone. Where clocks change at midnight, that is not always 00:00. */
export function startOfDay(date: string, timeZone: string): Date {
  const midnight = fromEpochMilliseconds(Date.parse(`${date}T00:00:00Z`))
  // The offset may change during the day: both may apply to its midnight.
  const starts = [-DAY_S, DAY_S].map((seconds) => {
    const near = addSeconds(midnight, seconds)
    const aheadMs = Date.parse(`${localTime(near, timeZone)}Z`) - near.getTime()
    return addSeconds(midnight, -aheadMs / 1000)
  })
  const [earlier, later] = starts.sort((one, other) => one.getTime() - other.getTime()) as [Date, Date]
  return localDate(earlier, timeZone) === date ? earlier : later
}
