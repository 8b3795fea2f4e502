import { execFileSync } from 'node:child_process'
import { availableParallelism, cpus, release, totalmem, type } from 'node:os'
import { performance } from 'node:perf_hooks'
import type { Pool } from 'pg'
import { ROOT } from './contestants/contestant.ts'
import { spreadOf } from './statistics.ts'

export interface Machine {
  readonly cpu: string
  readonly cores: number
  readonly memoryGb: number
  readonly system: string
  readonly node: string
  readonly postgres: string
  /** Median duration of a small durable commit in milliseconds: the cost of the disk for each write. */
  readonly commitMs: number
  readonly settings: Readonly<Record<string, string>>
  /** The commit that was measured; `+` if there are uncommitted changes. */
  readonly commit: string
}

const SHOWN = ['synchronous_commit', 'fsync', 'full_page_writes', 'shared_buffers', 'max_connections']

export async function describeMachine(pool: Pool): Promise<Machine> {
  const { rows } = await pool.query(`select name, current_setting(name) as value from unnest($1::text[]) name`, [SHOWN])
  const version = await pool.query('show server_version')
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryGb: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release()}`,
    node: process.version,
    postgres: version.rows[0].server_version,
    commitMs: await commitMs(pool),
    settings: Object.fromEntries(rows.map(({ name, value }) => [name, value])),
    commit: gitCommit(),
  }
}

async function commitMs(pool: Pool): Promise<number> {
  await pool.query('create table bench_commit (n int)')
  const taken: number[] = []
  for (let n = 0; n < 100; n++) {
    const before = performance.now()
    await pool.query('insert into bench_commit values (1)')
    taken.push(performance.now() - before)
  }
  await pool.query('drop table bench_commit')
  return Number(spreadOf(taken).median.toFixed(2))
}

function gitCommit(): string {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'ignore'] })
  try {
    const changed = git('status', '--porcelain').length > 0
    return git('rev-parse', '--short', 'HEAD').toString().trim() + (changed ? '+' : '')
  } catch {
    return 'unknown'
  }
}

export const machineText = (machine: Machine): string =>
  `${machine.cpu}, ${machine.cores} cores, ${machine.memoryGb} GB; ${machine.system}; Node ${machine.node}; ` +
  `PostgreSQL ${machine.postgres} (${Object.entries(machine.settings)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ')}); a durable commit takes ${machine.commitMs} ms; commit ${machine.commit}`
