import { afterEach, describe, expect, it } from 'vitest'
import { gatehouseProcess } from '../cli-process.ts'
import { Fleet, startTraffic, type Traffic } from './fleet.ts'
import { SECRET_KEY, type System, startSystem } from './system.ts'

/** A rotation of SECRET_KEY under load, with two processes: OPERATIONS "Keys and secrets". */

const NEXT = 'the secret key that comes after the one of the tests'
const PUBLIC_URL = 'http://gatehouse.test'

let system: System | undefined
let traffic: Traffic | undefined
afterEach(async () => {
  await traffic?.stop()
  await system?.stop()
})

describe('SECRET_KEY is replaced while two processes serve', () => {
  it('and no request fails', async () => {
    const common = { PUBLIC_URL, DEMO: 'off' }
    system = await startSystem(common, { ...common, JOBS: 'off' })
    const { add, databaseUrl } = system
    const fleet = new Fleet(system.processes)
    traffic = await startTraffic(fleet, system, PUBLIC_URL)
    await traffic.goneRound()

    const both = { SECRET_KEY: NEXT, SECRET_KEYS_OLD: SECRET_KEY }
    for (let process = 0; process < 2; process++) {
      expect(await fleet.replaceFirst(() => add({ ...common, ...both }))).toBe(0)
      await traffic.goneRound()
    }
    const { code, stdout, stderr } = await gatehouseProcess({ DATABASE_URL: databaseUrl, ...both }, 'reseal', '--json')
    expect(code, stderr).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ resealed: 1, unreadable: [], unused_secrets: { total: 0 } })
    await traffic.goneRound()
    expect(traffic.failures).toEqual([])
    await traffic.stop()

    // Once what the old key has made has ended: everybody has signed in again since.
    traffic = await startTraffic(fleet, system, PUBLIC_URL)
    for (let process = 0; process < 2; process++) {
      expect(await fleet.replaceFirst(() => add({ ...common, SECRET_KEY: NEXT }))).toBe(0)
      await traffic.goneRound()
    }
    expect(traffic.failures).toEqual([])
    expect(Math.min(...Object.values(traffic.answered))).toBeGreaterThan(4)
  })
})
