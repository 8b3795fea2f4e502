import { setTimeout as sleep } from 'node:timers/promises'
import { inspect } from 'node:util'

/** Below the timeout of a test, so that the failure says what was waited for. */
const LIMIT_MS = 300_000
const LOOK_EVERY_MS = 25

type Found<T> = T | undefined | false

/**
 * Polls the probe and returns what it finds. The limit only ends what hangs, as durations depend on how busy the machine
 * is. `state` describes the actual state for the error message.
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
