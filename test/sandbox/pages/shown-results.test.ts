import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { translator } from '../../../src/platform/lib/web/locale.ts'
import { attemptsOf } from '../../../src/sandbox/certification/attempt-store.ts'
import { nextStep } from '../../../src/sandbox/certification/run.ts'
import { runPage } from '../../../src/sandbox/portal/pages/run-page.ts'
import { timesOn } from '../../times.ts'
import { type Lab, openLab, simpleChoice, walkTo } from '../lab.ts'
import { get, newSandboxPartner, sessionOf } from '../partners.ts'
import { EVERYTHING, orderOf, useTickets } from '../walk.ts'
import { textOf, type Visitor, visitor } from './visitor.ts'

/** How pages show results and times: results in words, and all times in the same way. */

let lab: Lab
let me: Visitor
let runId: string
beforeAll(async () => {
  lab = await openLab()
  me = await visitor(lab)
  await lab.run()
  runId = await lab.run()
  // Passes with a warning.
  await lab.mistakes('answer-wrong-content-type')
  await lab.runStep(runId, 'product-pull')
  await lab.mistakes()
  await nextStep(lab.world.deps, lab.partnerId, runId, 'product-pull')
  await walkTo(lab, runId, 'consumption')
  await lab.runStep(runId, 'consumption', () => useTickets(lab, runId))
})
afterAll(() => lab.close())

const linesOf = (body: string, name: string): string[] =>
  [...body.matchAll(/<li class="[^"]*"[^>]*>\s*<a [\s\S]*?<\/li>|<tr>[\s\S]*?<\/tr>/g)]
    .map(([line]) => textOf({ body: line } as Parameters<typeof textOf>[0]).trim())
    .filter((line) => line.includes(name))

it('an accepted run says that an earlier one was accepted, however many lie between', async () => {
  const own = await newSandboxPartner(lab.world)
  const { rows } = await lab.world.pool.query(
    `insert into sandbox_run (run_id, partner_id, number, choice, created_at, passed_at, superseded_at)
     select gen_random_uuid(), $1, n, $2, now(), case when n in (1, 103) then now() end, case when n < 103 then now() end
     from generate_series(1, 103) n returning run_id, number`,
    [own.partner_id, JSON.stringify(simpleChoice())],
  )
  const cookie = await sessionOf(lab.world, own)
  const newest = rows.find(({ number }) => number === 103)
  const { body } = await get(lab.world, `/sandbox/run/${newest.run_id}`, cookie, { 'accept-language': 'en' })
  expect(body).toContain('Nobody this time: your contacts were told when an earlier run passed.')
})

describe('a step that passed with warnings', () => {
  it('says so in the list of steps and in the report, unlike other steps', async () => {
    const { body } = await me.open(`/sandbox/run/${runId}`)
    expect(linesOf(body, 'Product pull')).toEqual([expect.stringContaining('passed with 1 warning')])
    expect(linesOf(body, 'Order query')).toEqual([expect.not.stringContaining('with')])
    const report = await me.open(`/sandbox/run/${runId}/report`)
    expect(linesOf(report.body, 'Product pull')).toEqual([expect.stringContaining('passed with 1 warning')])
    const chinese = await get(lab.world, `/sandbox/run/${runId}/report`, me.cookie, { 'accept-language': 'zh-CN' })
    expect(textOf(chinese)).toContain('已通过，1 个警告')
  })

  it('says so beside its attempts', async () => {
    expect((await attemptsOf(lab.world.deps.db, runId)).length).toBeGreaterThan(1)
    const { body } = await me.open(`/sandbox/run/${runId}?step=product-pull`)
    expect(textOf({ body } as Parameters<typeof textOf>[0])).toContain('Product pull passed with 1 warning')
  })
})

describe('the log of a step', () => {
  it('takes no more statements the more calls it has', async () => {
    const { deps, pool } = lab.world
    const own = await lab.run(EVERYTHING)
    for (const step of ['product-pull', 'orders-at-once']) {
      await pool.query('update sandbox_run set current_step = $2 where run_id = $1', [own, step])
      await lab.runStep(own, step)
    }
    const shownWith = async (step: string) => {
      let statements = 0
      const db = new Proxy(deps.db, {
        get: (target, name) => {
          if (name === 'many' || name === 'maybe' || name === 'one') statements++
          return Reflect.get(target, name)
        },
      })
      const { log } = await runPage({ ...deps, db }, { partnerId: lab.partnerId, runId: own, step }, translator('en'))
      const calls = JSON.stringify(log).split('"stringToSign"').length - 1
      return { calls, statements }
    }
    const [few, many] = [await shownWith('product-pull'), await shownWith('orders-at-once')]
    expect(few.calls).toBeLessThan(3)
    expect(many.calls).toBeGreaterThan(9)
    expect(many.statements).toBe(few.statements)
  })

  it('uses readable names for notices, states and fields', async () => {
    const waited = textOf(await me.open(`/sandbox/run/${runId}?step=consumption`))
    expect(waited).toContain('Waiting for your call: Consumption notice, POST /mtp/api/order/consume/notice')
    expect(waited).toContain('Consumption notice arrived')
    const other = await lab.run()
    await walkTo(lab, other, 'order-create')
    await lab.mistakes('answer-code-300')
    await lab.runStep(other, 'order-create')
    await lab.mistakes()
    const failed = textOf(await me.open(`/sandbox/run/${other}?step=order-create`))
    expect(failed).toContain('created (created, not paid)')
    expect(failed).toContain('create_failed (you refused it, or we could not reach you)')
    expect(failed).toContain('Field reference: Order create · Response · code')
  })
})

describe('times', () => {
  it('are the same element on every page, which a script turns into local time', async () => {
    const entry = /\/sandbox\/traffic\/\w+\/[\w-]{36}/.exec((await me.open('/sandbox/traffic')).body)?.[0]
    const played = /\/sandbox\/traffic\/call\/([\w-]{36})/.exec((await me.open('/sandbox/traffic')).body)?.[1]
    const call = (await me.open(`/sandbox/traffic/call/${played}`)).body
    const name = /<code>([a-z-]+)<\/code>/.exec(call)?.[1] ?? 'order-query'
    const owner = await newSandboxPartner(lab.world)
    const them = await visitor(lab, owner)
    await them.send('/sandbox/members/invite', { mail: 'first@seller.example', role: 'owner' })
    const pages: [Visitor, string][] = [
      ...['', '/functions', '/history', '/traffic', '/secret', '/signature', '/play', '/starters', '/docs'].map(
        (path): [Visitor, string] => [me, `/sandbox${path}`],
      ),
      [me, '/docs'],
      [me, '/connect'],
      [me, `/sandbox/run/${runId}`],
      [me, `/sandbox/run/${runId}/report`],
      [me, `/sandbox/traffic/orders/${await orderOf(lab, runId, 'main')}`],
      [me, `/sandbox/play/${name}`],
      [me, String(entry)],
      [them, '/sandbox/members'],
    ]
    const withTimes: string[] = []
    for (const [reader, path] of pages) {
      const answer = await reader.open(path)
      expect(answer.statusCode, path).toBe(200)
      const { stray, right } = timesOn(answer.body)
      expect(stray, path).toEqual([])
      expect(answer.body.includes('/assets/local-time.js'), path).toBe(
        right.length > 0 || path === '/sandbox/signature',
      )
      if (right.length === 0) continue
      expect(answer.headers['content-security-policy'], path).toContain("script-src 'self'")
      withTimes.push(path.split('/')[2] ?? '')
    }
    expect(new Set(withTimes)).toEqual(new Set(['history', 'traffic', 'secret', 'run', 'members']))
  })

  it('are in UTC in exports', async () => {
    const { body } = await me.open('/sandbox/traffic/export/ndjson')
    const [first = '{}'] = body.split('\n')
    expect(JSON.parse(first).at).toMatch(/^[\d-]{10}T[\d:.]+Z$/)
  })
})
