import { z } from 'zod'
import { baseUrl, decimal, whole } from './setting.ts'

/** Settings of request logs and traces (src/platform/config/schema.ts has the others). */
export const logSettings = {
  LOG_REQUESTS: z
    .enum(['failures', 'all', 'off'], 'must be failures, all or off')
    .default('failures')
    .describe(
      '`failures` logs requests that were refused, failed or took longer than `SLOW_MS` (within limits) and a summary a minute; `all` every request; `off` nothing',
    ),
  OTEL_EXPORTER_OTLP_ENDPOINT: baseUrl
    .optional()
    .describe('receiver of traces (OTLP over HTTP, `/v1/traces` below it), with `OTEL_EXPORTER_OTLP_HEADERS`'),
  OTEL_SERVICE_NAME: z.string().min(1).default('gatehouse').describe('name of this service in traces'),
  OTEL_TRACES_SAMPLER_ARG: decimal(0, 1).default(1).describe('share of requests that are traced, from 0 to 1'),
  SLOW_MS: whole(1, 600_000).default(1_000).describe('milliseconds after which a request counts as slow in the log'),
}
