import { openContext, reportFailure, runMigrations } from './operations/cli/index.ts'

/** `npm run migrate`, for deployments with MIGRATE=off. */
await runMigrations(openContext(process), false).catch((error: unknown) => {
  process.exitCode = reportFailure(process, error, false)
})
