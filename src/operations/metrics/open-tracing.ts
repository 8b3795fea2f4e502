import type { Config } from '../../platform/config/index.ts'
import type { Log } from '../../platform/lib/log.ts'
import type { Tracing } from '../../platform/lib/tracing.ts'

/** Opens tracing if it is configured. OpenTelemetry is loaded only then, as it takes memory and half a second. */
export async function openTracing(config: Config, log: Log): Promise<Tracing | undefined> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } = config
  if (endpoint === undefined) return undefined
  const { openOtlpTracing } = await import('./otlp-tracing.ts')
  return openOtlpTracing(endpoint, config, log)
}
