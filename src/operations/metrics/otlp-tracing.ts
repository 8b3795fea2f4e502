import { AsyncLocalStorage } from 'node:async_hooks'
import {
  type Context,
  DiagLogLevel,
  diag,
  type Span as OtelSpan,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import { parseTraceParent } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { Config } from '../../platform/config/index.ts'
import type { Log } from '../../platform/lib/log.ts'
import type { Span, SpanAttributes, Tracing } from '../../platform/lib/tracing.ts'
import { VERSION } from '../../platform/lib/version.ts'

const MAX_WAITING = 4_096
const MAX_TEXT = 2_000
const EXPORT_MS = 5_000

interface OurSpan extends Span {
  readonly context: Context
}

/** Sends spans to an OTLP/HTTP receiver. Loaded only where OTEL_EXPORTER_OTLP_ENDPOINT is set (open-tracing.ts). */
export function openOtlpTracing(endpoint: string, config: Config, log: Log): Tracing {
  const warn = (message: string) => log.warn({ reason: message.slice(0, 300) }, 'traces could not be sent')
  const quiet = () => {}
  diag.setLogger({ error: warn, warn, info: quiet, debug: quiet, verbose: quiet }, DiagLogLevel.WARN)
  const ratio = new TraceIdRatioBasedSampler(config.OTEL_TRACES_SAMPLER_ARG)
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': config.OTEL_SERVICE_NAME, 'service.version': VERSION }),
    // Anybody can send a traceparent, so it must not decide how much is sampled.
    sampler: new ParentBasedSampler({ root: ratio, remoteParentSampled: ratio, remoteParentNotSampled: ratio }),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: new OTLPTraceExporter({ url: `${endpoint}/v1/traces`, timeoutMillis: EXPORT_MS }),
        maxQueueSize: MAX_WAITING,
        scheduledDelayMillis: 1_000,
      }),
    ],
  })
  const tracer = provider.getTracer('gatehouse', VERSION)
  const current = new AsyncLocalStorage<Context>()

  const spanOf = (otel: OtelSpan, parent: Context): OurSpan => {
    const { traceId, spanId, traceFlags } = otel.spanContext()
    return {
      traceId,
      traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`,
      context: trace.setSpan(parent, otel),
      end: (name, attributes, failed) => {
        otel.updateName(name).setAttributes(attributes)
        if (failed) otel.setStatus({ code: SpanStatusCode.ERROR })
        otel.end()
      },
    }
  }
  const begin = (name: string, kind: SpanKind, parent: Context): OurSpan =>
    spanOf(tracer.startSpan(name, { kind }, parent), parent)

  const run = async <T>(
    name: string,
    span: OurSpan,
    work: () => Promise<T>,
    attributesOf: (result: T) => SpanAttributes,
  ): Promise<T> => {
    try {
      const result = await current.run(span.context, work)
      const attributes = attributesOf(result)
      span.end(name, attributes, 'error.type' in attributes)
      return result
    } catch (error) {
      span.end(name, { 'error.type': error instanceof Error ? error.name : 'unknown' }, true)
      throw error
    }
  }

  return {
    begin: (traceparent) => {
      const remote = traceparent === undefined ? null : parseTraceParent(traceparent)
      const parent = remote ? trace.setSpanContext(ROOT_CONTEXT, { ...remote, isRemote: true }) : ROOT_CONTEXT
      return begin('request', SpanKind.SERVER, parent)
    },
    within: (span, work) => current.run((span as OurSpan).context, work),
    call: (name, work, attributesOf) => {
      const span = begin(name, SpanKind.CLIENT, current.getStore() ?? ROOT_CONTEXT)
      return run(name, span, () => work(span), attributesOf)
    },
    statement: (text, work) => {
      const parent = current.getStore()
      if (!parent) return work()
      const verb = /\b(select|insert|update|delete|begin|commit)\b/i.exec(text)?.[1]?.toUpperCase() ?? 'SQL'
      const attributes = { 'db.system.name': 'postgresql', 'db.query.text': text.slice(0, MAX_TEXT) }
      return run(verb, begin(verb, SpanKind.CLIENT, parent), work, () => attributes)
    },
    job: (name, work) => run(name, begin(name, SpanKind.INTERNAL, ROOT_CONTEXT), work, () => ({})),
    close: () => provider.shutdown().catch((error: Error) => warn(error.message)), // a shutdown must not fail with it
  }
}
