import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../free-port.ts'
import { until } from '../until.ts'
import { ADMIN_TOKEN, type RunningProcess, type System, startSystem } from './system.ts'

/**
 * Two services on one database, the second with HTTP_PROCESSES=2: shared limits, and separate ADMIN_PORT and
 * HEALTH_PORT.
 */

const MOST = 60
/** Counts are shared once a second. */
const SHARED_MS = 1_500

let system: System
let services: { readonly running: RunningProcess; readonly operators: string; readonly health: string }[]
beforeAll(async () => {
  const ports = [await freePort(), await freePort()]
  const healthPorts = [await freePort(), await freePort()]
  const setting = { AUTHORIZE_PER_MINUTE: String(MOST), TRUST_PROXY: '127.0.0.1', LOG_LEVEL: 'warn', DEMO: 'off' }
  const [first, second] = ports.map((port, place) => {
    const HEALTH_PORT = String(healthPorts[place])
    return { ...setting, ADMIN_PORT: String(port), HEALTH_PORT, JOBS: 'off' }
  })
  system = await startSystem({ ...first }, { ...second, HTTP_PROCESSES: '2' })
  services = system.processes.map((running, place) => ({
    running,
    operators: `http://127.0.0.1:${ports[place]}`,
    health: `http://127.0.0.1:${healthPorts[place]}`,
  }))
})
afterAll(() => system?.stop())

describe('a limit is shared by all processes of a database', () => {
  /** The status of one authorization request on a new connection, so that any of the HTTP_PROCESSES may take it. */
  const ask = (origin: string, address: string): Promise<number> =>
    new Promise((resolve, reject) => {
      request(`${origin}/oauth/v2/authorize`, { agent: false, headers: { 'X-Forwarded-For': address } }, (answer) => {
        answer.resume()
        resolve(answer.statusCode ?? 0)
      })
        .once('error', reject)
        .end()
    })

  /** Sends requests to a service as the caller at this address. */
  async function askAll(service: 0 | 1, address: string, times: number): Promise<number[]> {
    const statuses: number[] = []
    const origin = system.processes[service]?.origin ?? ''
    for (let asked = 0; asked < times; asked++) statuses.push(await ask(origin, address))
    return statuses
  }

  const refused = (statuses: readonly number[]): number => statuses.filter((status) => status === 429).length

  it('requests to one service count at another service of the same database', async () => {
    const address = '192.0.2.1'
    expect(refused(await askAll(0, address, MOST))).toBe(0)
    let asked = 0
    await until(
      async () => {
        asked += 5
        return refused(await askAll(1, address, 5)) === 5
      },
      undefined,
      SHARED_MS,
    )
    expect(asked, 'its own would not have been too many').toBeLessThan(MOST)
    await until(async () => refused(await askAll(0, address, 1)) === 1)
  })

  it('HTTP_PROCESSES share one limit, and all of them come to refuse', async () => {
    const address = '192.0.2.2'
    const statuses = await askAll(1, address, 2 * MOST)
    await until(
      async () => {
        const last = await askAll(1, address, 20)
        statuses.push(...last)
        return refused(last) === 20
      },
      () => statuses.join(' '),
      SHARED_MS,
    )
  })
})

it.each([
  [1, 0],
  [2, 1],
])('HEALTH_PORT answers /healthz and /readyz and nothing else, in %i processes', async (_processes, place) => {
  const { health } = services[place] as (typeof services)[number]
  const statusOf = async (path: string, method = 'GET') => {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` }
    return (await fetch(`${health}${path}`, { method, headers })).status
  }
  expect(await (await fetch(`${health}/healthz`)).json()).toEqual({ status: 'ok' })
  expect([await statusOf('/readyz'), await statusOf('/healthz?from=balancer')]).toEqual([200, 200])
  for (const path of ['/', '/sign-in', '/oauth/v2/authorize', '/admin/v1/apps', '/metrics', '/healthz/', '/healthzz']) {
    expect(await statusOf(path), path).toBe(404)
  }
})

it.each([
  [1, 0],
  [2, 1],
])('ADMIN_PORT takes the admin API away from PORT, in %i processes', async (_processes, place) => {
  const { running, operators } = services[place] as (typeof services)[number]
  const statusOf = async (origin: string, path: string, token = ADMIN_TOKEN) =>
    (await fetch(`${origin}${path}`, { headers: { authorization: `Bearer ${token}` } })).status
  for (let again = 0; again < 5; again++) {
    expect(await statusOf(operators, '/admin/v1/apps')).toBe(200)
    expect(await statusOf(operators, '/admin/v1/apps', 'wrong')).toBe(401)
    expect(await statusOf(operators, '/healthz')).toBe(200)
    expect(await statusOf(operators, '/readyz')).toBe(200)
    for (const path of ['/', '/sign-in', '/oauth/v2/authorize', '/mtp/api/x', '/admin']) {
      expect(await statusOf(operators, path), path).toBe(404)
    }
    expect(await statusOf(running.origin, '/admin/v1/apps')).toBe(404)
    expect(await statusOf(running.origin, '/admin/v1/apps', 'wrong')).toBe(404)
    expect(await statusOf(running.origin, '/sign-in')).toBe(200)
  }
  expect(await running.stop()).toBe(0)
  await expect(fetch(`${operators}/healthz`)).rejects.toThrow()
})
