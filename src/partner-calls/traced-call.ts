import type { Deps } from '../deps.ts'
import type { SpanFacts } from '../lib/tracing.ts'
import type { CallRecord } from './call-store.ts'

const factsOf = ({ partner_id, http_status, code, failure }: CallRecord): SpanFacts => ({
  'gatehouse.partner_id': String(partner_id),
  ...(http_status === null ? {} : { 'http.response.status_code': http_status }),
  ...(code === null ? {} : { 'gatehouse.code': code }),
  ...(failure === null ? {} : { 'error.type': failure }),
})

/**
 * Makes a call; where traces are sent, as a part of the one that it belongs to. `headers` are sent along: `traceparent`,
 * with which the partner can go on with the trace.
 */
export const inTrace = <Made extends { readonly record: CallRecord }>(
  { tracing }: Deps,
  name: string,
  exchange: (headers: Readonly<Record<string, string>>) => Promise<Made>,
): Promise<Made> =>
  tracing
    ? tracing.call(
        `POST ${name}`,
        ({ traceparent }) => exchange({ traceparent }),
        ({ record }) => factsOf(record),
      )
    : exchange({})
