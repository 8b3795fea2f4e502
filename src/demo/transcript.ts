import type { OutputOf } from '../platform/lib/json/input.ts'
import { parseLossless } from '../platform/lib/json/lossless.ts'
import { parsedUrl } from '../platform/lib/parsed-url.ts'
import { beijingTime } from '../platform/lib/time-zone.ts'
import type { showOrder } from '../ticketing/orders/index.ts'
import type { CallRecord } from '../ticketing/partner-calls/index.ts'
import type { SentNotice } from './sandbox-part.ts'

/** The fields that are shown, in this order. */
const SHOWN = [
  ...[
    'method',
    'currentPage',
    'pageSize',
    'totalSize',
    'partnerDealId',
    'date',
    'startTime',
    'travelDate',
    'settlementPrice',
    'mtPrice',
    'stock',
  ],
  ...['orderId', 'partnerOrderId', 'refundId', 'orderStatus', 'quantity', 'usedQuantity', 'refundedQuantity'],
  ...['buyPrice', 'unitPrice', 'totalPrice', 'refundQuantity', 'refundPrice', 'vouchers'],
]
const NAMES = { platform: 'Gatehouse', partner: 'Partner' } as const
const INDENT = 2 + NAMES.platform.length + 2

type Json = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null

/** The important fields of a body; for a longer list only its length and its entries' ids. */
function gist(body: unknown): string {
  if (Array.isArray(body)) {
    const ids = [...new Set(body.flatMap((entry: unknown) => (isObject(entry) ? (entry.partnerDealId ?? []) : [])))]
    return body.length === 1 ? gist(body[0]) : `${body.length} entries: ${ids.join(', ')}`
  }
  if (!isObject(body)) return ''
  const fields = SHOWN.map((name) => [name, String(body[name] ?? '').replaceAll(',', ', ')])
  return fields.flatMap(([name, value]) => (value === '' ? [] : [`${name} ${value}`])).join(' · ')
}

function read(text: string | null): Json {
  const json = parseLossless(Buffer.from(text ?? ''))
  return 'value' in json && isObject(json.value) ? json.value : {}
}

const codeOf = ({ code, describe }: Json): string => (code === undefined ? '' : `${code} ${describe}`)

/** Speaker and message; what does not fit on the line goes below it. */
const lines = (speaker: string, words: string, details: readonly string[]): string[] => [
  `  ${speaker.padEnd(INDENT - 2)}${words}`,
  ...details.filter((detail) => detail !== '').map((detail) => ' '.repeat(INDENT) + detail),
]

/** A call of the platform, and the partner's response. */
export function callLines({ url, request_body, response_body, failure_detail }: CallRecord): string[] {
  const [question, reply] = [read(request_body), read(response_body)]
  return [
    ...lines(NAMES.platform, `POST ${parsedUrl(url)?.pathname ?? url}`, [gist(question.body)]),
    ...lines(NAMES.partner, codeOf(reply) || `(${failure_detail ?? 'no response'})`, [gist(reply), gist(reply.body)]),
  ]
}

/** A notice of the partner, and the platform's response. */
export const noticeLines = ({ path, message, lastAnswer }: SentNotice): string[] => [
  ...lines(NAMES.partner, `POST ${path}`, [gist(message.body), codeOf(message)]),
  ...lines(NAMES.platform, lastAnswer.replace(/^(\d+): /, '$1 '), []),
]

/** Every change of an order, its vouchers and refunds: when, why, and which fields. */
export const historyLines = (history: OutputOf<typeof showOrder>['history']): string[] =>
  history.map(({ at, cause, record, record_id, change }) => {
    const fields = Object.entries(change).map(([name, [before, after]]) =>
      before === null ? `${name} ${after}` : `${name} ${before} → ${after}`,
    )
    const subject = record === 'order' ? record : `${record} ${record_id}`
    return `  ${beijingTime(at)}  ${cause.padEnd(8)}  ${subject}: ${fields.join(', ')}`
  })
