import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { keepUsage } from '../../src/authorization/usage/index.ts'
import type { Deps } from '../../src/platform/deps.ts'
import { systemClock } from '../../src/platform/lib/clock.ts'
import { DatabaseUnavailable } from '../../src/platform/lib/database-errors.ts'
import { UsageMeter } from '../../src/platform/lib/usage.ts'

/** What is counted is written in the background; whoever closes the database afterwards has to be told when that is done. */

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

it('ends once what was being written is written', async () => {
  const usage = new UsageMeter()
  usage.count('app', 'read')
  let finish = (_rows: number): void => {}
  const written = new Promise<number>((done) => {
    finish = done
  })
  const exec = vi.fn(() => written)
  const deps = { db: { exec }, clock: systemClock, metrics: { usage } } as unknown as Deps
  const end = keepUsage(deps, { write: () => {}, close: () => {} })
  await vi.advanceTimersByTimeAsync(60_000)
  expect(exec).toHaveBeenCalledTimes(1)
  const ended = vi.fn()
  const ending = end().then(ended)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(ended).not.toHaveBeenCalled()
  finish(1)
  await ending
  expect(exec).toHaveBeenCalledTimes(1)
})

it.each([
  [false, 2],
  [true, 1],
])('what may have been written is not written again: %s', async (outcomeUnknown, writes) => {
  const usage = new UsageMeter()
  usage.count('app', 'read')
  const away = new DatabaseUnavailable('away', { cause: undefined, keepsConnection: false, outcomeUnknown })
  const exec = vi.fn(() => Promise.reject(away))
  const deps = { db: { exec }, clock: systemClock, metrics: { usage } } as unknown as Deps
  const end = keepUsage(deps, { write: () => {}, close: () => {} })
  await vi.advanceTimersByTimeAsync(60_000)
  await end()
  expect(exec).toHaveBeenCalledTimes(writes)
})
