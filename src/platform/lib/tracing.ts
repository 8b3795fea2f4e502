/**
 * Traces (OpenTelemetry), as the rooms see them. There are none unless OTEL_EXPORTER_OTLP_ENDPOINT is set: then
 * src/operations/metrics/otlp-tracing.ts implements this, and is not even loaded otherwise.
 */

export type SpanAttributes = Readonly<Record<string, string | number>>

export interface Span {
  readonly traceId: string
  /** For the next service (W3C Trace Context). */
  readonly traceparent: string
  /** `failed` where it was our fault, or the other side's. Attributes hold no secret and nothing that a caller has sent. */
  end(name: string, attributes: SpanAttributes, failed: boolean): void
}

export interface Tracing {
  /** A request that has come; goes on with the trace of `traceparent`, if that is one. */
  begin(traceparent: string | undefined): Span
  /** What `work` begins, at once or later, belongs to the span. */
  within<T>(span: Span, work: () => T): T
  /** A call to another service as a span of its own, with the attributes of its result; it has failed if `error.type` is one of them. */
  call<T>(name: string, work: (span: Span) => Promise<T>, attributesOf: (result: T) => SpanAttributes): Promise<T>
  /** A statement as a span of its own, where there is something that it belongs to. */
  statement<T>(text: string, work: () => Promise<T>): Promise<T>
  /** Work without a request, such as a durable job, as a trace of its own. */
  job<T>(name: string, work: () => Promise<T>): Promise<T>
  /** Sends what is left. */
  close(): Promise<void>
}
