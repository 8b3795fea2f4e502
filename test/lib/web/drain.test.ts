import { once } from 'node:events'
import { createServer } from 'node:http'
import { afterEach, expect, it, vi } from 'vitest'
import { limitClosing } from '../../../src/platform/lib/web/drain.ts'
import { RequestLimit } from '../../../src/platform/lib/web/request-limit.ts'

afterEach(() => {
  vi.useRealTimers()
})

it.each([
  ['that never listened', false],
  ['that listened', true],
])('a server %s leaves no timers once it is closed', async (_, listens) => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] })
  const server = createServer()
  new RequestLimit(10, () => undefined).guard(server, 10, () => {})
  const beginClosing = limitClosing(server, 10)
  if (listens) await once(server.listen(0, '127.0.0.1'), 'listening')
  beginClosing()
  expect(vi.getTimerCount()).toBe(listens ? 3 : 0)
  if (listens) await once(server.close(), 'close')
  expect(vi.getTimerCount()).toBe(0)
})
