export type SpanAttributes = Readonly<Record<string, string | number>>

export interface Span {
  readonly traceId: string
  /** To pass to the next service (W3C Trace Context). */
  readonly traceparent: string
  /** `failed`: an error of ours or of the other side. Attributes must hold no secret and nothing that a caller sent. */
  end(name: string, attributes: SpanAttributes, failed: boolean): void
}

/** Tracing by OpenTelemetry (src/operations/metrics/otlp-tracing.ts), with OTEL_EXPORTER_OTLP_ENDPOINT. */
export interface Tracing {
  /** Begins the span of an incoming request; continues the trace of a valid `traceparent`. */
  begin(traceparent: string | undefined): Span
  /** Spans that `work` begins, at once or later, become children of `span`. */
  within<T>(span: Span, work: () => T): T
  /** A span for a call to another service, with attributes of its result; failed if `error.type` is among them. */
  call<T>(name: string, work: (span: Span) => Promise<T>, attributesOf: (result: T) => SpanAttributes): Promise<T>
  /** A span for a statement, if there is a parent. */
  statement<T>(text: string, work: () => Promise<T>): Promise<T>
  /** A new trace for work without a request, such as a durable job. */
  job<T>(name: string, work: () => Promise<T>): Promise<T>
  close(): Promise<void>
}
