import type pg from 'pg'
import { z } from 'zod'
import { connectionConfig, singleClient, withClient } from './pool.ts'
import { schemasOf } from './shards.ts'

/** Shards on several machines: Citus puts the schema of each shard on one of its nodes (OPERATIONS "Citus"). */

/** Statements about people join this table, so each node has a copy. */
const REFERENCE_TABLE = 'public.micro_app'

const hasCitus = async (client: pg.ClientBase): Promise<boolean> =>
  (await client.query(`select from pg_extension where extname = 'citus'`)).rowCount === 1

/** The URL of the node that has each schema. A schema missing here is reached through the coordinator. */
export type ShardNodes = Readonly<Record<string, string>>

/** Undefined without Citus. Asking the node that has the rows saves a fifth of a batch's cost (OPERATIONS "Citus"). */
export async function nodesOfShards(databaseUrl: string, shards: number): Promise<ShardNodes | undefined> {
  if (shards === 1) return undefined
  return withClient(databaseUrl, async (client) => {
    if (!(await hasCitus(client))) return undefined
    const { rows } = await client.query(
      `select distinct s.schemaid::regnamespace::text as schema, n.nodename as host, n.nodeport as port
       from pg_dist_schema s
       join pg_dist_partition p on p.colocationid = s.colocationid
       join pg_dist_shard using (logicalrelid)
       join pg_dist_placement using (shardid)
       join pg_dist_node n on n.groupid = pg_dist_placement.groupid
       where n.groupid > 0 and n.noderole = 'primary' and n.metadatasynced and n.isactive`,
    )
    const placed = rows.map((row) => placement.parse(row)).filter(({ schema }) => schemasOf(shards).includes(schema))
    return reachable(placed.map(({ schema, host, port }) => [schema, urlOn(databaseUrl, host, port)]))
  })
}

const placement = z.object({ schema: z.string(), host: z.string(), port: z.number() })

function urlOn(databaseUrl: string, host: string, port: number): string {
  const url = new URL(databaseUrl)
  url.host = `${host.includes(':') ? `[${host}]` : host}:${port}`
  for (const name of ['host', 'port']) url.searchParams.delete(name) // they would count more
  return url.href
}

/** The nodes that this process can connect to: they may be in a private network. */
async function reachable(nodes: readonly [schema: string, url: string][]): Promise<ShardNodes> {
  const urls = [...new Set(nodes.map(([, url]) => url))]
  const answering = await Promise.all(urls.map((url) => answers(url)))
  return Object.fromEntries(nodes.filter(([, url]) => answering[urls.indexOf(url)]))
}

async function answers(connectionString: string): Promise<boolean> {
  const client = singleClient(connectionConfig({ connectionString }))
  try {
    await client.connect()
    return await hasCitus(client)
  } catch {
    return false
  } finally {
    await client.end()
  }
}

/** Hands new schemas over to Citus, with what they need of `public`, whose migrations must have been applied. */
export async function distribute(client: pg.ClientBase, schemas: readonly string[]): Promise<void> {
  if (schemas.length === 0 || !(await hasCitus(client))) return
  if ((await client.query('select from pg_dist_node where groupid = 0')).rowCount === 0)
    throw new Error('Citus does not know its coordinator: run citus_set_coordinator_host (OPERATIONS "Citus")')
  await client.query(
    `select create_reference_table('${REFERENCE_TABLE}') where not exists (
       select 1 from citus_tables where table_name = '${REFERENCE_TABLE}'::regclass and citus_table_type = 'reference')`,
  )
  const { rows } = await client.query(
    `select nspname as name from pg_namespace
     where nspname = any ($1) and oid not in (select schemaid from pg_dist_schema) order by nspname`,
    [schemas],
  )
  for (const name of namesOf(rows)) await client.query('select citus_schema_distribute($1)', [name])
}

const namesOf = (rows: readonly unknown[]): string[] => rows.map((row) => named.parse(row).name)
const named = z.object({ name: z.string() })

/**
 * Citus commits in two phases when a transaction has written on two nodes, but ignores tables that it does not manage:
 * a transaction about a person could be committed on one node and lost on the other. So a trigger on each such table
 * also deletes from a managed table, which is always empty. Call this after all tables have been created.
 */
export async function commitInTwoPhases(client: pg.ClientBase, schemas: readonly string[]): Promise<void> {
  if (schemas.length === 0 || !(await hasCitus(client))) return
  if ((await client.query(`select where to_regclass('public.two_phases') is null`)).rowCount === 1) {
    await client.query('begin')
    await client.query('create table public.two_phases (nothing int primary key)')
    await client.query(`select citus_add_local_table_to_metadata('public.two_phases')`)
    await client.query(`create function public.two_phases() returns trigger language plpgsql as
      'begin delete from public.two_phases; return null; end'`)
    await client.query('commit')
  }
  const { rows } = await client.query(
    `select format('%s.%I', relnamespace::regnamespace, relname) as name from pg_class
     where relnamespace::regnamespace::text in ('public', 'graphile_worker') and relkind = 'r'
       and not exists (select 1 from pg_dist_partition where logicalrelid = pg_class.oid)
       and not exists (select 1 from pg_trigger where tgrelid = pg_class.oid and tgname = 'two_phases')`,
  )
  for (const name of namesOf(rows)) {
    await client.query(`create trigger two_phases after insert or update or delete on ${name}
      for each statement execute function public.two_phases()`)
  }
}
