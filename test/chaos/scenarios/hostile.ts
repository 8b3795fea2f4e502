import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { percentile } from '../../bench/statistics.ts'
import { type Attacker, attacksOf } from '../attacks.ts'
import { callsAt, count, type Outcome } from '../calls.ts'
import { type Figure, ms, percent, type Scenario } from '../scenario.ts'
import type { Service } from '../service.ts'
import { noticeCalls, userInfoCalls } from '../works.ts'

const ADMIN_TOKEN = 'admin-token-of-one-chaos-run-only'
const ATTACKS_PER_S = 20
const READS_PER_S = 100
const NOTICES_PER_S = 20
const PATIENCE_MS = 30_000
/** The attacker has a different IP address from the other callers. */
const ATTACKER_ADDRESS = process.platform === 'linux' ? '127.0.0.66' : '127.0.0.1'
/** The attacker's server delays its responses to our calls until just before we give up. */
const SLOW_MS = 14_000

/** One IP address and one partner send the most expensive requests while others use A5 and notices. */
export const hostile: Scenario = async (ground) => {
  const { options, world, start, progress } = ground
  const server = createServer((request, response) => {
    request.resume()
    setTimeout(() => response.end('{"code":200,"describe":"success","body":[]}'), SLOW_MS).unref()
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  ground.endings.add(() => void server.closeAllConnections())
  ground.endings.add(() => void server.close())
  const { port } = server.address() as AddressInfo
  const service = await start({ ADMIN_TOKEN, PARTNER_ADDRESS_ALLOW: '127.0.0.1' })
  const attacker = await newPartner(service, `http://127.0.0.1:${port}`)
  const seconds = 30 * options.scale
  const notices = await noticeCalls(world, Math.ceil(NOTICES_PER_S * seconds * 2.2))
  const wellBehaved = async () => ({
    reads: callsAt(READS_PER_S, seconds, service.port, userInfoCalls(world), PATIENCE_MS),
    notices: callsAt(NOTICES_PER_S, seconds, service.port, notices, PATIENCE_MS),
  })
  progress(`A5 and notices for ${seconds} s, without the attacker`)
  const before = await settled(await wellBehaved())
  progress(`and with it: ${ATTACKS_PER_S} attacks a second`)
  const attacks = callsAt(ATTACKS_PER_S, seconds, service.port, attacksOf(attacker), PATIENCE_MS, ATTACKER_ADDRESS)
  const during = await settled(await wellBehaved())
  const attacked = await attacks
  await service.stop()
  return [
    ...figures('A5', before.reads, during.reads),
    ...figures('notices', before.notices, during.notices),
    { figure: 'attacks by status', value: byStatus(attacked) },
  ]
}

type Running = Readonly<Record<'reads' | 'notices', Promise<Outcome[]>>>

const settled = async ({ reads, notices }: Running) => ({ reads: await reads, notices: await notices })

async function newPartner({ port }: Service, base_url: string): Promise<Attacker> {
  const answer = await fetch(`http://127.0.0.1:${port}/admin/v1/partners`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Attacker', base_url }),
  })
  const { data } = (await answer.json()) as { data: Readonly<Record<string, unknown>> }
  return {
    partnerId: String(data.partner_id),
    clientId: String(data.client_id),
    secret: String(data.client_secret),
  }
}

const p99 = (outcomes: readonly Outcome[]): number =>
  percentile(
    outcomes.map((outcome) => outcome.ms).sort((one, other) => one - other),
    0.99,
  )

function figures(name: string, before: readonly Outcome[], during: readonly Outcome[]): Figure[] {
  const [without, withIt] = [p99(before), p99(during)]
  return [
    {
      figure: `${name}: p99 without and with the attacker`,
      value: `${ms(without)}, ${ms(withIt)}: ${(withIt / without).toFixed(1)} ×`,
    },
    { figure: `${name}: failed meanwhile`, value: percent(during.length - count(during, 200), during.length) },
  ]
}

function byStatus(outcomes: readonly Outcome[]): string {
  const statuses = [...new Set(outcomes.map(({ status }) => status))].sort((one, other) => one - other)
  return statuses.map((status) => `${status || 'no answer'}: ${count(outcomes, status)}`).join(', ')
}
