import { MISTAKES, type Mistake } from '../../mistakes/mistakes.ts'
import type { Locale } from './locale.ts'

const ZH: Readonly<Record<Mistake, string>> = {
  'wrong-signature-accepted': '不校验签名',
  'stale-date-accepted': '不检查 Date',
  'unknown-client-accepted': '不检查 clientId',
  'order-create-not-idempotent': '重复创建同一订单时给出新的 partnerOrderId',
  'out-of-stock-sold': '没有库存也照样卖',
  'pay-again-issues-again': '重复支付时给出另外的凭证',
  'query-forgets-paid-order': '支付后查询不到订单',
  'refund-twice-refunds-twice': '重复的 refundId 会再次退票',
  'close-twice-fails': '第二次关闭订单时返回 300',
  'prices-out-of-range': '价格日历中有请求范围以外的日期',
  'prices-of-another-product': '价格日历是另一个产品的',
  'vouchers-do-not-fit-type': '支付返回的凭证比 voucherType 要求的少一个（无凭证时多一个）',
  'refund-answers-another-refund': '退款应答中是另一个 refundId',
  'reschedule-count-wrong': '改签返回成功，但 successCount 与票数不符',
  'answer-other-order-id': '应答中是另一个 orderId',
  'answer-rounded-order-id': '用普通 JSON 解析订单号，长订单号丢失末几位',
  'answer-missing-field': '应答缺少一个必填字段',
  'answer-wrong-types': '该是文本处给出数组，该是数字处给出文字',
  'answer-scripts': 'title、subTitle、name 和 describe 中含 HTML 和脚本',
  'answer-code-300': '对一切请求返回 300',
  'answer-other-partner-id': '应答中是另一个 partnerId',
  'answer-echoes-secrets': '在应答体和响应头中重复 Authorization 和自己的 clientSecret',
  'answer-too-large': '应答超过 2 MiB',
  'answer-http-500': 'HTTP 状态 500',
  'answer-redirects': 'HTTP 状态 302，转到其他地址',
  'answer-slow': '20 秒后才应答',
  'answer-wrong-content-type': '应答是 JSON，却声明为 text/html',
  'answer-empty': '应答没有内容',
  'answer-not-json': '应答是一个 HTML 页面',
  'notice-not-sent': '不发送通知；关闭此开关后再发出',
  'notice-wrong-signature': '用另一个密钥签名通知',
  'notice-local-time': '通知的 Date 写的是北京时间，却标为 GMT',
  'notice-missing-field': '缺少 usedQuantity、refundId 或产品的 status',
  'notice-rounded-order-id': '用普通 JSON 解析订单号，通知里的订单并不存在',
  'notice-sent-twice': '每个通知同时发送两次',
}

/** What each mistake does. */
export const MISTAKE_TEXTS: Readonly<Record<Locale, Readonly<Record<Mistake, string>>>> = { en: MISTAKES, 'zh-CN': ZH }
