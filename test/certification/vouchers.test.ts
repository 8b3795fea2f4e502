import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseLossless, stringifyLossless } from '../../src/platform/lib/json/lossless.ts'
import { showOrder } from '../../src/ticketing/orders/show-order.ts'
import { updatePartner } from '../../src/ticketing/partners/partner.ts'
import { type Lab, openLab, type StepResult, walkTo } from '../sandbox/lab.ts'

/** The codes that partners report must be the issued ones, and match the quantities they report. */

let lab: Lab
beforeAll(async () => {
  lab = await openLab()
})
afterAll(() => lab.close())

const voucher = (code: string, status = 0) => ({
  ...{ voucher: code, voucherInvalidTime: '2099-01-01 00:00:00' },
  ...{ quantity: 1, status },
})
const aboutVouchers = ({ failures }: StepResult) =>
  failures.flatMap(({ id, level = 'error', path, expected, actual }) =>
    id === 'voucher-list' ? [{ level, path, expected, actual }] : [],
  )

describe('a consumption notice', () => {
  const consume = async (runId: string, listOf: (codes: string[]) => unknown): Promise<StepResult> =>
    lab.runStep(runId, 'consumption', async () => {
      const orderId = BigInt((await lab.awaited(runId)).about.orderId ?? '')
      const { order } = await showOrder(lab.world.deps, orderId)
      const voucherList = listOf(order.vouchers.map((one) => one.voucher))
      const ids = { orderId, partnerOrderId: order.partner_order_id }
      const body = { ...ids, quantity: 2, usedQuantity: 2, refundedQuantity: 0, voucherList }
      expect(await lab.send('/mtp/api/order/consume/notice', { partnerId: 7001, body })).toMatchObject({ code: 200 })
    })

  it('fails the step when it marks too few codes as used, and says how many it marks', async () => {
    const runId = await lab.run()
    await walkTo(lab, runId, 'consumption')
    const unused = await consume(runId, (codes) => codes.map((code) => voucher(code)))
    expect(unused.outcome).toBe('failed')
    expect(aboutVouchers(unused)).toMatchObject([
      {
        path: 'body.voucherList[].status',
        expected: 'vouchers for 2 tickets marked used',
        actual: 'vouchers for 0 tickets marked used',
      },
    ])
    const half = await consume(runId, ([one = '', other = '']) => [voucher(one, 1), voucher(other)])
    expect(aboutVouchers(half)).toMatchObject([{ actual: 'vouchers for 1 tickets marked used' }])
    const right = await consume(runId, (codes) => codes.map((code) => voucher(code, 1)))
    expect(right).toMatchObject({ outcome: 'passed', failures: [] })
  })

  it('is accepted from a live partner without voucherList, partnerId and PartnerId header, with a warning for each', async () => {
    await lab.world.pool.query(`update partner set stage = 'live'`)
    const runId = await lab.run()
    await walkTo(lab, runId, 'consumption')
    const result = await lab.runStep(runId, 'consumption', async () => {
      const { order } = await showOrder(lab.world.deps, BigInt((await lab.awaited(runId)).about.orderId ?? ''))
      const ids = { orderId: order.order_id, partnerOrderId: order.partner_order_id }
      const body = { ...ids, quantity: 2, usedQuantity: 2, refundedQuantity: 0 }
      await lab.send('/mtp/api/order/consume/notice', { body }, ['PartnerId'])
    })
    await lab.world.pool.query(`update partner set stage = 'sandbox'`)
    expect(result.outcome).toBe('passed')
    expect(result.failures.map(({ id, level, path }) => [id, level, path])).toEqual([
      ['envelope', 'warning', 'PartnerId'],
      ['envelope', 'warning', 'partnerId'],
      ['voucher-list', 'warning', 'body.voucherList'],
    ])
  })
})

describe('the answer to an order query', () => {
  let server: Server
  let listOf: (codes: string[]) => unknown = () => []
  let voucherType: number | string | undefined = 1
  beforeAll(async () => {
    server = createServer(async (request, response) => {
      const sent = parseLossless(Buffer.concat(await request.toArray())) as { value: { body: { orderId: number } } }
      const { orderId } = sent.value.body
      const { order } = await showOrder(lab.world.deps, BigInt(orderId))
      const numbers = { orderStatus: 4, orderQuantity: 2, usedQuantity: 0, refundedQuantity: 0, voucherType }
      const voucherList = listOf(order.vouchers.map((one) => one.voucher))
      const body = { orderId, partnerOrderId: order.partner_order_id, ...numbers, voucherList }
      const answer = { code: 200, describe: 'success', partnerId: '7001', body }
      response.setHeader('Content-Type', 'application/json').end(stringifyLossless(answer))
    }).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
  })
  afterAll(() => {
    server.close()
  })

  it('must name exactly the issued codes, none of them marked used yet', async () => {
    const runId = await lab.run()
    await walkTo(lab, runId, 'order-query')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    await updatePartner(lab.world.deps, lab.partnerId, { interface_urls: { 'order-query': url } })
    const query = async (list: typeof listOf): Promise<unknown> => {
      listOf = list
      return aboutVouchers(await lab.runStep(runId, 'order-query'))
    }
    const unused = (codes: string[]) => codes.map((code) => voucher(code))
    expect(await query(unused)).toEqual([])
    expect(await query(() => [voucher('X-1'), voucher('X-2')])).toMatchObject([{ level: 'error', actual: 'X-1, X-2' }])
    expect(await query((codes) => unused(codes).slice(1))).toHaveLength(1)
    // They are compared as a set.
    expect(await query((codes) => unused(codes).toReversed())).toEqual([])
    expect(await query((codes) => unused([...codes, ...codes]))).toEqual([])
    expect(await query((codes) => [...unused(codes), voucher('X-3')])).toHaveLength(1)
    expect(await query(() => undefined)).toMatchObject([{ level: 'error', expected: 'required', actual: 'missing' }])
    expect(await query((codes) => codes.map((code) => voucher(code, 1)))).toMatchObject([
      { expected: 'vouchers for 0 tickets marked used', actual: 'vouchers for 2 tickets marked used' },
    ])
    for (const none of [0, '0']) {
      voucherType = none
      for (const empty of [undefined, null, []]) expect(await query(() => empty)).toEqual([])
      // An optional list is still checked if present.
      expect(await query(() => [voucher('X-1')])).toMatchObject([{ level: 'error', actual: 'X-1' }])
    }
    voucherType = undefined
    expect(await query(() => [])).toMatchObject([{ level: 'error', expected: 'required', actual: 'missing' }])
  })
})
