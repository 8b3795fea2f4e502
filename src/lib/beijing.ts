import { addSeconds, utcDate } from './clock.ts'

/** Area B writes times without a zone; they are Beijing's, which is eight hours ahead of UTC all year. */
const AHEAD_S = 8 * 3_600

/** `yyyy-MM-dd HH:mm:ss` in Beijing. */
export const beijingTime = (at: Date): string => addSeconds(at, AHEAD_S).toISOString().slice(0, 19).replace('T', ' ')

/** `yyyy-MM-dd` in Beijing. */
export const beijingDate = (at: Date): string => beijingTime(at).slice(0, 10)

/** The calendar date so many days later; both `yyyy-MM-dd`. */
export function addDays(date: string, days: number): string {
  const [year = 0, month = 1, day = 1] = date.split('-').map(Number)
  return utcDate(year, month, day + days)
    .toISOString()
    .slice(0, 10)
}
