import { clockDifference, parseHttpDate } from '../../../platform/lib/crypto/signing.ts'
import { zoneOfOffset } from '../../../platform/lib/time-zone.ts'
import { namedForm } from './date-recipes.ts'
import type { SigningMistake } from './recipe.ts'

const FORM = 'The form is "Tue, 05 May 2015 06:11:34 GMT".'

/** Mistakes in the Date header itself, whatever was signed. */
export const DATE_MISTAKES = {
  missing: { name: 'date-header-missing', explanation: `The Date header is missing. ${FORM}` },
  weekday: { name: 'date-weekday-wrong', explanation: 'The weekday in the Date does not match its day.' },
  impossible: { name: 'date-impossible', explanation: 'The Date has a day or time that does not exist.' },
  names: { name: 'date-names-not-english', explanation: `Weekday and month in the Date must be in English. ${FORM}` },
  letterCase: {
    name: 'date-names-in-other-case',
    explanation: `Weekday or month in the Date has the wrong letter case. ${FORM}`,
  },
  zone: { name: 'date-zone-not-gmt', explanation: `The Date must be in GMT and end with GMT. ${FORM}` },
  form: { name: 'date-form-wrong', explanation: `The Date is not an HTTP date. ${FORM}` },
  localTime: {
    name: 'date-local-time-labelled-gmt',
    explanation: 'The Date holds local time but is labelled GMT; convert it to GMT.',
  },
  fast: { name: 'clock-fast', explanation: 'The Date is too far ahead of our clock; synchronise yours with NTP.' },
  slow: { name: 'clock-slow', explanation: 'The Date is too far behind our clock; synchronise yours with NTP.' },
} as const satisfies Record<string, SigningMistake>

const M = DATE_MISTAKES

function duration(minutes: number): string {
  const [amount, unit] =
    minutes < 120 ? [minutes, 'minute'] : minutes < 2 * 1440 ? [minutes / 60, 'hour'] : [minutes / 1440, 'day']
  const rounded = Math.round(amount)
  return `${rounded} ${unit}${rounded === 1 ? '' : 's'}`
}

const say = ({ name, explanation }: SigningMistake, detail: string): SigningMistake => ({
  name,
  explanation: `${explanation} ${detail}`,
})

function clockMistake(date: Date, now: Date, skewSeconds: number): SigningMistake | null {
  const minutes = (date.getTime() - now.getTime()) / 60_000
  if (clockDifference(date, now) <= skewSeconds) return null
  const zone = zoneOfOffset(minutes)
  if (zone !== undefined) return say(M.localTime, `Its time zone looks like ${zone}.`)
  return minutes > 0
    ? say(M.fast, `Your clock is ${duration(minutes)} fast.`)
    : say(M.slow, `Your clock is ${duration(-minutes)} slow.`)
}

const IN_ANY_CASE =
  /^(?:mon|tue|wed|thu|fri|sat|sun), \d{1,2} (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec) \d{4} \d\d:\d\d:\d\d (.*)$/i

function formMistake(date: string): SigningMistake {
  if (/[^ -~]/.test(date)) return M.names
  const zone = IN_ANY_CASE.exec(date)?.[1]
  if (zone === undefined) {
    const form = namedForm(date)
    return form === undefined ? M.form : say(M.form, `It looks like ${form}.`)
  }
  return zone.toUpperCase() === 'GMT' ? M.letterCase : say(M.zone, `It ends with "${zone.slice(0, 40)}".`)
}

/** What is wrong with a Date header received at `now`; null if nothing is. */
export function diagnoseDate(date: string, now: Date, skewSeconds: number): SigningMistake | null {
  if (date === '') return M.missing
  const parsed = parseHttpDate(date)
  if (!('problem' in parsed)) return clockMistake(parsed, now, skewSeconds)
  const { id, values } = parsed.problem
  if (id === 'date-weekday') return say(M.weekday, `In fact, the weekday is ${values.right}, not ${values.wrong}.`)
  return id === 'date-impossible' ? M.impossible : formMistake(date)
}
