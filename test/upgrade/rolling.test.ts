import { afterEach, expect, it } from 'vitest'
import { Fleet, startTraffic, type Traffic } from '../acceptance/fleet.ts'
import { type System, startSystemOf } from '../acceptance/system.ts'
import { buildLastRelease, LAST_RELEASE } from './last-release.ts'

/** OPERATIONS "Upgrades": the schema comes first, then processes are replaced one by one, and nobody notices. */

const PUBLIC_URL = 'http://gatehouse.test'

let system: System | undefined
let traffic: Traffic | undefined
afterEach(async () => {
  await traffic?.stop()
  await system?.stop()
})

it('the last release serves on the schema of today, and is replaced under load: no request fails', async (context) => {
  const root = buildLastRelease()
  if (root === undefined) {
    process.stderr.write(
      `SKIPPED: upgrade from ${LAST_RELEASE.commit}, which this clone does not have (git fetch it)\n`,
    )
    return context.skip()
  }
  const common = { PUBLIC_URL, DEMO: 'off' }
  system = await startSystemOf(root, [
    { ...common, MIGRATE: 'off' },
    { ...common, MIGRATE: 'off', JOBS: 'off' },
  ])
  const { add } = system
  const fleet = new Fleet(system.processes)
  traffic = await startTraffic(fleet, system, PUBLIC_URL)
  await traffic.goneRound()
  expect(traffic.failures).toEqual([])
  for (let process = 0; process < 2; process++) {
    expect(await fleet.replaceFirst(() => add(common))).toBe(0)
    await traffic.goneRound()
  }
  await traffic.stop()
  expect(traffic.failures).toEqual([])
  expect(Math.min(...Object.values(traffic.answered))).toBeGreaterThan(4)
})
