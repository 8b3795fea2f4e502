import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import { afterEach, expect, it, vi } from 'vitest'
import { connected } from '../../src/platform/db/pause.ts'

afterEach(() => vi.restoreAllMocks())

it('a connection that arrives after its request has given up is returned to the pool', async () => {
  // A timer may fire a moment before the deadline by performance.now(), so the code must not rely on that clock.
  vi.spyOn(performance, 'now').mockReturnValue(0)
  const release = vi.fn()
  let attempts = 0
  const pool = {
    ending: false,
    async connect() {
      if (++attempts === 1) throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
      this.ending = true
      await sleep(200)
      return { release }
    },
  }
  await expect(connected(pool as unknown as Pool, 150)).rejects.toThrow('the database is not available')
  await vi.waitFor(() => expect(release).toHaveBeenCalledOnce(), 60_000)
})
