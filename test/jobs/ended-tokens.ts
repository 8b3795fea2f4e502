import { keysOfShard } from '../../src/platform/db/shards.ts'
import { sql } from '../../src/platform/db/sql.ts'
import type { World } from '../harness.ts'

/**
 * Inserts access tokens that expired two hours ago, directly into each shard: through the schema `everybody`, Citus would
 * need a statement for each row.
 */
export async function endedTokens({ deps, clock }: World, count: number): Promise<void> {
  const shards = deps.db.shards()
  for (const [place, shard] of shards.entries()) {
    const { from, below } = keysOfShard(place, shards.length)
    await shard.slowTx(60, (tx) =>
      tx.exec(
        sql`insert into access_token (routing_key, token_hash, grant_id, scopes, expires_at)
            select i % 65536, sha256(i::text::bytea), gen_random_uuid(), '{}', ${clock.now()}::timestamptz - interval '2 hours'
            from generate_series(1, ${count}::int) i where i % 65536 >= ${from} and i % 65536 < ${below}`,
      ),
    )
  }
}
