import { expect, it, vi } from 'vitest'
import { openRefusalRecorder } from '../../src/authorization/refusals/record.ts'
import type { Deps } from '../../src/platform/deps.ts'

/** How many refused requests wait in memory while the database does not answer. */

it('no more than 500 rows are held in memory, and there is one write at a time, however long it takes', async () => {
  vi.useFakeTimers()
  const written: number[] = []
  let answer = () => {}
  const db = {
    exec: ({ values }: { values: readonly unknown[] }) => {
      written.push(values.length)
      return new Promise<void>((resolve) => {
        answer = resolve
      })
    },
  }
  let leftOut = 0
  const deps = {
    db,
    clock: { now: () => new Date() },
    metrics: { refusalsLeftOut: { inc: (rows = 1) => (leftOut += rows) } },
    rateLimiter: { count: () => ({ exceeded: false }) },
  } as unknown as Deps
  const recorder = openRefusalRecorder(deps, { write: () => {}, close: () => {} })
  const refuse = (times: number) => {
    for (let n = 0; n < times; n++) {
      recorder.record({
        ...{ id: 'x', method: 'POST', url: '/oauth/v2/api/token', status: 200, address: `198.51.${n % 250}.1` },
        ...{ note: { code: 20001 }, authorization: undefined, body: undefined },
      })
    }
  }
  for (let second = 0; second < 5; second++) {
    refuse(500)
    await vi.advanceTimersByTimeAsync(1_000)
  }
  expect([written.length, leftOut]).toEqual([1, 2_000])
  answer()
  await vi.advanceTimersByTimeAsync(0)
  refuse(3)
  await vi.advanceTimersByTimeAsync(1_000)
  expect([written.length, leftOut]).toEqual([2, 2_000])
  refuse(2)
  const closed = recorder.close()
  answer()
  await vi.advanceTimersByTimeAsync(0)
  answer()
  await closed
  expect(written.length).toBe(3)
  refuse(2)
  const closedWhileWriting = recorder.close()
  await vi.advanceTimersByTimeAsync(0)
  refuse(1) // the answer of a request that the end of its time has cut off
  answer()
  await vi.advanceTimersByTimeAsync(0)
  answer()
  await closedWhileWriting
  expect([written.length, leftOut]).toEqual([5, 2_000])
  vi.useRealTimers()
})
