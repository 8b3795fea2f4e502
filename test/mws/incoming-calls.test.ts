import { expect, it, onTestFinished, vi } from 'vitest'
import type { Deps } from '../../src/platform/deps.ts'
import { IncomingCalls } from '../../src/ticketing/mws/incoming-calls.ts'

it('counts that are being written when the process ends are written before its connections close', async () => {
  vi.useFakeTimers()
  onTestFinished(() => {
    vi.useRealTimers()
  })
  let written = 0
  const answers: (() => void)[] = []
  const exec = () =>
    new Promise<number>((resolve) => {
      answers.push(() => resolve(++written))
    })
  const db = { exec, withShareOf: () => db }
  const incoming = new IncomingCalls({ db, clock: { now: () => new Date() } } as unknown as Deps)
  for (const partnerId of [1n, 2n]) incoming.rejected.count(partnerId, true)
  incoming.rejected.countUnstored({ partner_id: 1n, client_id: 'seller' }, true, 60_000)
  await vi.advanceTimersByTimeAsync(60_000)
  let isClosed = false
  const closed = incoming.close().then(() => {
    isClosed = true
  })
  while (written < 3) {
    await vi.advanceTimersByTimeAsync(1)
    expect(isClosed).toBe(false)
    answers.shift()?.()
    if (answers.length === 0 && isClosed) break
  }
  await closed
  expect(written).toBe(3)
})
