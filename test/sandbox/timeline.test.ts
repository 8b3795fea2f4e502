import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Lab, openLab, walkTo } from './lab.ts'
import { textOf, type Visitor, visitor } from './pages/visitor.ts'
import { newSandboxPartner } from './partners.ts'
import { useTickets } from './walk.ts'

let lab: Lab
let me: Visitor
let stranger: Visitor
let runId: string
let orderId: bigint
beforeAll(async () => {
  lab = await openLab()
  me = await visitor(lab)
  stranger = await visitor(lab, await newSandboxPartner(lab.world))
  runId = await lab.run()
  await walkTo(lab, runId, 'consumption')
  await lab.runStep(runId, 'consumption', async () => {
    orderId = await useTickets(lab, runId)
  })
})
afterAll(() => lab.close())

const page = (id: bigint | string = orderId) => `/sandbox/traffic/orders/${id}`

describe('the timeline of an order', () => {
  it('lists its calls, notices and states in order, with links to their place in the run', async () => {
    const answer = await me.open(page())
    expect(answer.statusCode).toBe(200)
    const text = textOf(answer)
    const places = ['Order create', 'Order pay', 'Consumption notice', 'paid, tickets issued → used'].map((what) =>
      text.indexOf(what),
    )
    expect(
      places.every((place) => place >= 0),
      text,
    ).toBe(true)
    // The clock stands still, so all have the same time: calls come in order of arrival, followed by the states.
    const calls = [...answer.body.matchAll(/<a href="\/sandbox\/traffic\/(?:call|notice)\/[^"]+"><strong>([^<]+)/g)]
    expect(calls.map(([, name]) => name)).toEqual(['Order create', 'Order pay (issue tickets)', 'Consumption notice'])
    expect(Math.max(...places)).toBe(places.at(-1))
    expect(text).toContain('You → platform')
    const links = [...answer.body.matchAll(/href="(\/sandbox\/run\/[^"]+)"/g)].map(([, href]) => href)
    const last = String(links.at(-1)).replaceAll('&amp;', '&')
    expect(last).toMatch(new RegExp(`^/sandbox/run/${runId}\\?step=consumption&attempt=1#e\\d+$`))
    const there = await me.open(last.replace(/#.*/, ''))
    expect(there.body).toContain(`id="${last.replace(/.*#/, '')}"`)
  })

  it('is linked from the search and from each of its calls and notices', async () => {
    const list = await me.open(`/sandbox/traffic?by=order&value=${orderId}`)
    expect(list.body).toContain(`href="${page()}"`)
    const entries = [...list.body.matchAll(/href="(\/sandbox\/traffic\/(?:call|notice)\/[^"]+)"/g)].map(
      ([, href]) => href,
    )
    expect(entries).toHaveLength(3)
    for (const entry of entries) expect((await me.open(String(entry))).body).toContain(`href="${page()}"`)
  })

  it('is the same 404 for an order of another partner, an unknown order and an invalid id', async () => {
    const never = await stranger.open(page(1n))
    expect(never.statusCode).toBe(404)
    for (const id of [orderId, 'x', '9999999999999999999', `${orderId}%00`]) {
      const answer = await stranger.open(page(id))
      expect([answer.statusCode, textOf(answer).replace(/[\w-]{8,}/g, '')]).toEqual([
        404,
        textOf(never).replace(/[\w-]{8,}/g, ''),
      ])
    }
  })

  it('shows what was sent about an order that the platform does not know', async () => {
    await lab.world.pool.query(
      `insert into rejected_call (call_id, received_at, partner_id, client_id, path, reason, headers, body, answer, verified)
       values (gen_random_uuid(), $1, $2, 'lab', '/mtp/api/order/consume/notice', '"order 424242 does not exist"', '{}',
         '{"body":{"orderId":"424242"}}', '{"code":300}', true)`,
      [lab.world.clock.now(), lab.partnerId],
    )
    expect(textOf(await me.open(page(424242n)))).toContain('order 424242 does not exist')
    expect((await stranger.open(page(424242n))).statusCode).toBe(404)
  })
})
