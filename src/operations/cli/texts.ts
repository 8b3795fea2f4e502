import type { OutputOf } from '../../platform/lib/json/input.ts'
import type { showTraffic } from '../../sandbox/portal/index.ts'
import { explainedText } from './explain.ts'
import { answerText, storyText } from './order-text.ts'
import { membersText, partnerText, resetText } from './partner-text.ts'
import { pricesText, productText, pullText } from './product-text.ts'
import { aligned, readable } from './text.ts'

type OneOfTraffic = OutputOf<typeof showTraffic>

/** One call or notice with what was sent and answered. */
function trafficText({ request, response, failure, ...entry }: OneOfTraffic): string {
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

/** What commands print where facts and tables do not do, by the id of their rows. */
const TEXTS = {
  explain: explainedText,
  order_create: answerText,
  order_pay: answerText,
  order_query: answerText,
  order_refund: answerText,
  order_refunded: answerText,
  order_close: answerText,
  order_show: storyText,
  partner_show: partnerText,
  partner_create: partnerText,
  partner_update: partnerText,
  partner_contact: partnerText,
  partner_rotate_webhook_secret: partnerText,
  partner_stage: partnerText,
  partner_activate: partnerText,
  partner_suspend: partnerText,
  partner_rotate_secret: partnerText,
  partner_switch_signing: partnerText,
  partner_retire_secret: partnerText,
  partner_set_aes_key: partnerText,
  partner_make_aes_key: partnerText,
  partner_remove_aes_key: partnerText,
  partner_members_list: membersText,
  partner_members_invite: membersText,
  partner_members_remove: membersText,
  partner_reset_breaker: resetText,
  product_show: productText,
  product_pull: pullText,
  product_pull_prices: pricesText,
  traffic_show: trafficText,
} satisfies Readonly<Record<string, (output: never) => string>>

export const ownText = (id: string): ((output: object) => string) | undefined =>
  Object.hasOwn(TEXTS, id) ? (TEXTS[id as keyof typeof TEXTS] as (output: object) => string) : undefined
