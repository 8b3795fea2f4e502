/** Times on the wire are Beijing time without a zone, whatever the zone of the machine. */

const DAY_MS = 24 * 60 * 60 * 1000

// Swedish writes dates and times as the platform does: 2026-05-06 18:34:20.
const beijing = new Intl.DateTimeFormat('sv-SE', {
  timeZone: 'Asia/Shanghai',
  dateStyle: 'short',
  timeStyle: 'medium',
})
const calendar = new Intl.DateTimeFormat('sv-SE', { timeZone: 'UTC' })

/** `yyyy-MM-dd HH:mm:ss` */
export const beijingTime = (at: Date): string => beijing.format(at)

/** `yyyy-MM-dd` */
export const beijingDate = (at: Date): string => beijingTime(at).slice(0, 10)

export const daysAfter = (date: string, days: number): string => calendar.format(Date.parse(date) + days * DAY_MS)

/** Whether a text is a day that exists; 30 February does not. */
export const isDate = (text: string): boolean =>
  /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)) && daysAfter(text, 0) === text

/** Saturday or Sunday; day 0 of the count was a Thursday. */
export const isWeekend = (date: string): boolean => [2, 3].includes((Date.parse(date) / DAY_MS) % 7)
