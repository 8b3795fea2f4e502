/**
 * Every check that a step can make. `error`: the step fails; `warning`: it is shown. Adding a check is adding an entry and
 * its text.
 */

interface Check {
  readonly text: string
  readonly level: 'error' | 'warning'
}

export const CHECKS = {
  reached: { text: 'sandbox.check.reached', level: 'error' },
  'http-status': { text: 'sandbox.check.http_status', level: 'error' },
  'content-type': { text: 'sandbox.check.content_type', level: 'warning' },
  'answer-time': { text: 'sandbox.check.answer_time', level: 'warning' },
  encryption: { text: 'sandbox.check.encryption', level: 'error' },
  json: { text: 'sandbox.check.json', level: 'error' },
  code: { text: 'sandbox.check.code', level: 'error' },
  'usual-code': { text: 'sandbox.check.usual_code', level: 'warning' },
  'signature-checked': { text: 'sandbox.check.signature_checked', level: 'error' },
  'client-checked': { text: 'sandbox.check.client_checked', level: 'error' },
  // No seller's program in the field looks at the age of the Date.
  'date-checked': { text: 'sandbox.check.date_checked', level: 'warning' },
  fields: { text: 'sandbox.check.fields', level: 'error' },
  'soft-fields': { text: 'sandbox.check.soft_fields', level: 'warning' },
  'no-secrets': { text: 'sandbox.check.no_secrets', level: 'error' },
  'partner-id': { text: 'sandbox.check.partner_id', level: 'error' },
  'order-id': { text: 'sandbox.check.order_id', level: 'error' },
  'product-found': { text: 'sandbox.check.product_found', level: 'error' },
  'not-empty': { text: 'sandbox.check.not_empty', level: 'error' },
  'in-range': { text: 'sandbox.check.in_range', level: 'error' },
  'order-state': { text: 'sandbox.check.order_state', level: 'error' },
  'same-order': { text: 'sandbox.check.same_order', level: 'error' },
  'same-vouchers': { text: 'sandbox.check.same_vouchers', level: 'error' },
  'refund-state': { text: 'sandbox.check.refund_state', level: 'error' },
  'refund-id': { text: 'sandbox.check.refund_id', level: 'error' },
  'reschedule-count': { text: 'sandbox.check.reschedule_count', level: 'error' },
  'order-status': { text: 'sandbox.check.order_status', level: 'error' },
  vouchers: { text: 'sandbox.check.vouchers', level: 'error' },
  'notice-arrived': { text: 'sandbox.check.notice_arrived', level: 'error' },
  'notice-accepted': { text: 'sandbox.check.notice_accepted', level: 'error' },
  quantities: { text: 'sandbox.check.quantities', level: 'error' },
  'earlier-step': { text: 'sandbox.check.earlier_step', level: 'error' },
  platform: { text: 'sandbox.check.platform', level: 'error' },
} as const satisfies Readonly<Record<string, Check>>

export type CheckId = keyof typeof CHECKS

export const levelOf = (id: CheckId): Check['level'] => CHECKS[id].level
