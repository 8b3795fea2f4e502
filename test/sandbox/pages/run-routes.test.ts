import { setTimeout as sleep } from 'node:timers/promises'
import type { LightMyRequestResponse } from 'fastify'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { attemptsOf } from '../../../src/sandbox/certification/attempt-store.ts'
import { showRun, startRun } from '../../../src/sandbox/certification/run.ts'
import { findLinkedOrders } from '../../../src/sandbox/certification/run-store.ts'
import { until } from '../../until.ts'
import { type Lab, openLab, SIMPLE, simpleChoice, walkTo } from '../lab.ts'
import { newSandboxPartner } from '../partners.ts'
import { orderOf, useTickets, walk } from '../walk.ts'
import { textOf, type Visitor, visitor } from './visitor.ts'

let lab: Lab
let me: Visitor
beforeAll(async () => {
  lab = await openLab()
  me = await visitor(lab)
})
afterAll(() => lab.close())

const page = (runId: string) => `/sandbox/run/${runId}`
const step = (runId: string, stepId: string) => `${page(runId)}/steps/${stepId}`

/** The page once no step is running. */
async function settled(runId: string, query = '') {
  for (;;) {
    const answer = await me.open(page(runId) + query)
    if (!answer.body.includes('http-equiv="refresh"')) return answer
    await sleep(30)
  }
}

/** What the waiting panel says about the calls that have arrived. */
const arrivalsOn = (answer: LightMyRequestResponse): string => {
  const [arrivals = ''] = answer.body.match(/<div class="came"[\s\S]*?<\/div>/) ?? []
  return textOf({ ...answer, body: arrivals }).trim()
}

describe('the page of a run', () => {
  it('opens from /sandbox/run, which leads to the functions when there is no run', async () => {
    expect((await me.open('/sandbox/run')).headers.location).toBe('/sandbox/functions')
    const runId = await lab.run()
    expect((await me.open('/sandbox/run')).headers.location).toBe(page(runId))
    const answer = await me.open(page(runId))
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['content-security-policy']).toContain("script-src 'self';connect-src 'self'")
    expect(answer.body).toMatch(/<script src="\/assets\/sandbox-run\.js\?v=\w+" defer>/)
  })

  it('reloads itself without scripts while a step is running', async () => {
    const runId = await lab.run()
    // So slow that the step cannot end before the page is opened.
    await lab.mistakes('answer-slow')
    onTestFinished(() => lab.mistakes())
    expect((await me.open(page(runId))).body).not.toContain('http-equiv="refresh"')
    await me.send(`${step(runId, 'product-pull')}/start`)
    const running = await me.open(page(runId))
    expect(running.body).toContain('<noscript><meta http-equiv="refresh" content="2"></noscript>')
  })

  it('starts a step, and moves on once it has passed', async () => {
    const runId = await lab.run()
    expect((await me.open(page(runId))).body).not.toContain('/next"')
    const [first, second] = (await showRun(lab.world.deps, lab.partnerId, runId)).steps.map(({ step: { id } }) => id)
    const started = await me.send(`${step(runId, String(first))}/start`)
    expect(started.statusCode).toBe(303)
    expect(started.headers.location).toBe(page(runId))
    const ended = await settled(runId)
    expect(textOf(ended)).toContain('This step has passed.')
    const next = await me.submit(`${step(runId, String(first))}/next`)
    expect(next.body).toMatch(new RegExp(`<li class="[^"]*" aria-current="step">\\s*<a href="[^"]*step=${second}"`))
    const former = await me.open(`${page(runId)}?step=${first}`)
    expect(textOf(former)).toContain('Back to the current step')
    expect(former.body).not.toContain('/start"')
  })

  it('shows the whole exchange: request, response, string to sign, and each check', async () => {
    const runId = await lab.run()
    await walkTo(lab, runId, 'order-create')
    await lab.runStep(runId, 'order-create')
    const orderId = String((await findLinkedOrders(lab.world.deps.db, runId, 'main'))[0])
    const { body } = await me.open(page(runId))
    expect(body).toContain(`&quot;orderId&quot;: ${orderId},`)
    expect(body).toMatch(/POST \/order\/create\n\w{3}, \d\d \w{3} 2026/)
    expect(body).toMatch(/<b>Authorization:<\/b> MWS lab:.{4}…/)
    expect(body).not.toContain(lab.secret)
    expect(body).toContain('HTTP 200')
  })

  it('lists failures first, unfolds their exchange, and links to the field reference', async () => {
    const runId = await lab.run()
    await walkTo(lab, runId, 'product-pull')
    await lab.mistakes('answer-missing-field')
    await me.send(`${step(runId, 'product-pull')}/start`)
    const failed = await settled(runId)
    await lab.mistakes()
    const text = textOf(failed)
    expect(text).toContain('What failed')
    expect(text.indexOf('What failed')).toBeLessThan(text.indexOf('Attempt 1 begins'))
    expect(text).toContain('body[0].title')
    expect(failed.body).toContain('href="/sandbox/docs#product-pull.answer.body.title"')
    expect(failed.body).toMatch(/<details class="exchange" id="x\d+" open>/)
    expect(text).toContain('This step failed.')
    await me.send(`${step(runId, 'product-pull')}/start`)
    const passed = await settled(runId)
    expect(textOf(passed)).toContain('attempt 2')
    const earlier = await me.open(`${page(runId)}?step=product-pull&attempt=1`)
    expect(textOf(earlier)).toContain('What failed')
    expect((await me.open(`${page(runId)}?step=product-pull&attempt=3`)).statusCode).toBe(404)
  })

  it('says which notice it waits for, where that goes, what it contains, and how long the wait is', async () => {
    const runId = await lab.run()
    await walkTo(lab, runId, 'consumption')
    await me.send(`${step(runId, 'consumption')}/start`)
    const orderId = String((await lab.awaited(runId)).about.orderId)
    const waiting = await me.open(page(runId))
    const text = textOf(waiting)
    expect(text).toContain('Waiting for your call: Consumption notice, POST /mtp/api/order/consume/notice')
    expect(text).toContain(`orderId ${orderId}`)
    expect(text).toContain('5:00')
    for (const prefix of ['', '/rhone']) {
      expect(text).toContain(`${lab.world.deps.config.PUBLIC_URL}${prefix}/mtp/api/order/consume/notice`)
    }
    expect(text).not.toContain('demo partner')
    expect(text).not.toContain('Press Start')
    expect(arrivalsOn(waiting)).toBe('')
    await lab.control('consume', { orderId: BigInt(orderId), quantity: 1 })
    const partly = await until(async () => {
      const shown = await me.open(page(runId))
      return arrivalsOn(shown).includes('1 of 2 used; still waiting') && shown
    })
    expect(textOf(partly)).toContain('Waiting for your call: Consumption notice, POST /mtp/api/order/consume/notice')
    expect(arrivalsOn(partly)).toBe('Consumption notice arrived: 1 of 2 used; still waiting')
    for (const [about, says] of [
      [{ orderId: BigInt(orderId), usedQuantity: 'both' }, 'body.usedQuantity must be a'],
      [{ orderId: 1n, usedQuantity: 2 }, `about order 1, not ${orderId}; still waiting`],
    ] as const) {
      lab.world.clock.advance(1)
      const body = { partnerOrderId: 'P-1', quantity: 2, refundedQuantity: 0, ...about }
      await lab.send('/mtp/api/order/consume/notice', { partnerId: 7001, body })
      const arrivals = await until(async () => {
        const shown = arrivalsOn(await me.open(page(runId)))
        return shown.includes(says) && shown
      })
      // What was used before stays visible.
      expect(arrivals).toMatch(
        /^Consumption notice arrived: 1 of 2 used; still waiting warning Consumption notice rejected: /,
      )
      if (about.orderId === BigInt(orderId)) expect(arrivals).toMatch(/: correct it and send it again; still waiting$/)
    }
    await lab.control('consume', { orderId: BigInt(orderId), quantity: 1 })
    const ended = await settled(runId)
    expect(textOf(ended)).toContain('Consumption notice arrived')
    expect(ended.body).toContain('usedQuantity')
  })

  it('says so when the details of an exchange have been deleted', async () => {
    const runId = await lab.run()
    await walkTo(lab, runId, 'product-pull')
    await lab.runStep(runId, 'product-pull')
    await lab.world.pool.query('delete from partner_call')
    expect(textOf(await me.open(page(runId)))).toContain('deleted after 30 days')
  })
})

describe('a run refuses', () => {
  const refused = async (path: string) => {
    const answer = await me.send(path)
    expect(answer.statusCode).toBe(303)
    return textOf(await me.open(String(answer.headers.location)))
  }

  it('a direct POST before the step has passed, or about a step that is not the current one', async () => {
    const runId = await lab.run()
    const { current } = await showRun(lab.world.deps, lab.partnerId, runId)
    const first = String(current?.step.id)
    expect(await refused(`${step(runId, first)}/next`)).toContain('has not passed yet')
    expect(await refused(`${step(runId, 'consumption')}/next`)).toContain('is no longer at that step')
    expect(await refused(`${step(runId, 'consumption')}/start`)).toContain('is no longer at that step')
    const after = await showRun(lab.world.deps, lab.partnerId, runId)
    expect(after.current?.step.id).toBe(first)
    expect(await attemptsOf(lab.world.deps.db, runId)).toEqual([])
  })

  it('a second Next from another tab, saying that the run has moved on', async () => {
    const runId = await lab.run()
    const { current } = await showRun(lab.world.deps, lab.partnerId, runId)
    const first = String(current?.step.id)
    await lab.runStep(runId, first)
    const answers = await Promise.all(Array.from({ length: 5 }, () => me.send(`${step(runId, first)}/next`)))
    const leadTo = answers.map(({ headers }) => headers.location).sort()
    expect(leadTo).toEqual([page(runId), ...Array(4).fill(`${page(runId)}?refused=not_current`)])
  })

  it('a second attempt by a double click on Start', async () => {
    const runId = await lab.run()
    const { current } = await showRun(lab.world.deps, lab.partnerId, runId)
    await Promise.all(Array.from({ length: 5 }, () => me.send(`${step(runId, String(current?.step.id))}/start`)))
    await settled(runId)
    expect(await attemptsOf(lab.world.deps.db, runId)).toHaveLength(1)
  })

  it('every change once it is overwritten, but stays readable', async () => {
    const runId = await lab.run()
    const { current } = await showRun(lab.world.deps, lab.partnerId, runId)
    const first = String(current?.step.id)
    await lab.runStep(runId, first)
    await startRun(lab.world.deps, lab.partnerId, simpleChoice())
    const over = await me.open(page(runId))
    expect(textOf(over)).toContain('was overwritten')
    expect(over.body).not.toMatch(/action="\/sandbox\/run\//)
    expect(await refused(`${step(runId, first)}/start`)).toContain('A newer run has replaced')
    expect(await refused(`${page(runId)}/accept`)).toContain('A newer run has replaced')
    expect(textOf(await me.open(`${page(runId)}?step=${first}`))).toContain('Attempt 1 begins')
  })

  it('a start once it has passed, and does not offer one', async () => {
    const runId = await lab.run()
    await lab.world.pool.query('update sandbox_run set passed_at = now() where run_id = $1', [runId])
    const [first = ''] = (await showRun(lab.world.deps, lab.partnerId, runId)).steps.map(({ step: { id } }) => id)
    for (const action of ['start', 'next']) {
      expect(await refused(`${step(runId, first)}/${action}`)).toContain('This run has passed.')
    }
    expect((await me.open(`${page(runId)}?step=${first}`)).body).not.toMatch(/action="[^"]*\/(start|next|accept)"/)
  })

  it('to show a made-up message from the address', async () => {
    const runId = await lab.run()
    const { body } = await me.open(`${page(runId)}?refused=%3Cscript%3E`)
    expect(body).not.toContain('role="alert"')
  })
})

describe('a run of another partner', () => {
  it('is not found, exactly like a run or a step that does not exist', async () => {
    const runId = await lab.run()
    const other = await newSandboxPartner(lab.world, { name: 'Another' })
    const stranger = await visitor(lab, other)
    const none = '00000000-0000-4000-8000-000000000000'
    for (const path of ['', '?step=product-pull', '/report', '/events']) {
      const [foreign, missing] = [await stranger.open(page(runId) + path), await stranger.open(page(none) + path)]
      expect(foreign.statusCode, path).toBe(404)
      const plain = (body: string) => body.replace(/[\da-f-]{36}/g, '')
      expect(plain(foreign.body)).toBe(plain(missing.body))
    }
    for (const path of ['start', 'next', 'stop']
      .map((what) => `/steps/product-pull/${what}`)
      .concat('/accept', '/start-all')) {
      expect((await stranger.send(page(runId) + path)).statusCode, path).toBe(404)
    }
    for (const path of ['/sandbox/run/7', '/sandbox/run/%00', `${page(runId)}?step=nothing`]) {
      expect((await me.open(path)).statusCode, path).toBe(404)
    }
    expect((await me.send(`${step(runId, 'nothing')}/start`)).statusCode).toBe(404)
    expect(await attemptsOf(lab.world.deps.db, runId)).toEqual([])
  })
})

describe('acceptance', () => {
  it('says what is missing, and names the orders that count', async () => {
    const { deps, pool } = lab.world
    const runId = await lab.run()
    expect(textOf(await me.open(page(runId)))).toContain('Every step must have passed, and our own records must show')
    const early = await me.submit(`${page(runId)}/accept`)
    expect(textOf(early)).toContain('Not yet: something is missing.')
    await walkTo(lab, runId, 'consumption')
    await lab.runStep(runId, 'consumption', () => useTickets(lab, runId))
    const [orderId] = await findLinkedOrders(deps.db, runId, 'consumption')
    await pool.query('update sandbox_run set current_step = null where run_id = $1', [runId])
    const reached = textOf(await me.open(page(runId)))
    expect(reached).toContain(`Orders with a consumption ${orderId}`)
    expect(reached).toContain('An order of this run with a successful refund')
  })

  it('of a run whose steps have passed and whose orders count says that it has passed, once', async () => {
    const { runId, failed } = await walk(lab, SIMPLE)
    expect(failed).toBeUndefined()
    const passed = await me.submit(`${page(runId)}/accept`)
    expect(textOf(passed)).toContain('Integration accepted')
    expect(textOf(passed)).toContain(`Orders with a consumption ${await orderOf(lab, runId, 'consumption')}`)
    const record = async () =>
      (
        await lab.world.pool.query(
          'select passed_at, report_id from sandbox_run left join sandbox_report using (run_id) where run_id = $1',
          [runId],
        )
      ).rows
    const once = await record()
    expect(once).toEqual([{ passed_at: expect.any(Date), report_id: expect.any(String) }])
    lab.world.clock.advance(60)
    expect(textOf(await me.submit(`${page(runId)}/accept`))).toContain('Integration accepted')
    expect(await record()).toEqual(once)
  })
})
