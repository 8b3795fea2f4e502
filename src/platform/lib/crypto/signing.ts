import { createHmac } from 'node:crypto'
import { utcDate } from '../clock.ts'
import { type LocalizedText, localized } from '../localized-text.ts'

/** What a signature of area B covers (REFERENCE "Signature", rule 1). */
export interface Signed {
  readonly method: string
  /** URI path only: no scheme, host or query. */
  readonly path: string
  /** The exact value of the Date header. */
  readonly date: string
}

export const stringToSign = ({ method, path, date }: Signed): string => `${method.toUpperCase()} ${path}\n${date}`

/** Base64 of the raw HMAC-SHA1 with the clientSecret as key: 28 characters (signature rule 2). */
export const sign = (clientSecret: string, signed: Signed): string =>
  createHmac('sha1', clientSecret).update(stringToSign(signed)).digest('base64')

/** The whole header value, `MWS clientId:signature` (signature rule 3). */
export const authorizationHeader = (clientId: string, clientSecret: string, signed: Signed): string =>
  `MWS ${clientId}:${sign(clientSecret, signed)}`

/** How far a Date is from our clock, in seconds; more than the skew is refused (signature rule 5). */
export const clockDifference = (date: Date, now: Date): number => Math.abs(now.getTime() - date.getTime()) / 1000

const WEEKDAYS = 'Mon|Tue|Wed|Thu|Fri|Sat|Sun'
const MONTHS = 'Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec'
const FORM = new RegExp(`^(${WEEKDAYS}), (\\d{1,2}) (${MONTHS}) (\\d{4}) (\\d\\d):(\\d\\d):(\\d\\d) GMT$`)

/** The Date header of area B, for example `Tue, 05 May 2015 06:11:34 GMT`. */
export const formatHttpDate = (date: Date): string => date.toUTCString()

type DateProblem = LocalizedText<'date-form' | 'date-impossible' | 'date-weekday'>

/**
 * Parses a Date header (REFERENCE "What a signed call may do differently"): English names as in RFC 9110, GMT, a day of
 * one or two digits. JavaScript's own parser accepts 30 February and a wrong weekday, so the date is checked by
 * formatting it back.
 */
export function parseHttpDate(text: string): Date | { problem: DateProblem } {
  const [, weekday, day = '', month = '', year = '', hour, minute, second] = FORM.exec(text) ?? []
  if (weekday === undefined) return { problem: localized('date-form') }
  const monthNumber = MONTHS.split('|').indexOf(month) + 1
  const date = utcDate(Number(year), monthNumber, Number(day), Number(hour), Number(minute), Number(second))
  const formatted = formatHttpDate(date)
  const wanted = `${day.padStart(2, '0')} ${month} ${year} ${hour}:${minute}:${second} GMT`
  if (formatted.slice(5) !== wanted) return { problem: localized('date-impossible') }
  const right = formatted.slice(0, 3)
  if (right !== weekday) return { problem: localized('date-weekday', { right, wrong: weekday }) }
  return date
}
