import { INTERFACES, type InterfaceName } from '../interfaces/index.ts'
import type { Locale } from '../lib/web/locale.ts'

const ZH: Readonly<Record<InterfaceName, string>> = {
  'poi-pull': '拉取景点',
  'product-pull': '拉取产品',
  'price-calendar': '价格日历',
  'level-price-calendar': '层级价格日历',
  'order-create': '创建订单',
  'order-pay': '支付订单（出票）',
  'order-query': '查询订单',
  'order-refund': '退款',
  'order-refunded': '已退款消息',
  'order-close': '关闭订单',
  'order-reschedule': '改签',
  'balance-query': '查询余额',
  'product-status': '产品状态消息',
  heartbeat: '心跳',
}

/** The name of an interface in the reader's language; undefined for any other text. */
export function interfaceTitle(name: string, locale: Locale): string | undefined {
  const entry = INTERFACES.find((candidate) => candidate.name === name)
  return entry && (locale === 'en' ? entry.title : ZH[entry.name])
}
