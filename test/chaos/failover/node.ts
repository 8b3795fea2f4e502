import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Forwarder } from '../../forwarder.ts'
import { descendantsOf, signal } from '../processes.ts'
import { type Member, patroniConfig, type Surroundings } from './configuration.ts'
import { type Program, startProgram } from './programs.ts'

const ASK_MS = 1_000
/** TCP retransmits unconfirmed data to a machine that was paused only after growing intervals. */
const RETRANSMIT_MS = 1_000

/** A node: Patroni and its PostgreSQL. Its connections to etcd and from replicas go through forwarders. */
export class Node {
  readonly member: Member
  readonly file: string
  /** Between its replicas and this node. */
  readonly replication: Forwarder
  /** Between this node and etcd. */
  readonly #etcd: Forwarder
  readonly #folder: string
  #patroni: Program | undefined

  constructor(member: Member, surroundings: Surroundings, folder: string, replication: Forwarder, etcd: Forwarder) {
    this.member = member
    this.#etcd = etcd
    this.#folder = folder
    this.replication = replication
    this.file = join(folder, `${member.name}.yml`)
    writeFileSync(this.file, patroniConfig(member, surroundings))
  }

  get name(): string {
    return this.member.name
  }

  start(): Program {
    this.#patroni = startProgram('patroni', [this.file], this.#folder, `${this.name}.log`)
    return this.#patroni
  }

  stop(): Promise<void> | undefined {
    return this.#patroni?.stop()
  }

  postmaster(): number | undefined {
    const file = join(this.member.dataDir, 'postmaster.pid')
    return existsSync(file) ? Number.parseInt(readFileSync(file, 'utf8'), 10) : undefined
  }

  /** All of its processes. */
  #processes(): number[] {
    const roots = [this.#patroni?.pid, this.postmaster()].filter((pid) => pid !== undefined)
    return [...new Set(roots.flatMap((pid) => [pid, ...descendantsOf(pid)]))]
  }

  killPostgres(): void {
    signal([this.postmaster() ?? 0].filter(Boolean), 'SIGKILL')
  }

  kill(): void {
    signal(this.#processes(), 'SIGKILL')
    this.replication.cut()
  }

  /** Pauses the node, like a virtual machine that is being migrated. */
  pause(): void {
    signal(this.#processes(), 'SIGSTOP')
    this.#etcd.hold()
  }

  /** Resumes the node, which receives the data from etcd a little later. */
  async resume(): Promise<void> {
    signal(this.#processes(), 'SIGCONT')
    await sleep(RETRANSMIT_MS)
    this.#etcd.release()
  }

  /** Whether Patroni reports this node as the leader. */
  leads(): Promise<boolean> {
    return this.#ask('/primary').then((answer) => answer?.status === 200)
  }

  /** The state of all nodes as known to Patroni. */
  async cluster(): Promise<{ members: { name: string; role: string; state: string; lag?: number | string }[] }> {
    const answer = await this.#ask('/cluster')
    return answer?.status === 200 ? JSON.parse(answer.text) : { members: [] }
  }

  #ask(path: string): Promise<{ status: number; text: string } | undefined> {
    return fetch(`http://127.0.0.1:${this.member.restPort}${path}`, { signal: AbortSignal.timeout(ASK_MS) })
      .then(async (answer) => ({ status: answer.status, text: await answer.text() }))
      .catch(() => undefined)
  }
}
