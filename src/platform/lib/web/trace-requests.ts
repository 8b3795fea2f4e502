import type { FastifyInstance } from 'fastify'
import type { Tracing } from '../tracing.ts'

/** An orchestrator asks every second or two. */
const PROBES: readonly unknown[] = ['/healthz', '/readyz']

/** Creates a span for each request but probes, named by its route pattern, since the URL may hold secrets. */
export function traceRequests(app: FastifyInstance, tracing: Tracing): void {
  app.addHook('onRequest', (request, _reply, done) => {
    if (PROBES.includes(request.routeOptions.url)) return done()
    const { traceparent } = request.headers
    request.span = tracing.begin(typeof traceparent === 'string' ? traceparent : undefined)
    tracing.within(request.span, done)
  })
  // Entered again, because the context is lost while a body is read.
  app.addHook('preHandler', (request, _reply, done) => (request.span ? tracing.within(request.span, done) : done()))
  app.addHook('onResponse', (request, { statusCode }, done) => {
    const { method, routeOptions, logNote, span } = request
    const route = routeOptions.url ?? '(no route)'
    const attributes = {
      'http.request.method': method,
      'http.route': route,
      'http.response.status_code': statusCode,
      'gatehouse.request_id': request.id,
      ...(logNote?.code === undefined ? {} : { 'gatehouse.code': logNote.code }),
    }
    span?.end(`${method} ${route}`, attributes, statusCode >= 500)
    done()
  })
}
