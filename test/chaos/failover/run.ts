import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { openPool } from '../../../src/platform/db/pool.ts'
import { dbOf } from '../../../src/platform/db/sql.ts'
import { deriveKeys } from '../../../src/platform/lib/crypto/keys.ts'
import { openLog } from '../../../src/platform/lib/log.ts'
import { progress, say, withEndings } from '../../bench/command.ts'
import { fillWorld } from '../../bench/fixtures/fill.ts'
import { describeMachine, machineText } from '../../bench/machine.ts'
import type { Options } from '../options.ts'
import { ms } from '../scenario.ts'
import { type Service, startService } from '../service.ts'
import { CASES, type Case, type CaseName } from './cases.ts'
import { type Cluster, startCluster } from './cluster.ts'
import { type Account, accountOf, startLoad } from './load.ts'
import { isTooOld, missingPackages, patroniVersion } from './programs.ts'
import { failoverWorks, preparePerson, type Work } from './works.ts'

const TOKENS = 5_000
const PER_SECOND = 60
const BEFORE_S = 5
const QUIET_MS = 6_000
/** A case ends after this, even if requests still fail. */
const MOST_S = 150
const TOO_OLD = 'lets a leader that stood still take its place again, which loses acknowledged writes: see OPERATIONS'
/** Exit code if packages are missing, so nothing was tested. */
const SKIPPED = 3

/** `npm run chaos -- failover`: a real cluster whose nodes fail under load. */
export async function failover({ checkout, output, cases }: Options): Promise<void> {
  const missing = missingPackages()
  if (missing.length > 0) {
    say(`SKIPPED, NOTHING WAS TESTED: ${missing.join(', ')} is not installed (apt-get install ${missing.join(' ')})`)
    process.exitCode = SKIPPED
    return
  }
  const patroni = patroniVersion()
  if (isTooOld(patroni)) say(`Patroni ${patroni} ${TOO_OLD}`)
  await withEndings(async (endings) => {
    const cluster = await startCluster(endings, progress)
    const secretKey = randomBytes(48).toString('base64')
    const mailFolder = join(cluster.folder, 'mail')
    const start = () =>
      startService({
        checkout,
        folder: cluster.folder,
        settings: { DATABASE_URL: cluster.databaseUrl, SECRET_KEY: secretKey, MAIL_FOLDER: mailFolder },
      })
    progress('starting the service')
    const service = await start()
    endings.add(() => service.stop())
    const pool = new pg.Pool({ connectionString: cluster.databaseUrl, max: 4 })
    pool.on('error', () => {})
    endings.add(() => pool.end())
    const world = await fillWorld({ pool, keys: deriveKeys(secretKey), folder: cluster.folder }, TOKENS, progress)
    await preparePerson(world)
    const queue = openPool(
      { connectionString: cluster.databaseUrl, size: 10 },
      openLog({ level: 'silent', pretty: false }),
    )
    endings.add(() => queue.end())
    const machine = await describeMachine(pool)
    const results: Result[] = []
    for (const name of cases) {
      const works = await failoverWorks(service.port, world, dbOf(queue), mailFolder, PER_SECOND * (MOST_S + 1))
      progress(`${name}: ${CASES[name].failure}`)
      const result = await runCase(cluster, CASES[name], works, service).catch((error: Error) => {
        keepLogs(cluster)
        throw error
      })
      results.push({ name, ...result })
      progress(JSON.stringify(results.at(-1)))
      writeFileSync(output, JSON.stringify({ machine, patroni, results }, null, 2))
    }
    say(`\n${machineText(machine)}; Patroni ${patroni}\n\n${tableOf(results)}\n`)
    progress(`all figures are in ${output}`)
    const bad = results.filter(isBad)
    for (const { failure } of bad) say(`NOT AS IT HAS TO BE: ${failure}`)
    if (bad.length === 0) return
    process.exitCode = 1
    keepLogs(cluster)
  })
}

function keepLogs(cluster: Cluster): void {
  cluster.keep()
  say(`The logs of all nodes are in ${cluster.folder}`)
}

interface Result extends Account {
  readonly name: CaseName
  readonly failure: string
  readonly asynchronous: boolean
  /** How many times two nodes claimed to be the leader. */
  readonly twoLeaders: number
  /** Whether requests no longer failed at the end. */
  readonly settled: boolean
}

async function runCase(
  cluster: Cluster,
  { failure, happen, asynchronous = false }: Case,
  works: readonly Work[],
  service: Service,
): Promise<Omit<Result, 'name'>> {
  await cluster.control('edit-config', 'gatehouse', '--set', `synchronous_mode=${!asynchronous}`, '--force')
  await cluster.untilWell(!asynchronous)
  const began = performance.now()
  const load = startLoad(works, PER_SECOND)
  const watch = watchLeaders(cluster)
  let [twoLeaders, settled] = [0, false]
  try {
    await sleep(BEFORE_S * 1000)
    await happen(cluster, await cluster.leader())
    while (load.quietMs() < QUIET_MS && performance.now() - began < MOST_S * 1000) {
      if (service.ended() !== undefined) throw new Error(`the service has ended:\n${service.output().slice(-4_000)}`)
      await sleep(100)
    }
    settled = load.quietMs() >= QUIET_MS
  } finally {
    await load.stop()
    twoLeaders = await watch.stop()
  }
  await cluster.untilWell(!asynchronous)
  return { failure, asynchronous, twoLeaders, settled, ...(await accountOf(load)) }
}

function watchLeaders({ nodes }: Cluster) {
  let over = false
  let twice = 0
  const watching = (async () => {
    while (!over) {
      const leads = await Promise.all(nodes.map((node) => node.leads()))
      if (leads.filter(Boolean).length > 1) twice++
      await sleep(100)
    }
  })()
  return {
    stop: async () => {
      over = true
      await watching
      return twice
    },
  }
}

const sum = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((one, other) => one + other, 0)

/** Only asynchronous mode may lose data; failures must be 503 with Retry-After; there must never be two leaders. */
const isBad = ({ asynchronous, failed, lost, withoutRetryAfter, twoLeaders, settled }: Result): boolean =>
  !settled ||
  (sum(lost) > 0 && !asynchronous) ||
  withoutRetryAfter > 0 ||
  twoLeaders > 0 ||
  Object.keys(failed).some((status) => status !== '503')

/** Shows jobs separately if their outage is longer. */
function outageText({ jobs = 0, ...others }: Result['outageS']): string {
  const longest = Math.max(...Object.values(others))
  return `${longest.toFixed(1)} s${jobs > longest + 1 ? `; jobs ${jobs.toFixed(1)} s` : ''}`
}

/** OPERATIONS has the figures of this table. */
const tableOf = (results: readonly Result[]): string =>
  [
    '| Failure | Outage | Refused | Slowest answer | Acknowledged | of these lost |',
    '|---|---|---|---|---|---|',
    ...results.map(({ failure, outageS, failed, slowestMs, acknowledged, lost }) => {
      const refused = Object.entries(failed).map(([status, count]) => `${count} × ${status}`)
      return `| ${failure} | ${outageText(outageS)} | ${refused.join(', ') || '0'} | ${ms(slowestMs)} | ${sum(acknowledged).toLocaleString('en')} | ${sum(lost)} |`
    }),
  ].join('\n')
