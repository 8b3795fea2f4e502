import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { startEmbedded } from '../../src/platform/db/embedded/server.ts'
import { deriveKeys } from '../../src/platform/lib/crypto/keys.ts'
import { openLog } from '../../src/platform/lib/log.ts'
import { everybodyUrl, makeWhole } from '../one-table.ts'
import {
  ALL_PROCESSES,
  type Connection,
  type Contestant,
  type GatehouseOptions,
  type Name,
  startGatehouse,
  startModule,
} from './contestants/contestant.ts'
import { newDataFolder, removeDataFolder } from './data-folder.ts'
import type { Endings } from './endings.ts'
import { fillWorld } from './fixtures/fill.ts'
import type { FilledWorld } from './fixtures/world.ts'
import { type LoadGenerator, startGenerator } from './load/drive.ts'
import { FEW_TOKENS, type Options } from './options.ts'
import { BENCH } from './verify.ts'

/** Everything that runs during a benchmark. */
export interface Stage {
  /** The database of a contestant; all except gatehouse-10k share one. */
  worldOf(name: Name): FilledWorld
  readonly contestants: ReadonlyMap<Name, Contestant>
  readonly generator: LoadGenerator
  /** Process id of the PostgreSQL server. */
  readonly databasePid: number
}

/** Starts the same PostgreSQL as `npm start`, starts the contestants on it, and fills it. */
export async function setStage(options: Options, endings: Endings, progress: (text: string) => void): Promise<Stage> {
  const folder = newDataFolder()
  endings.add(() => removeDataFolder(folder))
  const server = await startEmbedded(folder, openLog({ level: 'error', pretty: false }))
  endings.add(() => server.stop())
  const secretKey = randomBytes(48).toString('base64')
  const contestants = new Map<Name, Contestant>()
  const add = async (starting: Promise<Contestant>) => {
    const contestant = await starting
    contestants.set(contestant.name, contestant)
    endings.add(() => contestant.stop())
  }
  /** Starts Gatehouse first, as it creates the schema, then fills the database. */
  const openWorld = async (name: GatehouseOptions['name'], databaseUrl: string, tokens: number) => {
    const shards = Number(options.settings.SHARDS ?? 1)
    const connectionString = everybodyUrl(databaseUrl, shards)
    const pool = new pg.Pool({ connectionString, max: 4, application_name: BENCH })
    pool.on('error', () => {})
    endings.add(() => pool.end())
    progress(`starting ${name}`)
    await add(startGatehouse({ ...options, name, databaseUrl, secretKey, folder }))
    const client = await pool.connect()
    await makeWhole(client, shards).finally(() => client.release())
    return fillWorld({ pool, keys: deriveKeys(secretKey), folder }, tokens, progress)
  }
  const connection: Connection = { databaseUrl: server.databaseUrl, secretKey }
  const world = await openWorld('gatehouse', server.databaseUrl, options.tokens)
  let small = world
  if (options.tokens > FEW_TOKENS) {
    await world.pool.query('create database few_tokens')
    const url = Object.assign(new URL(server.databaseUrl), { pathname: 'few_tokens' })
    small = await openWorld('gatehouse-10k', url.href, FEW_TOKENS)
  }
  for (const name of options.contestants) {
    if (name === 'gatehouse') continue
    const settings = { ...options.settings, HTTP_PROCESSES: 'auto' }
    await add(
      name === ALL_PROCESSES
        ? startGatehouse({ ...options, ...connection, name, folder, settings })
        : startModule(name, connection),
    )
  }
  const generator = startGenerator()
  endings.add(() => generator.stop())
  const { rows } = await world.pool.query(`select pg_read_file('postmaster.pid') as text`)
  return {
    worldOf: (name) => (name === 'gatehouse-10k' ? small : world),
    contestants,
    generator,
    databasePid: Number.parseInt(rows[0].text, 10),
  }
}
