/** The only place that asks the machine for the time; everything else is given a Clock, which tests can fix. */
export interface Clock {
  now(): Date
}

export const systemClock: Clock = { now: () => new Date() }

export const HOUR_S = 3_600
export const DAY_S = 24 * HOUR_S

/** Whole seconds since 1970, rounded down. */
export const epochSeconds = (at: Date): number => Math.floor(at.getTime() / 1000)

export const fromEpochSeconds = (seconds: number): Date => new Date(seconds * 1000)

export const fromEpochMilliseconds = (milliseconds: number): Date => new Date(milliseconds)

export const addSeconds = (at: Date, seconds: number): Date => new Date(at.getTime() + seconds * 1000)

/** The first full second that is at least `seconds` after `at`: what expires in whole seconds never expires too early. */
export const wholeSecondsAfter = (at: Date, seconds: number): Date =>
  fromEpochSeconds(Math.ceil(at.getTime() / 1000) + seconds)

/** The beginning of the hour (3,600 seconds) or day (86,400) of UTC that a moment is in. */
export const beginningOf = (moment: Date, spanS: number): Date =>
  fromEpochSeconds(Math.floor(epochSeconds(moment) / spanS) * spanS)

/** Whole seconds that are left until `end`, rounded down; never negative. */
export const secondsLeft = (end: Date, now: Date): number =>
  Math.max(0, Math.floor((end.getTime() - now.getTime()) / 1000))

/** Seconds to wait until `end`, rounded up; never negative. */
export const secondsUntil = (end: Date, now: Date): number =>
  Math.max(0, Math.ceil((end.getTime() - now.getTime()) / 1000))

/** A calendar date and time in UTC; `month` counts from 1. What does not exist rolls over (30 February is 1 or 2 March). */
export const utcDate = (year: number, month: number, day: number, hour = 0, minute = 0, second = 0): Date =>
  new Date(Date.UTC(year, month - 1, day, hour, minute, second))

/**
 * Seconds to wait before attempt `n` + 1 (0 after the first): anything between nothing and an upper end that doubles,
 * so that those who failed together do not come back together ("full jitter").
 */
export const fullJitter = (n: number, first: number, longest: number): number =>
  Math.random() * Math.min(longest, first * 2 ** Math.min(n, 30))
