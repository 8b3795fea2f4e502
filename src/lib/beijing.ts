import { addSeconds } from './clock.ts'

/** Area B writes times without a zone; they are Beijing's, which is eight hours ahead of UTC all year. */
const AHEAD_S = 8 * 3_600

/** `yyyy-MM-dd HH:mm:ss` in Beijing. */
export const beijingTime = (at: Date): string => addSeconds(at, AHEAD_S).toISOString().slice(0, 19).replace('T', ' ')

/** `yyyy-MM-dd` in Beijing. */
export const beijingDate = (at: Date): string => beijingTime(at).slice(0, 10)
