import pg from 'pg'
import { CITUS_URL } from './one-table.ts'

/** Creates databases on all nodes of a Citus cluster. Citus keeps its metadata in each database. */

/** A connection to each server, as long as the process lives: opening one costs more than most of these statements. */
const servers = new Map<string, pg.Pool>()

function openServer(connectionString: string): pg.Pool {
  const pool = new pg.Pool({ connectionString, max: 1, idleTimeoutMillis: 0, allowExitOnIdle: true })
  pool.on('error', () => {}) // it opens another
  return pool
}

export async function onServer(serverUrl: string, ...statements: string[]): Promise<void> {
  const server = servers.get(serverUrl) ?? openServer(serverUrl)
  servers.set(serverUrl, server)
  for (const statement of statements) await server.query(statement)
}

/** URLs of the workers, with the user and the database of CITUS_URL; empty without Citus. */
export async function workersOf(serverUrl: string): Promise<string[]> {
  if (!CITUS_URL) return []
  const client = new pg.Client({ connectionString: serverUrl })
  await client.connect()
  const { rows } = await client
    .query('select nodename, nodeport from pg_dist_node where groupid > 0 order by groupid')
    .finally(() => client.end())
  if (rows.length < 2) throw new Error('CITUS_URL has fewer than two workers')
  return rows.map(({ nodename, nodeport }) => {
    const url = new URL(serverUrl)
    url.hostname = nodename
    url.port = String(nodeport)
    return url.href
  })
}

export function databaseOn(serverUrl: string, name: string): string {
  const url = new URL(serverUrl)
  url.pathname = name
  return url.href
}

/** Turns the existing databases of this name, one on each node, into a Citus cluster. */
export async function makeCluster(serverUrl: string, workerUrls: readonly string[], name: string): Promise<void> {
  const extension = (url: string) => onServer(databaseOn(url, name), 'create extension if not exists citus')
  for (const url of [serverUrl, ...workerUrls]) await extension(url)
  const { hostname, port } = new URL(serverUrl)
  const workers = workerUrls.map((url) => new URL(url))
  await onServer(
    databaseOn(serverUrl, name),
    `select citus_set_coordinator_host('${hostname}', ${port})`,
    ...workers.map((worker) => `select citus_add_node('${worker.hostname}', ${worker.port})`),
  )
}

/** Ends all connections to the database, even those of Citus itself, and forbids new ones, so that it can be cloned. */
export const closeToAll = (serverUrl: string, name: string): Promise<void> =>
  onServer(
    serverUrl,
    `alter database ${name} allow_connections false`,
    `select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '${name}'`,
  )
