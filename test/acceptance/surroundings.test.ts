import { afterAll, beforeAll, expect, it } from 'vitest'
import { PRODUCTION, type RunningProcess, type System, startSystem } from './system.ts'

/** What happens to a process beside its requests: its log's reader ends, a signal comes by mistake. */

let system: System
let running: RunningProcess
beforeAll(async () => {
  system = await startSystem({ ...PRODUCTION })
  running = system.processes[0] as RunningProcess
})
afterAll(() => system?.stop())

const refused = () => fetch(`${running.origin}/oauth/v2/api/resource/get_userinfo?access_token=x`, { method: 'POST' })

it('SIGUSR1 opens no debugger', async () => {
  running.child.kill('SIGUSR1')
  for (let n = 0; n < 20; n++) expect((await refused()).status).toBe(200)
  expect(running.output()).not.toContain('Debugger')
})

it('serves on when nobody reads its log any more, and stops as usual', async () => {
  running.child.stdout?.pause()
  for (let n = 0; n < 5; n++) await refused()
  running.child.stdout?.destroy()
  for (let n = 0; n < 50; n++) expect((await refused()).status).toBe(200)
  expect(await running.stop()).toBe(0)
})
