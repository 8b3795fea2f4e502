import { addSeconds, epochSeconds, fromEpochSeconds, utcDate } from '../../../platform/lib/clock.ts'
import { formatHttpDate } from '../../../platform/lib/crypto/signing.ts'
import { mistakesIn } from './recipe.ts'

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const LONG_DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
const BEIJING = 8 * 3600

const HTTP = /^\w{3,9}, ?(\d{1,2})[ -]([a-z]{3})[ -](\d{4}) (\d\d):(\d\d):(\d\d)/i
const RFC_850 = /^\w{6,9}, (\d\d)-([a-z]{3})-(\d\d) (\d\d):(\d\d):(\d\d)/i
const ISO = /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)/
const EPOCH = /^(\d{10})(?:\d{3})?$/

/** The name of the form of a date that is not an HTTP date; undefined for an unknown form. */
export function namedForm(text: string): string | undefined {
  if (ISO.test(text)) return 'ISO 8601'
  if (RFC_850.test(text)) return 'RFC 850'
  if (EPOCH.test(text)) return 'a Unix timestamp'
  if (/^\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d /.test(text)) return 'asctime or Java’s Date.toString()'
  return undefined
}

/** A date in any common form, read as GMT, so that the same instant can be written in another form. */
function readLoosely(text: string): Date | null {
  const epoch = EPOCH.exec(text)
  if (epoch) return fromEpochSeconds(Number(epoch[1]))
  const iso = ISO.exec(text)
  const [, day, month = '', year, ...time] = HTTP.exec(text) ?? RFC_850.exec(text) ?? []
  const monthNumber = MONTHS.indexOf(month.toLowerCase()) + 1
  if (!iso && monthNumber === 0) return null
  const [years = 0, months = 0, days = 0, hours, minutes, seconds] = iso
    ? iso.slice(1).map(Number)
    : [Number(year), monthNumber, Number(day), ...time.map(Number)]
  return utcDate(years < 100 ? 2000 + years : years, months, days, hours, minutes, seconds)
}

/** The parts of an instant as texts, after a shift in seconds. */
function partsOf(at: Date, offset = 0) {
  const shifted = addSeconds(at, offset)
  const http = formatHttpDate(shifted)
  const iso = shifted.toISOString()
  const [, day = '', month = '', year = '', time = ''] = http.split(' ')
  return { http, weekday: http.slice(0, 3), day, month, year, time, isoDate: iso.slice(0, 10) }
}

function isoForms(at: Date): string[] {
  const utc = partsOf(at)
  const local = partsOf(at, BEIJING)
  const stamp = `${utc.isoDate}T${utc.time}`
  return [
    ...['Z', '.000Z', '+00:00'].map((end) => stamp + end),
    `${local.isoDate}T${local.time}+08:00`,
    `${utc.isoDate} ${utc.time}`,
    `${local.isoDate} ${local.time}`,
  ]
}

function rfc850Forms(at: Date): string[] {
  const { weekday, day, month, year, time } = partsOf(at)
  const long = LONG_DAYS.find((name) => name.startsWith(weekday)) ?? weekday
  return [`${long}, ${day}-${month}-${year.slice(2)} ${time} GMT`]
}

/** asctime, and Java's Date.toString() on a machine in GMT and in Beijing. */
function asctimeForms(at: Date): string[] {
  const { weekday, day, month, year, time } = partsOf(at)
  const local = partsOf(at, BEIJING)
  return [
    `${weekday} ${month} ${day.replace(/^0/, ' ')} ${time} ${year}`,
    `${weekday} ${month} ${day} ${time} GMT ${year}`,
    `${local.weekday} ${local.month} ${local.day} ${local.time} CST ${local.year}`,
  ]
}

const CHINESE_MONTHS = ['一', '二', '三', '四', '五', '六', '七', '八', '九', '十', '十一', '十二']
const CHINESE_DAYS = ['日', '一', '二', '三', '四', '五', '六']

/** With the names of days and months that Java, C# and PHP use in a Chinese locale. */
function chineseForms(at: Date): string[] {
  const { day, year, time } = partsOf(at)
  const [weekday, month] = [CHINESE_DAYS[at.getUTCDay()] ?? '', at.getUTCMonth() + 1]
  const months = [`${month}月`, `${CHINESE_MONTHS[month - 1] ?? ''}月`]
  return ['星期', '周'].flatMap((begin) =>
    months.map((name) => `${begin}${weekday}, ${day} ${name} ${year} ${time} GMT`),
  )
}

const epochForms = (at: Date): string[] => [`${epochSeconds(at)}`, `${epochSeconds(at)}000`]

/** The date with the day in one digit and in two. */
function dayDigitForms(text: string): string[] {
  return [text.replace(/, 0(\d) /, ', $1 '), text.replace(/, (\d) /, ', 0$1 ')]
}

const zoneForms = (at: Date): string[] => {
  const { http } = partsOf(at)
  return ['UTC', '+0000'].map((zone) => http.replace('GMT', zone))
}

/** Beijing time, labelled GMT or with its offset. */
const localForms = (at: Date): string[] => {
  const { http } = partsOf(at, BEIJING)
  return ['GMT', '+0800'].map((zone) => http.replace('GMT', zone))
}

/** The required form, also if the text was Beijing time. */
const httpForms = (at: Date): string[] => [partsOf(at).http, partsOf(at, -BEIJING).http]

const shiftedForms = (at: Date): string[] => [-1, 1, -2, 2].map((seconds) => partsOf(at, seconds).http)

/** It has a thousand dates, too many to be tried together with other mistakes. */
export const ALONE = 'date-minutes-apart'
/** As far as clocks may differ. */
const LONGEST_SHIFT_S = 600

const widelyShiftedForms = (at: Date): string[] =>
  Array.from({ length: LONGEST_SHIFT_S - 2 }, (_, index) => index + 3).flatMap((seconds) =>
    [-seconds, seconds].map((shift) => partsOf(at, shift).http),
  )

/** The date's instant in other forms than the one sent. */
const reformatted =
  (forms: (at: Date) => string[]) =>
  ({ date }: { date: string }): string[] => {
    const at = readLoosely(date)
    return at === null ? [] : forms(at).filter((form) => form !== date)
  }

/** The signed date and the sent one differ. */
export const dateRecipes = mistakesIn('date', {
  'date-signed-as-iso-8601': reformatted(isoForms),
  'date-signed-as-rfc-850': reformatted(rfc850Forms),
  'date-signed-as-asctime': reformatted(asctimeForms),
  'date-signed-with-chinese-names': reformatted(chineseForms),
  'date-signed-as-epoch': reformatted(epochForms),
  'date-signed-with-other-day-digits': ({ date }) => dayDigitForms(date).filter((form) => form !== date),
  'date-signed-in-other-case': ({ date }) => [date.toLowerCase(), date.toUpperCase()].filter((form) => form !== date),
  'date-signed-with-other-zone': reformatted(zoneForms),
  'date-signed-in-local-time': reformatted(localForms),
  'date-sent-in-other-form': reformatted(httpForms),
  'date-computed-twice': reformatted(shiftedForms),
  [ALONE]: reformatted(widelyShiftedForms),
  'date-with-header-name': ({ date }) => [`Date: ${date}`, `Date:${date}`],
  'date-not-signed': () => [''],
})
