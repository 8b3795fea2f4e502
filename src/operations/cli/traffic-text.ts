import type { OutputOf } from '../../platform/lib/json/input.ts'
import type { showTraffic } from '../../sandbox/portal/index.ts'
import { aligned, readable } from './text.ts'

type OneOfTraffic = OutputOf<typeof showTraffic>

/** One call or notice with what was sent and answered. */
export function trafficText({ request, response, failure, ...entry }: OneOfTraffic): string {
  const { kind, id, partner_id, at, name, outcome, order_id, code, duration_ms, verified, mistakes, warnings } = entry
  const facts = {
    ...{ id: `${kind}/${id}`, at, partner_id, what: name, outcome, order_id, code, duration_ms, verified },
    ...(entry.cause === null ? {} : { cause: causeOf(entry) }),
    ...{ why: failure?.detail, mistakes, warnings, address: `${request.method} ${request.url}` },
  }
  const texts = [
    messageText('sent', request, entry.masked),
    ...(response ? [messageText(`answered with HTTP ${readable(response.status)}`, response, entry.masked)] : []),
  ]
  return [aligned(Object.entries(facts).map(([field, value]) => [field, readable(value)])), ...texts].join('\n\n')
}

const causeOf = ({ cause, cause_ref }: Pick<OneOfTraffic, 'cause' | 'cause_ref'>): string =>
  [cause, cause_ref].filter(Boolean).join(' ')

type Message = Pick<OneOfTraffic['request'], 'headers' | 'body' | 'cut_from'>

const messageText = (title: string, { headers = [], body, cut_from }: Message, isMasked: boolean): string =>
  [
    `${title}${isMasked ? ' (masked)' : ''}${cut_from === undefined ? '' : ` (the beginning of ${cut_from} characters)`}:`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
    body === '' ? '-' : body,
  ].join('\n')
