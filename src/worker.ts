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
async function start() {
  const config = readConfig()
  const log = openLog({ level: config.LOG_LEVEL, pretty: config.NODE_ENV === 'development' })
  if (config.DATABASE_URL) await awaitDatabase(config.DATABASE_URL, { seconds: config.DATABASE_WAIT_S, log })
  const { databaseUrl, secretKey, stop: closeDatabase } = await findDatabase(config, log)
  await checkShards(databaseUrl, config.SHARDS)
  const nodes = await nodesOfShards(databaseUrl, config.SHARDS)
  const { deps, close } = await openDeps(config, log, { databaseUrl, secretKey, nodes })
  await checkSecretKey(deps)
  if (config.NODE_ENV === 'production') await refuseDemoRows(deps)
  const worker = await startWorker(deps, log, databaseUrl)
  closeWithGrace({ delay: (config.SHUTDOWN_GRACE_S + 5) * 1000, logger: false }, async ({ err }) => {
    if (err) log.fatal({ err }, 'exiting because of an unexpected failure')
    await worker.stop()
    await close()
    await closeDatabase()
  })
  log.info('running durable jobs')
  await worker.ended
}

await start().catch((error: Error) => {
  process.stderr.write(`The worker cannot run:\n${error.message.replace(/^/gm, '  ')}\n`)
  process.exit(1)
})
