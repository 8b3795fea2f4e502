import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { removeMember } from '../../../src/ticketing/members/index.ts'
import { showPartner } from '../../../src/ticketing/partners/index.ts'
import { joined } from '../../members/people.ts'
import { timesOn } from '../../times.ts'
import { until } from '../../until.ts'
import { type Lab, openLab, walkTo } from '../lab.ts'
import { textOf, type Visitor, visitor } from './visitor.ts'

/** A link that lets support read a failed run. */

let lab: Lab
let me: Visitor
beforeAll(async () => {
  lab = await openLab()
  me = await visitor(lab)
})
afterAll(() => lab.close())

const DAY_S = 86_400
const read = (url: string) => lab.world.app.inject({ url, headers: { 'accept-language': 'en', accept: 'text/html' } })

/** Creates a run that fails at its first step, and a link to that step. */
async function failedRun(): Promise<{ runId: string; link: string }> {
  const runId = await lab.run()
  await walkTo(lab, runId, 'product-pull')
  await lab.mistakes('answer-missing-field')
  await lab.runStep(runId, 'product-pull')
  await lab.mistakes()
  return { runId, link: await linkTo(runId) }
}

/** Creates a link to the step that the page of a run shows. */
async function linkTo(runId: string): Promise<string> {
  const page = await me.open(`/sandbox/run/${runId}`)
  const createPath = /href="([^"]*share=1)#share"/.exec(page.body)?.[1]?.replaceAll('&amp;', '&')
  const { body } = await me.open(String(createPath))
  const link = /<pre data-copy[^>]*>(http[^<]*)<\/pre>/.exec(body)?.[1]?.replaceAll('&amp;', '&') ?? ''
  return link.replace(lab.world.deps.config.PUBLIC_URL, '')
}

it('a link shows the log without a sign-in, but no form, no secret and nothing that needs a sign-in', async () => {
  const { runId, link } = await failedRun()
  // A later attempt does not change what the link shows.
  await lab.runStep(runId, 'product-pull')
  const answer = await read(link)
  expect(answer.statusCode).toBe(200)
  expect(answer.headers['cache-control']).toContain('no-store')
  expect(textOf(answer)).toContain('What failed (1)')
  expect(textOf(answer)).toContain('POST /product/query')
  expect(answer.body).not.toMatch(/<form|<button|data-copy|\/sandbox\/(?:traffic|run)\//)
  expect(answer.body).not.toContain(lab.secret)
  expect(timesOn(answer.body)).toMatchObject({ stray: [], right: { length: expect.any(Number) } })
  expect(answer.body).toContain('/assets/local-time.js')
  const [, other = ''] = /href="(\/sandbox\/shared\/[^"]*step=wrong-signature)"/.exec(answer.body) ?? []
  expect((await read(other.replaceAll('&amp;', '&'))).statusCode).toBe(200)
  expect((await read(link.replace('step=product-pull', 'step=nothing'))).statusCode).toBe(404)
})

it('a link opens its own run and no other, and nothing with a key that was not issued', async () => {
  const { runId, link: whole } = await failedRun()
  const link = whole.replace(/&attempt=\d+/, '')
  const other = await lab.run()
  expect((await read(link)).statusCode).toBe(200)
  const [, key = ''] = /key=(\w+)/.exec(link) ?? []
  for (const wrong of [
    link.replace(runId, other),
    link.replace('/7001/', '/7002/'),
    link.replace('/7001/', '/x/'),
    link.replace(key, ''),
    link.replace(key.slice(-4), 'AAAA'),
    link.replace(key, me.cookie.replace(/^[^=]*=/, '')),
  ]) {
    expect((await read(wrong)).statusCode, wrong).toBe(404)
  }
})

it('a link opens nothing once the links to its run are withdrawn, but a new link does', async () => {
  const { runId, link } = await failedRun()
  const other = await failedRun()
  const done = await me.submit(`/sandbox/run/${runId}/share/withdraw`)
  expect(textOf(done)).toContain('All links to this run that were made so far have been withdrawn.')
  expect((await read(link)).statusCode).toBe(404)
  expect((await read(other.link)).statusCode).toBe(200)
  const again = await linkTo(runId)
  expect(again).not.toBe(link)
  expect((await read(again)).statusCode).toBe(200)
  await me.submit(`/sandbox/run/${runId}/share/withdraw`)
  expect((await read(again)).statusCode).toBe(404)
  expect((await me.send(`/sandbox/run/${randomUUID()}/share/withdraw`)).statusCode).toBe(404)
})

it('a link opens nothing once a member has been removed, who may have made it, but a new link does', async () => {
  const { link } = await failedRun()
  const partner = await showPartner(lab.world.deps, 7001n)
  const leaving = { ...partner, client_secret: lab.secret }
  await joined(lab.world, leaving, 'owner@example.com')
  const member = await joined(lab.world, leaving, 'leaving@example.com', 'developer')
  expect((await read(link)).statusCode).toBe(200)
  await removeMember(lab.world.deps, 7001n, member)
  expect((await read(link)).statusCode).toBe(404)
  await lab.world.pool.query('delete from member_link; delete from partner_member')
  const other = await failedRun()
  expect((await read(other.link)).statusCode).toBe(200)
})

it('the page of an accepted run says that links were withdrawn, too', async () => {
  const { runId } = await failedRun()
  await lab.world.pool.query('update sandbox_run set passed_at = now(), current_step = null where run_id = $1', [runId])
  const done = await me.submit(`/sandbox/run/${runId}/share/withdraw`)
  expect(textOf(done)).toContain('All links to this run that were made so far have been withdrawn.')
})

it('a link masks calls that are not about the test: a live partner also sends notices about real orders', async () => {
  const runId = await lab.run()
  await walkTo(lab, runId, 'consumption')
  const path = '/mtp/api/order/consume/notice'
  const real = { orderId: 424242n, partnerOrderId: 'P-REAL', quantity: 1, usedQuantity: 1, refundedQuantity: 0 }
  const voucherList = [{ voucher: 'REAL-CODE', voucherInvalidTime: '2030-01-01 23:59:59', quantity: 1, status: 1 }]
  await lab.runStep(runId, 'consumption', async () => {
    await lab.awaited(runId)
    await lab.send(path, { partnerId: 7001, body: { ...real, voucherList, credentialNo: 'REAL-CARD' } })
    await lab.world.deps.incoming.rejected.finish()
    await until(async () => (await me.open(`/sandbox/run/${runId}`)).body.includes('REAL-CODE'))
    lab.world.clock.advance(600)
  })
  const { statusCode, body } = await read(await linkTo(runId))
  expect(statusCode).toBe(200)
  expect(body).toContain('only a notice about order 424242, not')
  expect(body).not.toContain('REAL-C')
})

it('a link masks why a notice was refused, in the line of the notice and in the failed check', async () => {
  const runId = await lab.run()
  await walkTo(lab, runId, 'consumption')
  await lab.runStep(runId, 'consumption', async () => {
    const { about } = await lab.awaited(runId)
    const ids = { orderId: BigInt(about.orderId ?? 0), partnerOrderId: about.partnerOrderId }
    const voucherList = [{ voucher: 'REAL-CODE', voucherInvalidTime: '2030-01-01 23:59:59', quantity: 1, status: 1 }]
    const body = { ...ids, quantity: 2, usedQuantity: 1, refundedQuantity: 0, voucherList }
    await lab.send('/mtp/api/order/consume/notice', { partnerId: 7001, body })
    await lab.world.deps.incoming.rejected.finish()
    await until(async () => (await me.open(`/sandbox/run/${runId}`)).body.includes('REAL-CODE'))
    lab.world.clock.advance(600)
  })
  const mine = textOf(await me.open(`/sandbox/run/${runId}`))
  expect(mine).toMatch(/The platform refused your notice expected code 200 actual voucher REAL-CODE/)
  const { statusCode, body } = await read(await linkTo(runId))
  expect(statusCode).toBe(200)
  expect(body).not.toContain('REAL-C')
})

it('a link tells nobody its key in a Referer', async () => {
  const { link } = await failedRun()
  expect((await read(link)).body).toContain('<meta name="referrer" content="no-referrer">')
})

it('a link opens nothing after seven days', async () => {
  const { link } = await failedRun()
  lab.world.clock.advance(7 * DAY_S - 1)
  expect((await read(link)).statusCode).toBe(200)
  lab.world.clock.advance(1)
  const over = await read(link)
  expect(over.statusCode).toBe(404)
  expect(textOf(over)).toContain('this link has expired')
})
