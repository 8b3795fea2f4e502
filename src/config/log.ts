import { z } from 'zod'
import { whole } from './setting.ts'

/** What is written and sent about requests (src/config/schema.ts has the others). */
export const logSettings = {
  LOG_REQUESTS: z
    .enum(['failures', 'all', 'off'], 'must be failures, all or off')
    .default('failures')
    .describe(
      '`failures` logs each request that was refused, failed or took longer than `SLOW_MS` (ten lines a second for each caller, a hundred in all, the rest counted) and a summary a minute; `all` logs every request, without a limit; `off` none, and no summary',
    ),
  SLOW_MS: whole(1, 600_000).default(1_000).describe('milliseconds after which a request counts as slow in the log'),
}
