import { afterAll, beforeAll, expect, it } from 'vitest'
import { Client } from '../acceptance/client.ts'
import { httpWire } from '../acceptance/http.ts'
import { makeSeller, type Seller } from '../acceptance/seller.ts'
import { FEW_LINES, type System, startSystem } from '../acceptance/system.ts'
import { expectSound, residentMb } from './health.ts'
import { type HostilePartner, openHostilePartner } from './hostile-partner.ts'
import { Operator } from './operator.ts'
import { fuzzSettings, randomAt } from './random.ts'

const { seed, answers: total } = fuzzSettings()
const PARTNERS = 40
const AT_ONCE = 24
let system: System
let partner: HostilePartner
let sellers: Seller[]
beforeAll(async () => {
  partner = await openHostilePartner(seed)
  system = await startSystem({
    PARTNER_ADDRESS_ALLOW: new URL(partner.url).hostname,
    NODE_ENV: 'test', // JSON log lines
    DEMO: 'off',
    ...FEW_LINES,
    SANDBOX_WAIT_S: '5',
  })
  const client = new Client(httpWire(system.origin), system.origin)
  sellers = []
  for (let place = 0; place < PARTNERS; place++) {
    sellers.push(await makeSeller(client, { base_url: `${partner.url}/${place}` }))
  }
})
afterAll(async () => {
  await system.stop()
  await partner.close()
})

it(`survives ${total} hostile answers of partners, seed ${seed}`, async () => {
  const running = system.processes[0]
  if (!running) throw new Error('no process')
  const failures: string[] = []
  const seen = new Map<string, number>()
  const memory: number[] = []
  let turns = 0
  let shown = 0
  const work = async (): Promise<void> => {
    while (partner.answers() < total && failures.length < 20) {
      const random = randomAt(seed, turns++)
      const seller = random.pick(sellers)
      const operator = new Operator(system)
      const before = partner.answers()
      const act = random.pick([...Array(6).fill(operator.order), operator.catalogue, operator.catalogue, operator.step])
      await act.call(operator, random, seller).catch((error: Error) => {
        failures.push(`turn ${turns} of seed ${seed}: ${error.message}\nafter ${partner.recentAnswers().join('\n')}`)
      })
      for (const { what, status, text } of operator.answers) {
        seen.set(String(status), (seen.get(String(status)) ?? 0) + 1)
        if (status < 500 && !text.includes(seller.clientSecret)) continue
        failures.push(
          `seed ${seed}, answers ${before} to ${partner.answers()}: ${what}: ${status} ${text.slice(0, 300)}\nafter ${partner.recentAnswers().join('\n')}`,
        )
      }
      if (turns % 50 === 0) memory.push(residentMb(running))
      if (partner.answers() - shown >= 5_000) {
        shown = partner.answers()
        process.stderr.write(`  fuzz: ${shown} of ${total} answers, ${memory.at(-1)?.toFixed(0)} MB\n`)
      }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  const shares = [...seen]
    .sort()
    .map(([status, count]) => `${status}: ${count}`)
    .join(', ')
  const peak = Math.max(...memory)
  process.stderr.write(
    `  fuzz: seed ${seed}; ${partner.answers()} answers; we said ${shares}; memory ${memory.at(0)?.toFixed(0)} to ${memory.at(-1)?.toFixed(0)}, at most ${peak.toFixed(0)} MB\n`,
  )
  expect.soft(failures.slice(0, 5).join('\n\n'), `${failures.length} failures`).toBe('')
  expectSound(running, memory)
}, 3_600_000)
