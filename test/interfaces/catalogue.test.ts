import { describe, expect, it } from 'vitest'
import { readShape } from '../../src/platform/lib/json/shape.ts'
import { INTERFACES, interfaceNamed } from '../../src/ticketing/interfaces/index.ts'

const order = { orderId: 8985652356562370000n, partnerOrderId: 'P-1' }
const visitor = { name: '张三', mobile: '13800000001', gender: 1, credentials: { 0: '11010119900101001X' } }

/** A request of each interface as the platform sends it, with its default path. */
const REQUESTS: Record<string, [path: string, request: unknown]> = {
  'poi-pull': ['/poi/query', { method: 'multi', partnerPoiId: ['A'] }],
  'product-pull': ['/product/query', { method: 'page', currentPage: 1, pageSize: 50 }],
  'price-calendar': ['/product/price/query', { partnerDealId: 'D', startTime: '2026-05-06', endTime: '2026-06-06' }],
  'level-price-calendar': [
    '/product/level/price/calendar/v2',
    { partnerDealId: 'D', startTime: '2026-05-06', endTime: '2026-06-06', asyncType: 1 },
  ],
  'order-create': [
    '/order/create',
    {
      orderId: 8985652356562370000n,
      partnerDealId: 'D',
      mtDealId: '9007199254740993',
      buyPrice: 90,
      unitPrice: '99.50',
      totalPrice: 199,
      quantity: 2,
      travelDate: '2026-05-07',
      visitors: [visitor],
      contactPerson: visitor,
      levelIds: ['L1'],
    },
  ],
  'order-pay': ['/order/pay', { ...order, partnerOrderId: '' }],
  'order-query': ['/order/query', order],
  'order-refund': [
    '/order/refund',
    {
      ...order,
      refundId: 'R1',
      partnerDealId: 'D',
      voucherList: ['V1'],
      refundQuantity: 1,
      unitPrice: 99.5,
      refundPrice: 99.5,
      refundFee: 0,
      refundTime: '2026-05-06 18:34:20',
    },
  ],
  'order-refunded': [
    '/order/refunded',
    {
      ...order,
      refundSerialNo: 'S1',
      refundPrice: -1,
      refundMessageType: 2,
      refundTime: '2026-05-06 18:34:20',
      count: 2,
    },
  ],
  'order-close': ['/order/close', { orderId: 1, closeType: 1 }],
  'order-reschedule': [
    '/order/reschedule',
    {
      ...order,
      rescheduleType: 1,
      rescheduleNo: 'N1',
      originDate: '2026-05-07',
      targetDate: '2026-05-08',
      rescheduleVisitors: [{ originVisitor: visitor, targetVisitor: visitor }],
    },
  ],
  'balance-query': ['/balance/query', { partnerDealIds: ['D'] }],
  'product-status': ['/product/status', [{ partnerDealId: 'D', status: 1, checkStatus: 9 }]],
  heartbeat: ['/alive', {}],
}

describe('the catalogue of partner interfaces', () => {
  it('holds each interface once, with its default path', () => {
    const listed = INTERFACES.map(({ name, defaultPath }) => [name, defaultPath])
    expect(listed).toEqual(Object.entries(REQUESTS).map(([name, [path]]) => [name, path]))
    expect(new Set(listed.map(([, path]) => path)).size).toBe(listed.length)
  })

  it.each(Object.entries(REQUESTS))('%s accepts its request', (name, [, request]) => {
    const schema = interfaceNamed(name)?.request
    expect(schema && readShape(schema, request)).toHaveProperty('value')
  })

  it.each(INTERFACES.filter(({ name }) => name !== 'heartbeat'))('$name refuses a request without fields', (entry) => {
    expect(readShape(entry.request, {})).toHaveProperty('problems')
  })

  it('has no interface of another name', () => {
    expect(interfaceNamed('order-cancel')).toBeUndefined()
    expect(interfaceNamed('__proto__')).toBeUndefined()
  })

  it('lists no code as both pending and failed, and 200 as neither', () => {
    for (const { pending, failures } of INTERFACES) {
      const codes = [...Object.keys(pending), ...Object.keys(failures), '200']
      expect(new Set(codes).size).toBe(codes.length)
    }
  })
})
