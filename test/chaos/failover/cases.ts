import { setTimeout as sleep } from 'node:timers/promises'
import type { Cluster } from './cluster.ts'
import type { Node } from './node.ts'

export interface Case {
  readonly failure: string
  /** Runs in asynchronous mode, to show what that loses; only on request. */
  readonly asynchronous?: boolean
  /** Causes the failure; resolves when it is over or repaired. */
  readonly happen: (cluster: Cluster, leader: Node) => Promise<void>
}

const LATE_MS = 1_500
const PAUSE_S = 40

/** Resolves when another node leads. */
async function untilAnotherLeads(cluster: Cluster, former: Node): Promise<void> {
  while ((await cluster.leader()) === former) await sleep(100)
}

async function killNode(cluster: Cluster, leader: Node): Promise<void> {
  leader.kill()
  await untilAnotherLeads(cluster, leader)
  leader.start()
}

async function killNodeBehind(cluster: Cluster, leader: Node): Promise<void> {
  leader.replication.lateMs = LATE_MS
  await sleep(5_000)
  await killNode(cluster, leader)
  leader.replication.lateMs = 0
}

export const CASES = {
  postgres: {
    failure: 'PostgreSQL killed, restarted in place',
    happen: async (_cluster, leader) => leader.killPostgres(),
  },
  node: { failure: 'node killed', happen: killNode },
  pause: {
    failure: `node paused for ${PAUSE_S} s, then back`,
    happen: async (cluster, leader) => {
      leader.pause()
      await Promise.all([untilAnotherLeads(cluster, leader), sleep(PAUSE_S * 1000)])
      await leader.resume()
    },
  },
  switchover: {
    failure: 'switchover by hand',
    happen: async (cluster, leader) => {
      const { members } = await leader.cluster()
      const next = members.find(({ role }) => role === 'sync_standby') ?? members.find(({ role }) => role !== 'leader')
      await cluster.control('switchover', 'gatehouse', '--candidate', next?.name ?? '', '--force')
      await untilAnotherLeads(cluster, leader)
    },
  },
  behind: { failure: `node killed, replicas ${LATE_MS / 1000} s behind`, happen: killNodeBehind },
  asynchronous: {
    failure: `node killed, replicas ${LATE_MS / 1000} s behind, asynchronous`,
    asynchronous: true,
    happen: killNodeBehind,
  },
} as const satisfies Readonly<Record<string, Case>>
export type CaseName = keyof typeof CASES
