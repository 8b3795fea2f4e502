import { z } from 'zod'
import { type Batched, type BatchedWork, performStatement } from '../../platform/db/batch.ts'
import { hasShards } from '../../platform/db/shards.ts'
import { type Db, type Statement, sql } from '../../platform/db/sql.ts'

export interface NewToken {
  readonly hash: Buffer
  readonly expiresAt: Date
}

export interface Issued {
  readonly routingKey: number
  readonly grantId: string
  readonly scopes: readonly string[]
  readonly access: NewToken
  readonly refresh?: NewToken | undefined
}

const ACCESS = ({ routingKey, grantId, scopes, access }: Issued) => sql.part`
  ${routingKey}::int as routing_key, ${access.hash}::bytea as token_hash, ${grantId}::uuid as grant_id,
  ${scopes.join(' ')}::text as scopes, ${access.expiresAt}::timestamptz as expires_at`
const REFRESH = ({ routingKey, grantId, refresh }: Issued) => sql.part`
  ${routingKey}::int as routing_key, ${refresh?.hash}::bytea as token_hash, ${grantId}::uuid as grant_id,
  ${refresh?.expiresAt}::timestamptz as expires_at`

/**
 * Citus runs INSERT … SELECT from plain values on the coordinator: it collects the rows, copies them to the shard and commits
 * in two phases. A statement that names another table of the shard is pushed down whole, even if it reads nothing from it.
 * Joining user_grant instead makes a code exchange 1.1 times as slow.
 */
const PUSHED_DOWN = sql.part`where not exists (select 1 from user_grant limit 0)`

async function insertTokens(db: Db, issued: readonly Issued[]): Promise<void> {
  const refreshed = issued.filter(({ refresh }) => refresh)
  const accessTokens = () =>
    db.exec(
      sql`insert into access_token (routing_key, token_hash, grant_id, scopes, expires_at)
          select issued.routing_key, issued.token_hash, issued.grant_id, string_to_array(issued.scopes, ' '), issued.expires_at
          from ${sql.rows('issued', issued, ACCESS)} ${PUSHED_DOWN}`,
    )
  const refreshTokens = () =>
    db.exec(
      sql`insert into refresh_token (routing_key, token_hash, grant_id, expires_at)
          select issued.routing_key, issued.token_hash, issued.grant_id, issued.expires_at
          from ${sql.rows('issued', refreshed, REFRESH)} ${PUSHED_DOWN}`,
    )
  await Promise.all([issued.length > 0 && accessTokens(), refreshed.length > 0 && refreshTokens()])
}

/**
 * Runs a batched statement that issues tokens: `whole`, or with shards `first`, which leaves out the inserts, and then
 * those, in one transaction. Citus sends the statement's text to the shard each time, where it is planned anew, and several
 * inserts and updates in one statement cost several times what they cost one after another.
 */
export function issuing<Asked extends { readonly routingKey: number }, Row>(
  whole: Batched<Asked, Row>,
  first: Batched<Asked, Row>,
  tokensOf: (asked: Asked, row: Row) => Issued | undefined,
) {
  const inParts: BatchedWork<Db, Asked, Row[]> = {
    key: first.key,
    duplicates: first.duplicates,
    work: async (db, items) => {
      const run = async (statement: Statement) => ({ rows: await db.many(z.unknown(), statement) })
      const outcomes = await performStatement(run, first)(items)
      const rows = await Promise.all(outcomes.map((outcome) => outcome()))
      await insertTokens(
        db,
        items.flatMap((asked, place) => (rows[place] ?? []).flatMap((row) => tokensOf(asked, row) ?? [])),
      )
      return rows
    },
  }
  return async (db: Db, asked: Asked): Promise<Row | undefined> => {
    const shard = db.of(asked.routingKey)
    return (await (hasShards(shard) ? shard.batchWork(inParts, asked) : shard.batch(whole, asked)))[0]
  }
}
