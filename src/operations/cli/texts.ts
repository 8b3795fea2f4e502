import { explainedText } from './explain.ts'
import { answerText, storyText } from './order-text.ts'
import { membersText, partnerText, resetText } from './partner-text.ts'
import { pricesText, productText, pullText } from './product-text.ts'
import { trafficText } from './traffic-text.ts'

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
