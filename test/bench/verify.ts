import type { Pool } from 'pg'
import type { Contestant, Name } from './contestants/contestant.ts'
import type { Work } from './works.ts'

/** Checks in addition to those of each response, to expose contestants that are fast but wrong. */

/** application_name of the benchmark's own connections. */
export const BENCH = 'bench'

const USES_DATABASE: readonly Name[] = ['gatehouse', 'plain', 'checked']

/** Counts the rows that correct responses must leave, before and after a turn: a response without its row was not durable. */
export async function verifyRows(pool: Pool, { title, leaves }: Work, name: Name) {
  if (!leaves || !USES_DATABASE.includes(name)) return { mustHaveGrownBy: async () => {} }
  const count = async (): Promise<number> => {
    const { rows } = await pool.query(`select count(*)::int as n from ${leaves.table} where ${leaves.where}`)
    return rows[0].n
  }
  const before = await count()
  return {
    mustHaveGrownBy: async (answers: number): Promise<void> => {
      const grown = (await count()) - before
      if (grown !== answers) throw new Error(`${title}: ${name} gave ${answers} answers but wrote ${grown} rows`)
    },
  }
}

/** Tries some of the access tokens issued by Gatehouse: each must work at A5. */
export async function tryTokens(gatehouse: Contestant | undefined, by: Contestant, tokens: readonly string[]) {
  if (!gatehouse || by.name !== 'gatehouse') return
  for (const token of tokens) {
    const url = `http://127.0.0.1:${gatehouse.port}/oauth/v2/api/resource/get_userinfo?access_token=${token}`
    const answer = (await (await fetch(url, { method: 'POST' })).json()) as { rescode: number }
    if (answer.rescode !== 0) throw new Error(`a token that was handed out does not work: ${JSON.stringify(answer)}`)
  }
}

/**
 * The last statement of each connection that ran one after `since`, ignoring those of the job queue, leases, shared rate
 * counts, seals of the audit log, rejected requests, which are written a moment later, and data written once a minute.
 * Commits belong to such writes: requests with forged tokens have no transaction.
 * PostgreSQL's statistics would give numbers of statements, but connections report them up to ten seconds late.
 */
export async function lastStatements(pool: Pool, since: Date): Promise<string[]> {
  const { rows } = await pool.query(
    `select left(regexp_replace(query, '\\s+', ' ', 'g'), 100) as statement from pg_stat_activity
     where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid() and application_name <> $1
       and query !~ '^ *(commit|insert into app_usage|insert into activity_hour|update worker_lease|insert into rate_count|delete from rate_count|insert into refused_request|select exists \\(select 1 from audit_unsealed)'
       and query_start > $2 and query not like '%graphile_worker%'`,
    [BENCH, since],
  )
  return rows.map(({ statement }) => statement)
}

export async function databaseTime(pool: Pool): Promise<Date> {
  const { rows } = await pool.query('select clock_timestamp() as now')
  return rows[0].now
}
