import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, it } from 'vitest'
import { type RunningProcess, type System, startSystem } from './system.ts'

/** A limit is one for all processes of a database: HTTP_PROCESSES of one service, and several services. */

const MOST = 60
const SETTING = { AUTHORIZE_PER_MINUTE: String(MOST), LOG_LEVEL: 'warn' }
/** Counts are shared once a second. */
const SHARED_MS = 1_500

let system: System
afterEach(() => system?.stop())

/** The status of one authorization request on a connection of its own, so that any of the HTTP_PROCESSES may take it. */
const ask = ({ origin }: RunningProcess): Promise<number> =>
  new Promise((resolve, reject) => {
    request(`${origin}/oauth/v2/authorize`, { agent: false }, (answer) => {
      answer.resume()
      resolve(answer.statusCode ?? 0)
    })
      .once('error', reject)
      .end()
  })

async function askAll(process: RunningProcess, times: number, everyMs = 0): Promise<number[]> {
  const statuses: number[] = []
  for (let asked = 0; asked < times; asked++) {
    statuses.push(await ask(process))
    if (everyMs > 0) await sleep(everyMs)
  }
  return statuses
}

const refused = (statuses: readonly number[]): number => statuses.filter((status) => status === 429).length

it('what one service has let through counts at another service of the same database', async () => {
  system = await startSystem(SETTING, SETTING)
  const [one, other] = system.processes as [RunningProcess, RunningProcess]
  expect(refused(await askAll(one, MOST))).toBe(0)
  await sleep(SHARED_MS)
  await askAll(other, 5)
  await sleep(SHARED_MS)
  expect(refused(await askAll(other, 10))).toBe(10)
  expect(refused(await askAll(one, 1))).toBe(1)
})

it('HTTP_PROCESSES share one limit, and it ends for all of them', async () => {
  system = await startSystem({ ...SETTING, HTTP_PROCESSES: '2' })
  const [service] = system.processes as [RunningProcess]
  const statuses = await askAll(service, 2 * MOST)
  await sleep(SHARED_MS)
  statuses.push(...(await askAll(service, 20)))
  await sleep(SHARED_MS)
  const last = await askAll(service, 20)
  expect(refused(last), [...statuses, ...last].join(' ')).toBe(20)
})
