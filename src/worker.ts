import './platform/lib/no-debugger.ts'
import closeWithGrace from 'close-with-grace'
import { refuseDemoRows } from './demo/index.ts'
import { startWorker } from './operations/jobs/index.ts'
import { readConfig } from './platform/config/index.ts'
import { awaitDatabase } from './platform/db/await-database.ts'
import { nodesOfShards } from './platform/db/citus.ts'
import { findDatabase } from './platform/db/find-database.ts'
import { checkSecretKey } from './platform/db/installation.ts'
import { checkShards } from './platform/db/shard-count.ts'
import { openLog } from './platform/lib/log.ts'
import { openDeps } from './process/index.ts'

/** `npm run worker`: runs durable jobs in a separate process, for services with JOBS=off on the same database. */
const starting = new AbortController()
let failure: Error | undefined
const worker = start().catch((error: Error) => {
  if (starting.signal.aborted && !failure) process.exit(0) // stopped while waiting for the database
  process.stderr.write(`The worker cannot run:\n${String(failure ?? error.message).replace(/^/gm, '  ')}\n`)
  process.exit(1)
})
await worker

async function start() {
  const config = readConfig()
  const log = openLog({ level: config.LOG_LEVEL, pretty: config.NODE_ENV === 'development' })
  closeWithGrace({ delay: (config.SHUTDOWN_GRACE_S + 5) * 1000, logger: false }, async ({ err }) => {
    failure = err
    starting.abort()
    const { stop } = await worker
    if (err) log.fatal({ err }, 'exiting because of an unexpected failure')
    await stop()
  })
  const { signal } = starting
  if (config.DATABASE_URL) await awaitDatabase(config.DATABASE_URL, { seconds: config.DATABASE_WAIT_S, log, signal })
  const { databaseUrl, secretKey, stop: closeDatabase } = await findDatabase(config, log)
  await checkShards(databaseUrl, config.SHARDS)
  const nodes = await nodesOfShards(databaseUrl, config.SHARDS)
  const { deps, close } = await openDeps(config, log, { databaseUrl, secretKey, nodes })
  await checkSecretKey(deps)
  if (config.NODE_ENV === 'production') await refuseDemoRows(deps)
  const jobs = await startWorker(deps, log, databaseUrl)
  log.info('running durable jobs')
  const stop = async () => {
    await jobs.stop()
    await close()
    await closeDatabase()
  }
  return { stop }
}
