import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import type { TaskName } from '../../../src/platform/db/jobs-store.ts'
import type { Contestant } from '../contestants/contestant.ts'
import { SCOPES, SQL } from '../fixtures/people.ts'
import { APPS, type World } from '../fixtures/world.ts'
import type { Options } from '../options.ts'
import type { Round, RunTurn } from '../turn-runner.ts'

export interface PurgeRun {
  readonly rows: number
  /** From the start of the job until no expired row was left. */
  readonly seconds: number
  readonly before: readonly Round[]
  readonly during: readonly Round[]
  readonly after: readonly Round[]
}

const ROWS = 1_000_000
/** The hourly job of the service that deletes expired rows (src/operations/jobs/tasks.ts). */
const TASK: TaskName = 'purge'

/** Measures A5 before, while and after the service deletes a million expired access tokens. */
export async function measurePurge(
  run: RunTurn,
  gatehouse: Contestant,
  world: World,
  options: Options,
  progress: (text: string) => void,
): Promise<PurgeRun> {
  const { pool } = world
  progress(`putting ${ROWS.toLocaleString('en')} expired access tokens into the database`)
  await insertExpired(world)
  const turn = (when: string) => async (): Promise<Round> => {
    const { seconds, warmUpS, connections } = options
    const round = await run({ work: 'a5', contestant: gatehouse, seconds, warmUpS, connections })
    progress(`A5 ${when} the purge: ${round.perSecond.toFixed(0)}/s, ${await countExpired(pool)} expired rows left`)
    return round
  }
  const before = await repeat(turn('before'), options.rounds)
  const began = performance.now()
  const during: Round[] = []
  while ((await countExpired(pool)) > 0) {
    await startJob(pool)
    during.push(await turn('during')())
  }
  const seconds = (performance.now() - began) / 1000
  await sleep(1000)
  const after = await repeat(turn('after'), options.rounds)
  return { rows: ROWS, seconds, before, during, after }
}

async function repeat(measure: () => Promise<Round>, times: number): Promise<Round[]> {
  const rounds: Round[] = []
  while (rounds.length < times) rounds.push(await measure())
  return rounds
}

const insertExpired = ({ pool, users }: World) =>
  pool.query(
    `insert into access_token (routing_key, token_hash, grant_id, scopes, expires_at)
     select ${SQL.routingKey('user_id')}, sha256(uuid_send(gen_random_uuid())), ${SQL.grantId(APPS.fixed, 'user_id')}, $3,
            now() - interval '2 days' - make_interval(secs => random() * 86400)
     from (select ${SQL.userId('row % $2::bigint')} as user_id from generate_series(0, $1::bigint - 1) row) t`,
    [ROWS, users, SCOPES],
  )

async function countExpired(pool: Pool): Promise<number> {
  const { rows } = await pool.query(
    `select count(*)::int as n from access_token where expires_at < now() - interval '1 day'`,
  )
  return rows[0].n
}

/** Queues the job unless it is already queued or running; it may take several jobs to delete everything. */
const startJob = (pool: Pool) =>
  pool.query(`select graphile_worker.add_job($1, job_key => 'bench-purge', job_key_mode => 'unsafe_dedupe')`, [TASK])
