import { runner } from 'node-pg-migrate'
import pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { migrate } from '../../src/platform/db/migrate.ts'
import { freshDatabase } from '../harness.ts'

/** Migration 0020 moves recovery codes and keeps sessions: whoever can sign in before it can do so after it. */

const BEFORE = 19

it('unused recovery codes and the sessions of operators survive, used codes do not', async () => {
  const { url, drop } = await freshDatabase()
  onTestFinished(drop)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  onTestFinished(() => client.end())
  await client.query('drop schema public cascade; create schema public')
  const dir = new URL('../../migrations/', import.meta.url).pathname
  await runner({ dbClient: client, dir, direction: 'up', migrationsTable: 'migration', count: BEFORE, log: () => {} })
  const [one, other, none] = [1, 2, 3].map((n) => `28a40000-0000-4000-8000-00000000000${n}`)
  const past = '2026-11-26T12:00:00Z'
  for (const id of [one, other, none])
    await client.query(
      `insert into operator (operator_id, name, role, status, created_at) values ($1, $2, 'admin', 'active', $3)`,
      [id, id, past],
    )
  await client.query(
    `insert into operator_recovery_code (operator_id, code_hash, used_at)
     values ($1, '\\x01', $3), ($1, '\\x02', null), ($1, '\\x03', null), ($2, '\\x02', $3), ($2, '\\x04', null)`,
    [one, other, past],
  )
  await client.query(
    `insert into operator_session (session_hash, operator_id, credential_version, pending, created_at, last_seen_at, expires_at)
     values ('\\x01', $1, 1, false, $2, $2, $2)`,
    [one, past],
  )
  await client.query(
    `insert into first_operator_session (session_hash, token_mark, created_at, last_seen_at, expires_at)
     values ('\\x02', '\\x01', $1, $1, $1)`,
    [past],
  )

  await migrate(url)
  const codes = await client.query(
    `select operator_id, array(select encode(c, 'hex') from unnest(recovery_hashes) c order by 1) as codes
     from operator order by 1`,
  )
  expect(codes.rows).toEqual([
    { operator_id: one, codes: ['02', '03'] },
    { operator_id: other, codes: ['04'] },
    { operator_id: none, codes: [] },
  ])
  const sessions = await client.query('select operator_id, token_mark from operator_session')
  expect(sessions.rows).toEqual([{ operator_id: one, token_mark: null }])
})
