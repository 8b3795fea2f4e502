import type { Pool } from 'pg'
import type { Contestant, Name } from './contestants/contestant.ts'
import type { Work } from './works.ts'

/** What a fast wrong contestant would fail at, beyond the check of each answer. */

const USES_DATABASE: readonly Name[] = ['gatehouse', 'plain']

/** Counts the rows that right answers leave behind, before and after a turn: an answer without its row was not durable. */
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

/** Some of the access tokens that Gatehouse handed out: each must open A5. */
export async function tryTokens(gatehouse: Contestant | undefined, by: Contestant, tokens: readonly string[]) {
  if (!gatehouse || by.name !== 'gatehouse') return
  for (const token of tokens) {
    const url = `http://127.0.0.1:${gatehouse.port}/oauth/v2/api/resource/get_userinfo?access_token=${token}`
    const answer = (await (await fetch(url, { method: 'POST' })).json()) as { rescode: number }
    if (answer.rescode !== 0) throw new Error(`a token that was handed out does not work: ${JSON.stringify(answer)}`)
  }
}

/**
 * How often the service's tables have been looked into so far. Busy connections report theirs once a second, so this
 * tells thousands from none and not one from two; durable jobs have a schema of their own and are not counted.
 */
export async function lookUpsOf(pool: Pool): Promise<number> {
  const { rows } = await pool.query(
    `select sum(seq_scan + coalesce(idx_scan, 0))::float as n from pg_stat_user_tables where schemaname = 'public'`,
  )
  return rows[0].n
}
