import { expect, it } from 'vitest'
import { nearestPath } from '../../src/ticketing/mws-wire/index.ts'

it.each([
  ['/mtp/api/order/consume', '/mtp/api/order/consume/notice'],
  ['/mtp/api/order/consum/notice', '/mtp/api/order/consume/notice'],
  ['/mtp/api/order/consume/notice/', '/mtp/api/order/consume/notice'],
  ['/mtp/api//order/refund/notice', '/mtp/api/order/refund/notice'],
  ['/mtp/api/Order/Pay/Notice', '/mtp/api/order/pay/notice'],
  ['/mtp/api/deal/notice', '/mtp/api/deal/change/notice'],
  ['/rhone/lv/order/consume/notice', '/rhone/mtp/api/order/consume/notice'],
  ['/rhone/order/reschedule/notice', '/rhone/mtp/api/order/reschedule/notice'],
  ['/mtp/api/test/ba', '/mtp/api/order/test/ba'],
])('a call to %s was meant for %s', (path, meant) => {
  expect(nearestPath(['', '/rhone'], path)).toBe(meant)
})

it('a very long path is not compared', () => {
  expect(nearestPath([''], `/mtp/api/${'x'.repeat(1_000)}`)).toBeUndefined()
})
