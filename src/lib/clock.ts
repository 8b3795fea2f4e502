/** The only place that asks the machine for the time; everything else is handed a Clock, so tests can hold it still. */
export interface Clock {
  now(): Date
}

export const systemClock: Clock = { now: () => new Date() }

/** Whole seconds since 1970, rounded down. */
export const epochSeconds = (at: Date): number => Math.floor(at.getTime() / 1000)

export const fromEpochSeconds = (seconds: number): Date => new Date(seconds * 1000)

export const addSeconds = (at: Date, seconds: number): Date => new Date(at.getTime() + seconds * 1000)

/** Whole seconds from `now` until `end`, rounded up; never negative. */
export const secondsUntil = (end: Date, now: Date): number =>
  Math.max(0, Math.ceil((end.getTime() - now.getTime()) / 1000))
