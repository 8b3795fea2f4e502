import type { Deps } from '../deps.ts'
import type { OutputOf } from '../lib/json/input.ts'
import { parseLossless } from '../lib/json/lossless.ts'
import { beijingTime } from '../lib/time-zone.ts'
import type { showOrder } from '../orders/index.ts'
import { exchangesSince } from '../sandbox/index.ts'

/** The fields that are shown, in this order. */
const TOLD = [
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
  const told = TOLD.map((name) => [name, String(body[name] ?? '').replaceAll(',', ', ')])
  return told.flatMap(([name, value]) => (value === '' ? [] : [`${name} ${value}`])).join(' · ')
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

/** One call as a conversation: who asks whom for what, and the response. */
function conversation({ speaker, url, request, answer, failure }: OutputOf<typeof exchangesSince>[number]): string[] {
  const other = speaker === 'platform' ? 'partner' : 'platform'
  const [question, reply] = [read(request), read(answer)]
  const asked = [gist(question.body), codeOf(question)]
  return [
    ...lines(NAMES[speaker], `POST ${URL.canParse(url) ? new URL(url).pathname : url}`, asked),
    ...lines(NAMES[other], codeOf(reply) || `(${failure ?? 'no response'})`, [gist(reply), gist(reply.body)]),
  ]
}

/** Each call prints what the partner and the service have sent each other since the previous call. */
export function openTranscript(
  { db, clock }: Deps,
  partnerId: bigint,
  say: (line: string) => void,
): () => Promise<void> {
  const since = clock.now()
  const told = new Set<string>()
  return async () => {
    for (const call of await exchangesSince(db, partnerId, since)) {
      if (told.has(call.id)) continue
      told.add(call.id)
      for (const line of conversation(call)) say(line)
    }
  }
}

/** Every change of an order, its vouchers and refunds: when, why, and which fields. */
export const historyLines = (history: OutputOf<typeof showOrder>['history']): string[] =>
  history.map(({ at, cause, record, record_id, change }) => {
    const fields = Object.entries(change).map(([name, [before, after]]) =>
      before === null ? `${name} ${after}` : `${name} ${before} → ${after}`,
    )
    const subject = record === 'order' ? record : `${record} ${record_id}`
    return `  ${beijingTime(at)}  ${cause.padEnd(8)}  ${subject}: ${fields.join(', ')}`
  })
