import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { TokenCap } from '../../src/authorization/oauth/index.ts'
import type { Db } from '../../src/platform/db/sql.ts'

/** The limit of access tokens is applied in the background; closing waits for that, so that the database can be closed. */

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

it('the token cap closes only after pending work is done', async () => {
  let finish = (_rows: never[]): void => {}
  const read = new Promise<never[]>((done) => {
    finish = done
  })
  const listWithCustomPlan = vi.fn(() => read)
  const db: object = { listWithCustomPlan, shards: () => [db] }
  const cap = new TokenCap(db as Db, { ACCESS_TOKENS_PER_GRANT: 5 }, { write: () => {}, close: () => {} })
  for (let refreshed = 0; refreshed < 128; refreshed++) cap.refreshed(7)
  await vi.advanceTimersByTimeAsync(100)
  expect(listWithCustomPlan).toHaveBeenCalledTimes(1)
  const closed = vi.fn()
  const closing = Promise.resolve(cap.close()).then(closed)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(closed).not.toHaveBeenCalled()
  finish([])
  await closing
})
