import { clockDifference, parseHttpDate } from '../../../platform/lib/crypto/signing.ts'
import { zoneOfOffset } from '../../../platform/lib/time-zone.ts'
import { namedForm } from './date-recipes.ts'
import { mistake, type SigningMistake } from './mistakes.ts'

function duration(minutes: number): string {
  const [amount, unit] =
    minutes < 120 ? [minutes, 'minute'] : minutes < 2 * 1440 ? [minutes / 60, 'hour'] : [minutes / 1440, 'day']
  const rounded = Math.round(amount)
  return `${rounded} ${unit}${rounded === 1 ? '' : 's'}`
}

function clockMistake(date: Date, now: Date, skewSeconds: number): SigningMistake | null {
  const minutes = (date.getTime() - now.getTime()) / 60_000
  if (clockDifference(date, now) <= skewSeconds) return null
  const zone = zoneOfOffset(minutes)
  if (zone !== undefined) return mistake('date-local-time-labelled-gmt', `Its time zone looks like ${zone}.`)
  return minutes > 0
    ? mistake('clock-fast', `Your clock is ${duration(minutes)} fast.`)
    : mistake('clock-slow', `Your clock is ${duration(-minutes)} slow.`)
}

const IN_ANY_CASE =
  /^(?:mon|tue|wed|thu|fri|sat|sun), \d{1,2} (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec) \d{4} \d\d:\d\d:\d\d (.*)$/i

function formMistake(date: string): SigningMistake {
  if (/[^ -~]/.test(date)) return mistake('date-names-not-english')
  const zone = IN_ANY_CASE.exec(date)?.[1]
  if (zone === undefined) {
    const form = namedForm(date)
    return mistake('date-form-wrong', form && `It looks like ${form}.`)
  }
  if (zone.toUpperCase() === 'GMT') return mistake('date-names-in-other-case')
  return mistake('date-zone-not-gmt', `It ends with "${zone.slice(0, 40)}".`)
}

/** What is wrong with a Date header received at `now`; null if nothing is. */
export function diagnoseDate(date: string, now: Date, skewSeconds: number): SigningMistake | null {
  if (date === '') return mistake('date-header-missing')
  const parsed = parseHttpDate(date)
  if (!('problem' in parsed)) return clockMistake(parsed, now, skewSeconds)
  const { id, values } = parsed.problem
  if (id === 'date-weekday')
    return mistake('date-weekday-wrong', `In fact, the weekday is ${values.right}, not ${values.wrong}.`)
  return id === 'date-impossible' ? mistake('date-impossible') : formMistake(date)
}
