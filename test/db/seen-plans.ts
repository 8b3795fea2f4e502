import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { World } from '../harness.ts'
import { Seen } from './seen.ts'

/** The plans of all statements that the service really sends, as reported by PostgreSQL itself (auto_explain). */

/** The used part of a node of EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON). */
interface Node {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Function Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Rows Removed by Join Filter'?: number
  readonly 'Rows Removed by Index Recheck'?: number
  readonly 'Shared Hit Blocks': number
  readonly 'Shared Read Blocks': number
  readonly Plans?: readonly Node[]
}

export interface SeenPlan {
  readonly text: string
  readonly root: Node
}

const SETTINGS = {
  session_preload_libraries: 'auto_explain',
  'auto_explain.log_min_duration': '0',
  'auto_explain.log_analyze': 'on',
  'auto_explain.log_buffers': 'on',
  'auto_explain.log_timing': 'off',
  'auto_explain.log_format': 'json',
  'auto_explain.log_level': 'notice',
}

function planIn(message: string): SeenPlan | undefined {
  if (!/^duration: .* plan:\n/.test(message)) return undefined
  const { Plan, 'Query Text': text } = JSON.parse(message.slice(message.indexOf('{')))
  return { text, root: Plan }
}

/** Makes all connections to this database report their plans, and returns functions to collect them and to stop. */
export async function watchPlans(world: World) {
  const seen = new Seen<SeenPlan>()
  const { emit } = pg.Client.prototype
  pg.Client.prototype.emit = function (this: pg.Client, event: string | symbol, ...given: unknown[]): boolean {
    if (event === 'notice') seen.add(() => planIn(String((given[0] as { message?: string }).message)))
    return emit.call(this, event as never, ...(given as never[]))
  }
  const database = new URL(world.databaseUrl).pathname.slice(1)
  const query = async (text: string) => {
    const client = new pg.Client({ connectionString: world.databaseUrl })
    await client.connect()
    await client.query(text).finally(() => client.end())
  }
  const set = (name: string, value: string) => query(`alter database ${database} set ${name} = '${value}'`)
  for (const [name, value] of Object.entries(SETTINGS)) await set(name, value)
  // Existing connections must be reopened.
  await query(
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  )
  for (let waited = 0; waited < 500 && world.pool.totalCount > 0; waited++) await sleep(20)
  await sleep(200)

  return {
    during: (work: () => Promise<unknown>) => seen.during(work),
    stop: () => {
      pg.Client.prototype.emit = emit
    },
  }
}

export const nodesOf = (node: Node): Node[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)]

/** Table rows that the plan has read, including those that it then filtered out, and rows that it compared in vain. */
export const rowsTouched = ({ root }: SeenPlan): number =>
  nodesOf(root)
    .map((node) => {
      const compared = node['Rows Removed by Join Filter'] ?? 0
      const isScan = node['Relation Name'] !== undefined && node['Node Type'] !== 'ModifyTable'
      const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)
      return (compared + (isScan ? node['Actual Rows'] + removed : 0)) * node['Actual Loops']
    })
    .reduce((sum, rows) => sum + rows, 0)

/** Pages of 8 KiB, from memory or not. */
export const pagesTouched = ({ root }: SeenPlan): number => root['Shared Hit Blocks'] + root['Shared Read Blocks']
