import { setTimeout as sleep } from 'node:timers/promises'
import { addSeconds } from '../../platform/lib/clock.ts'
import { AttemptOver } from './attempt-log.ts'
import type { StepContext } from './step-context.ts'

/** Waits, unless the attempt ends meanwhile. */
const pause = ({ signal }: StepContext, ms: number): Promise<void> =>
  sleep(ms, undefined, { signal, ref: false }).catch(() => {
    throw new AttemptOver()
  })

/** Asks again and again until the answer is true; false after `seconds`. */
export async function askUntil(
  context: StepContext,
  seconds: number,
  isThere: () => Promise<boolean>,
  everyMs = 1_000,
): Promise<boolean> {
  const { clock } = context.deps
  const end = addSeconds(clock.now(), seconds)
  for (;;) {
    if (await isThere()) return true
    if (clock.now() >= end) return false
    await pause(context, everyMs)
  }
}
