import { setTimeout as sleep } from 'node:timers/promises'
import { inspect } from 'node:util'

/** Below the time-out of a test, so that the failure names what was waited for. */
const LIMIT_MS = 300_000
const LOOK_EVERY_MS = 25

type Found<T> = T | undefined | false

/**
 * What the probe finds, once it finds something. The limit only ends what hangs: how long a thing takes says how busy
 * the machine is. `state` tells what was there instead.
 */
export async function until<T>(
  probe: () => Found<T> | Promise<Found<T>>,
  state?: () => unknown,
  lookEveryMs = LOOK_EVERY_MS,
): Promise<T> {
  const end = performance.now() + LIMIT_MS
  while (performance.now() < end) {
    const found = await probe()
    if (found) return found
    await sleep(lookEveryMs)
  }
  throw new Error(`not within ${LIMIT_MS / 1_000} s: ${probe}\n${inspect(await state?.(), { depth: 5 })}`)
}
