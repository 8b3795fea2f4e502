import { randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { startEmbedded } from '../../src/db/embedded/server.ts'
import { deriveKeys } from '../../src/lib/keys.ts'
import { openLog } from '../../src/lib/log.ts'
import { type Contestant, type Name, ROOT, startGatehouse, startModule } from './contestants/contestant.ts'
import { grantIdOf } from './fixtures/people.ts'
import { seedPeople } from './fixtures/seed.ts'
import { seedAccessTokens, seedRefreshTokens } from './fixtures/tokens.ts'
import { APPS } from './fixtures/world.ts'
import { type LoadGenerator, startGenerator } from './load/drive.ts'
import type { Options } from './options.ts'
import { BENCH } from './verify.ts'
import type { FilledWorld } from './works.ts'

/** Everything that runs during a benchmark. */
export interface Stage {
  readonly world: FilledWorld
  readonly contestants: ReadonlyMap<Name, Contestant>
  readonly generator: LoadGenerator
  /** Process of the PostgreSQL server. */
  readonly databasePid: number
  stop(): Promise<void>
}

/** One user for so many tokens. */
const TOKENS_A_USER = 5
const MOST_REFRESH_TOKENS = 50_000

/** Starts the one PostgreSQL that `npm start` would start, the contestants on it, and fills it. */
export async function setStage(options: Options, progress: (text: string) => void): Promise<Stage> {
  mkdirSync(join(ROOT, '.data'), { recursive: true })
  const folder = mkdtempSync(join(ROOT, '.data', 'bench-'))
  chmodSync(folder, 0o755)
  const endings: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })]
  const stop = async () => {
    for (const end of endings.reverse()) await end()
    endings.length = 0
  }
  try {
    const server = await startEmbedded(folder, openLog({ level: 'error', pretty: false }))
    endings.push(() => server.stop())
    const pool = new pg.Pool({ connectionString: server.databaseUrl, max: 4, application_name: BENCH })
    pool.on('error', () => {})
    endings.push(() => pool.end())
    const secretKey = randomBytes(48).toString('base64')
    const connection = { databaseUrl: server.databaseUrl, secretKey }
    const contestants = new Map<Name, Contestant>()
    const add = (contestant: Contestant) => {
      contestants.set(contestant.name, contestant)
      endings.push(() => contestant.stop())
    }
    progress('starting PostgreSQL and the contestants')
    // First, because it brings the schema that the others use.
    add(await startGatehouse({ ...connection, ...options, folder }))
    for (const name of options.contestants) if (name !== 'gatehouse') add(await startModule(name, connection))
    const generator = startGenerator()
    endings.push(() => generator.stop())
    progress(`filling the database with ${options.tokens.toLocaleString('en')} live tokens`)
    const world = await fill({ pool, keys: deriveKeys(secretKey), folder, options })
    const { rows } = await pool.query(`select pg_read_file('postmaster.pid') as text`)
    return { world, contestants, generator, databasePid: Number.parseInt(rows[0].text, 10), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

interface Filling extends Pick<FilledWorld, 'pool' | 'keys' | 'folder'> {
  readonly options: Options
}

async function fill({ options, ...parts }: Filling): Promise<FilledWorld> {
  const users = Math.max(100, Math.ceil(options.tokens / TOKENS_A_USER))
  const world = { ...parts, users, tokens: options.tokens }
  await seedPeople(world)
  const live = await seedAccessTokens(world)
  const grant = (user: number) => grantIdOf(APPS.fixed, user)
  const refresh = await seedRefreshTokens(world, APPS.fixed, grant, Math.min(options.tokens, MOST_REFRESH_TOKENS))
  await world.pool.query('vacuum analyze')
  await world.pool.query('checkpoint')
  return { ...world, live, refresh }
}
