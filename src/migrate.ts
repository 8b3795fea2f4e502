import { openContext } from './cli/context.ts'
import { runMigrations } from './cli/migrate.ts'
import { reportFailure } from './cli/report.ts'

/** `npm run migrate`, for those who set MIGRATE=off. */
await runMigrations(openContext(process), false).catch((error: unknown) => {
  process.exitCode = reportFailure(process, error, false)
})
