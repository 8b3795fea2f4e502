import './platform/lib/no-debugger.ts'
import { refuseDemoRows } from './demo/index.ts'
import { startWorker } from './operations/jobs/index.ts'
import { readConfig } from './platform/config/index.ts'
import { awaitDatabase } from './platform/db/await-database.ts'
import { nodesOfShards } from './platform/db/citus.ts'
import { findDatabase } from './platform/db/find-database.ts'
import { checkSecretKey } from './platform/db/installation.ts'
import { checkShards } from './platform/db/shard-count.ts'
import { endInOrder } from './platform/lib/end-all.ts'
import { openLog } from './platform/lib/log.ts'
import { runProgram } from './platform/lib/run-program.ts'
import { openDeps } from './process/index.ts'

/** `npm run worker`: runs durable jobs in a separate process, for services with JOBS=off on the same database. */
await runProgram('The worker cannot run', async ({ signal, endWithin }) => {
  const config = readConfig()
  const log = openLog({ level: config.LOG_LEVEL, pretty: config.NODE_ENV === 'development' })
  endWithin(config.SHUTDOWN_GRACE_S + 5)
  if (config.DATABASE_URL) await awaitDatabase(config.DATABASE_URL, { seconds: config.DATABASE_WAIT_S, log, signal })
  const { databaseUrl, secretKey, stop: closeDatabase } = await findDatabase(config, log)
  await checkShards(databaseUrl, config.SHARDS)
  const nodes = await nodesOfShards(databaseUrl, config.SHARDS)
  const { deps, close } = await openDeps(config, log, { databaseUrl, secretKey, nodes })
  await checkSecretKey(deps)
  if (config.NODE_ENV === 'production') await refuseDemoRows(deps)
  const jobs = await startWorker(deps, log, databaseUrl)
  log.info('running durable jobs')
  return { log, stop: () => endInOrder(jobs.stop, close, closeDatabase) }
})
