import { setTimeout as sleep } from 'node:timers/promises'
import { callsAt, waitsText } from '../calls.ts'
import { freeze, resume } from '../processes.ts'
import { ms, type Scenario } from '../scenario.ts'
import { isReady } from '../service.ts'
import { noticeCalls, READY, SIGN_IN, userInfoCalls } from '../works.ts'

/** Callers give up after this; the database hangs until all calls have ended. */
const PATIENCE_MS = 45_000

/** PostgreSQL accepts connections but does not respond (SIGSTOP to all of its processes). */
export const hung: Scenario = async ({ world, options, databasePid, start, progress }) => {
  const service = await start()
  const notices = await noticeCalls(world, 500)
  const seconds = 15 * options.scale
  const userInfo = userInfoCalls(world)
  const callers = {
    A5: [20, userInfo],
    'sign-in': [4, () => SIGN_IN],
    notices: [5, notices],
    '/readyz': [1, () => READY],
  } as const
  const entries = Object.entries(callers)
  await Promise.all(entries.map(([, [perSecond, next]]) => callsAt(perSecond, 2, service.port, next, PATIENCE_MS)))
  freeze(databasePid)
  progress(`PostgreSQL hangs; calls for ${seconds} s, and as long until all are answered`)
  const waits = await Promise.all(
    entries.map(async ([name, [perSecond, next]]) => ({
      figure: `${name} waits`,
      value: waitsText(await callsAt(perSecond, seconds, service.port, next, PATIENCE_MS)),
    })),
  )
  resume(databasePid)
  const began = performance.now()
  while (performance.now() < began + 30_000 && !(await isReady(service.port))) await sleep(50)
  const back = performance.now() - began
  await service.stop()
  return [...waits, { figure: 'ready again after PostgreSQL goes on', value: ms(back) }]
}
