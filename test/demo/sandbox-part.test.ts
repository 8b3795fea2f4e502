import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDemoPartner } from '../../src/demo/sandbox-part.ts'

/** Calls that a fake control API recorded. */
const calls: (readonly [path: string, input: unknown])[] = []
let server: Server
let baseUrl: string
beforeAll(async () => {
  server = createServer(async (request, response) => {
    const body = await text(request)
    if (request.method === 'POST') calls.push([String(request.url), JSON.parse(body)])
    response.end('{"notices":[]}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => server.close())

describe('the demo partner’s part of a run', () => {
  it.each([
    [
      'uses as many tickets as the notice has to report, not the whole order',
      { path: '/mtp/api/order/consume/notice', about: { orderId: '12', quantity: '2', usedQuantity: '1' } },
      ['/control/consume', { orderId: '12', quantity: 1 }],
    ],
    [
      'approves the refund',
      { path: '/mtp/api/order/refund/notice', about: { code: '200', orderId: '12', refundId: 'r1' } },
      ['/control/decide-refund', { refundId: 'r1', approve: true }],
    ],
    [
      'puts the product on sale again',
      { path: '/mtp/api/deal/change/notice', about: { partnerDealId: 'DEMO-BOAT', status: '1' } },
      ['/control/change-product', { partnerDealId: 'DEMO-BOAT', onSale: true }],
    ],
  ])('%s', async (_title, awaited, expected) => {
    const act = await openDemoPartner(baseUrl)
    await act(awaited)
    expect(calls.at(-1)).toEqual(expected)
  })
})
