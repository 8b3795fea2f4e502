import { explainedText } from './explain.ts'
import { answerText, storyText } from './order-text.ts'
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
  product_show: productText,
  product_pull: pullText,
  product_pull_prices: pricesText,
  traffic_show: trafficText,
} satisfies Readonly<Record<string, (output: never) => string>>

export const ownText = (id: string): ((output: object) => string) | undefined =>
  Object.hasOwn(TEXTS, id) ? (TEXTS[id as keyof typeof TEXTS] as (output: object) => string) : undefined
