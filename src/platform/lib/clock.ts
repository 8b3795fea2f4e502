/** The only place that reads the machine's time; everything else is given a Clock, which tests can fix. */
export interface Clock {
  now(): Date
  /** Milliseconds since some moment, which setting the clock does not change: for how long something may take. */
  elapsedMs(): number
}

export const systemClock: Clock = { now: () => new Date(), elapsedMs: () => performance.now() }

export const HOUR_S = 3_600
export const DAY_S = 24 * HOUR_S

/** Whole seconds since 1970, rounded down. */
export const epochSeconds = (at: Date): number => Math.floor(at.getTime() / 1000)

export const fromEpochSeconds = (seconds: number): Date => new Date(seconds * 1000)

export const fromEpochMilliseconds = (milliseconds: number): Date => new Date(milliseconds)

export const addSeconds = (at: Date, seconds: number): Date => new Date(at.getTime() + seconds * 1000)

/** The first full second at least `seconds` after `at`, so that nothing expires early through rounding. */
export const wholeSecondsAfter = (at: Date, seconds: number): Date =>
  fromEpochSeconds(Math.ceil(at.getTime() / 1000) + seconds)

/** The beginning of the hour (3,600 seconds) or day (86,400) of UTC that a moment is in. */
export const beginningOf = (moment: Date, spanS: number): Date =>
  fromEpochSeconds(Math.floor(epochSeconds(moment) / spanS) * spanS)

/** Whether less than `seconds` have passed since `from`; false too if the clock was set back since, as nobody knows then. */
export const isWithin = (from: Date | null | undefined, seconds: number, now: Date): boolean =>
  from != null && from <= now && now < addSeconds(from, seconds)

/** Whole seconds that are left until `end`, rounded down; never negative. */
export const secondsLeft = (end: Date, now: Date): number =>
  Math.max(0, Math.floor((end.getTime() - now.getTime()) / 1000))

/** Days that have passed, rounded down. */
export const fullDays = (from: Date, to: Date): number => Math.floor((to.getTime() - from.getTime()) / (DAY_S * 1000))

/** Seconds to wait until `end`, rounded up; never negative. */
export const secondsUntil = (end: Date, now: Date): number =>
  Math.max(0, Math.ceil((end.getTime() - now.getTime()) / 1000))

/** A date and time in UTC; `month` counts from 1. Dates that do not exist roll over (30 February is 1 or 2 March). */
export const utcDate = (year: number, month: number, day: number, hour = 0, minute = 0, second = 0): Date =>
  new Date(Date.UTC(year, month - 1, day, hour, minute, second))

/** Seconds to wait before attempt `n` + 1: random up to a bound that doubles, so that callers do not return together. */
export const fullJitter = (n: number, first: number, longest: number): number =>
  Math.random() * Math.min(longest, first * 2 ** Math.min(n, 30))
