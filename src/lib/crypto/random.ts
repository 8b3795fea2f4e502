import { randomFillSync } from 'node:crypto'

const AHEAD = Buffer.alloc(8 * 1024)
let used = AHEAD.length

/** Unpredictable bytes, 8 KiB at most. Fetched many at a time: each call to the system costs more than an HMAC. */
export function randomBytes(count: number): Buffer {
  if (used + count > AHEAD.length) {
    randomFillSync(AHEAD)
    used = 0
  }
  const bytes = Buffer.from(AHEAD.subarray(used, used + count))
  AHEAD.fill(0, used, used + count)
  used += count
  return bytes
}
