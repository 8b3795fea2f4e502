import { execFile, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { freePort } from '../../../src/platform/lib/web/listen.ts'
import type { Endings } from '../../bench/endings.ts'
import { Forwarder } from '../../forwarder.ts'
import { haproxyConfig, type Surroundings } from './configuration.ts'
import { Node } from './node.ts'
import { owner, postgresFolder, startProgram } from './programs.ts'

const NODES = 3
const PATIENCE_MS = 120_000

/** Three nodes, etcd and HAProxy, all on loopback, with a database for the service. */
export interface Cluster {
  readonly folder: string
  readonly nodes: readonly Node[]
  /** Through HAProxy. */
  readonly databaseUrl: string
  leader(): Promise<Node>
  /** Resolves once there is a leader, all others follow it closely and, in synchronous mode, one of them synchronously. */
  untilWell(synchronous: boolean): Promise<void>
  /** Keeps its folder, with the logs of all programs, after the end. */
  keep(): void
  /** Runs patronictl. */
  control(...args: string[]): Promise<unknown>
}

export async function startCluster(endings: Endings, progress: (text: string) => void): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-failover-'))
  let isKept = false
  endings.add(() => {
    if (!isKept) rmSync(folder, { recursive: true, force: true })
  })
  const { uid, gid } = owner()
  const newFolder = (name: string): string => {
    const path = join(folder, name)
    mkdirSync(path, { mode: 0o700 })
    if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid)
    return path
  }
  if (uid !== undefined && gid !== undefined) chownSync(folder, uid, gid)
  const ports: number[] = []
  while (ports.length < 3 + NODES * 4) ports.push(await freePort(ports))
  const port = () => ports.pop() as number

  const [client, peer, front] = [port(), port(), port()]
  progress('starting etcd')
  const [clientUrl, peerUrl] = [`http://127.0.0.1:${client}`, `http://127.0.0.1:${peer}`]
  const etcd = startProgram(
    'etcd',
    [
      ...['--data-dir', newFolder('etcd'), '--listen-client-urls', clientUrl, '--advertise-client-urls', clientUrl],
      ...['--listen-peer-urls', peerUrl, '--initial-advertise-peer-urls', peerUrl],
      ...['--initial-cluster', `default=${peerUrl}`],
    ],
    folder,
    'etcd.log',
  )
  endings.add(() => etcd.stop())

  const surroundings: Omit<Surroundings, 'etcd'> = {
    network: '127.0.0.1/32',
    binDir: postgresFolder() ?? '',
    socketDir: newFolder('sockets'),
    passwords: { superuser: randomBytes(12).toString('hex'), replication: randomBytes(12).toString('hex') },
  }
  const nodes: Node[] = []
  for (let number = 1; number <= NODES; number++) {
    const postgresPort = port()
    const replication = new Forwarder()
    replication.target = postgresPort
    await replication.open(port())
    const toEtcd = new Forwarder()
    toEtcd.target = client
    await toEtcd.open(port())
    endings.add(() => replication.close())
    endings.add(() => toEtcd.close())
    const name = `pg${number}`
    const member = {
      name,
      address: '127.0.0.1',
      postgresPort,
      restPort: port(),
      replicationPort: replication.port,
      dataDir: newFolder(name),
    }
    nodes.push(new Node(member, { ...surroundings, etcd: [`127.0.0.1:${toEtcd.port}`] }, folder, replication, toEtcd))
  }
  endings.add(() => Promise.all(nodes.map((node) => node.stop())))
  endings.add(() => Promise.all(nodes.map((node) => node.resume())))
  progress('starting PostgreSQL under Patroni')
  const patronis = nodes.map((node) => node.start())
  const file = join(folder, 'haproxy.cfg')
  writeFileSync(
    file,
    haproxyConfig(
      nodes.map(({ member }) => member),
      front,
    ),
  )
  const haproxy = startProgram('haproxy', ['-db', '-f', file], folder, 'haproxy.log')
  endings.add(() => haproxy.stop())
  /** Programs that must not end by themselves; empty after the start, as nodes are then killed on purpose. */
  let starting = [etcd, ...patronis, haproxy]

  const leader = async (): Promise<Node> => {
    for (const end = performance.now() + PATIENCE_MS; performance.now() < end; await sleep(100)) {
      for (const program of starting) program.assertRuns()
      const leads = await Promise.all(nodes.map((node) => node.leads()))
      const found = nodes[leads.indexOf(true)]
      if (found) return found
    }
    throw new Error(
      `no node leads: ${
        spawnSync('tail', ['-n', '5', ...nodes.map(({ file: yml }) => yml.replace('yml', 'log'))]).stdout
      }`,
    )
  }
  const untilWell = async (synchronous: boolean): Promise<void> => {
    let members: Awaited<ReturnType<Node['cluster']>>['members'] = []
    for (const end = performance.now() + PATIENCE_MS; performance.now() < end; await sleep(500)) {
      ;({ members } = await (await leader()).cluster())
      const followers = members.filter(({ role }) => role !== 'leader')
      const follow = followers.filter(({ state, lag }) => /running|streaming/.test(state) && Number(lag) < 100_000)
      const enough = !synchronous || followers.some(({ role }) => role === 'sync_standby')
      if (follow.length === NODES - 1 && enough) return
    }
    throw new Error(`the nodes do not follow: ${JSON.stringify(members)}`)
  }
  const first = await leader()
  await untilWell(true)
  starting = []

  const password = randomBytes(12).toString('hex')
  const administrator = new pg.Client({
    host: '127.0.0.1',
    port: first.member.postgresPort,
    user: 'postgres',
    password: surroundings.passwords.superuser,
  })
  await administrator.connect()
  await administrator.query(`create role gatehouse login password '${password}'`)
  await administrator.query('create database gatehouse owner gatehouse')
  await administrator.query('grant pg_checkpoint to gatehouse') // for the checkpoint after the fixtures
  await administrator.end()
  return {
    folder,
    keep: () => {
      isKept = true
    },
    nodes,
    databaseUrl: `postgres://gatehouse:${password}@127.0.0.1:${front}/gatehouse`,
    leader,
    untilWell,
    control: (...args) => promisify(execFile)('patronictl', ['-c', nodes[0]?.file ?? '', ...args]),
  }
}
