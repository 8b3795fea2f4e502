import { afterAll, beforeAll, expect, it } from 'vitest'
import { Fleet, startTraffic, type Traffic } from '../acceptance/fleet.ts'
import { SECRET_KEY, type System, startSystemOf } from '../acceptance/system.ts'
import { gatehouse } from '../cli-runner.ts'
import { buildLastRelease, LAST_RELEASE } from './last-release.ts'

/**
 * Two processes are replaced one by one under load without a failed request: OPERATIONS "Upgrades" (the schema is migrated
 * first), then "Keys and secrets".
 */

const PUBLIC_URL = 'http://gatehouse.test'
const COMMON = { PUBLIC_URL, DEMO: 'off' }
const NEXT = 'the secret key that comes after the one of the tests'

let lastRelease: string | undefined
let system: System
let fleet: Fleet
let traffic: Traffic | undefined

beforeAll(async () => {
  lastRelease = buildLastRelease()
  system = await startSystemOf(lastRelease, [
    { ...COMMON, MIGRATE: 'off' },
    { ...COMMON, MIGRATE: 'off', JOBS: 'off' },
  ])
  fleet = new Fleet(system.processes)
  traffic = await startTraffic(fleet, system, PUBLIC_URL)
  await traffic.goneRound()
})
afterAll(async () => {
  await traffic?.stop()
  await system?.stop()
})

/** Replaces the processes one after the other by new ones with these settings. */
async function replaceAll(settings: Record<string, string> = {}): Promise<void> {
  for (const JOBS of ['on', 'off']) {
    expect(await fleet.replaceFirst(() => system.add({ ...COMMON, JOBS, ...settings }))).toBe(0)
    await traffic?.goneRound()
  }
}

function expectNoFailures(): void {
  expect(traffic?.failures).toEqual([])
  expect(Math.min(...Object.values(traffic?.answered ?? {}))).toBeGreaterThan(2)
}

it('no request fails while the last release runs on the current schema and is replaced under load', async (context) => {
  if (lastRelease === undefined) {
    process.stderr.write(
      `SKIPPED: upgrade from ${LAST_RELEASE.commit}, which this clone does not have (git fetch it)\n`,
    )
    return context.skip()
  }
  expect(traffic?.failures).toEqual([])
  await replaceAll()
  expectNoFailures()
})

it('no request fails while SECRET_KEY is replaced in two processes', async () => {
  const both = { SECRET_KEY: NEXT, SECRET_KEYS_OLD: SECRET_KEY }
  await replaceAll(both)
  const { code, stdout, stderr } = await gatehouse({ DATABASE_URL: system.databaseUrl, ...both }, 'reseal', '--json')
  expect(code, stderr).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ resealed: 1, unreadable: { total: 0 }, unused_secrets: { total: 0 } })
  await traffic?.goneRound()
  await traffic?.stop()
  expectNoFailures()

  // The old key is dropped once everything made with it has expired, so everybody signs in again here.
  traffic = await startTraffic(fleet, system, PUBLIC_URL)
  await replaceAll({ SECRET_KEY: NEXT })
  await traffic.stop()
  expectNoFailures()
})
