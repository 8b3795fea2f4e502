import type { Config } from '../config/index.ts'
import type { Log } from '../lib/log.ts'
import type { Tracing } from '../lib/tracing.ts'

/** Traces, where the settings ask for them. OpenTelemetry is loaded only then: it takes memory and half a second. */
export async function openTracing(config: Config, log: Log): Promise<Tracing | undefined> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } = config
  if (endpoint === undefined) return undefined
  const { openOtlpTracing } = await import('./otlp-tracing.ts')
  return openOtlpTracing(endpoint, config, log)
}
