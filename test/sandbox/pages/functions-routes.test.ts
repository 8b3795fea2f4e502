import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { currentRun } from '../../../src/sandbox/certification/run.ts'
import { listRuns } from '../../../src/sandbox/certification/run-progress.ts'
import { NO_CONDITIONS } from '../../../src/sandbox/test-plan/conditions.ts'
import { OFFERED_FUNCTIONS } from '../../../src/sandbox/test-plan/functions.ts'
import { INTERFACES } from '../../../src/ticketing/interfaces/index.ts'
import { setStage, showPartner } from '../../../src/ticketing/partners/partner.ts'
import { untilLocked } from '../../locks.ts'
import { type Lab, openLab } from '../lab.ts'
import { get, newSandboxPartner, type SandboxPartner } from '../partners.ts'
import { textOf, unlock, type Visitor, visitor } from './visitor.ts'

let lab: Lab
let partner: SandboxPartner
let me: Visitor
beforeAll(async () => {
  lab = await openLab()
})
afterAll(() => lab.close())
beforeEach(async () => {
  partner = await newSandboxPartner(lab.world, { base_url: 'https://seller.example/api' })
  me = await visitor(lab, partner)
  await unlock(lab, partner.partner_id)
})

const FORM = '/sandbox/functions'
const GOOD = {
  functions: ['product-pull', 'pay-at-once', 'refund-at-once'],
  main: 'P-1',
  quantity: '2',
  travel_date: '',
  base_url: 'https://seller.example/api',
}

/** The form with a list of functions, as a browser sends it. */
const filled = (changes: Record<string, string | string[]> = {}): string => {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries({ action: 'start', ...GOOD, ...changes })) {
    for (const one of [value].flat()) query.append(name, one)
  }
  return query.toString()
}
const runs = async () => (await listRuns(lab.world.deps, partner.partner_id)).map(({ run }) => run)

describe('a travel day that is over', () => {
  const OVER = '2026-01-01'

  it('is not taken from the former run, neither by the form nor by the playground', async () => {
    await me.send(FORM, filled())
    await lab.world.pool.query(
      `update sandbox_run set choice = choice || jsonb_build_object('travel_date', $2::text) where partner_id = $1`,
      [partner.partner_id, OVER],
    )
    for (const page of [FORM, '/sandbox/play']) {
      const { statusCode, body } = await me.open(page)
      expect(statusCode).toBe(200)
      expect(body, page).not.toContain(`value="${OVER}"`)
    }
  })

  it('starts no run', async () => {
    const answer = await me.send(FORM, filled({ travel_date: OVER }))
    expect(answer.statusCode).toBe(400)
    expect(textOf(answer)).toContain('This day is over.')
    expect(answer.body).toContain(`value="${OVER}"`)
    expect(await runs()).toEqual([])
  })
})

describe('the form', () => {
  it('starts with what every integration needs, and with the partner’s URL', async () => {
    const { body } = await me.open(FORM)
    expect(body).toMatch(/value="order-create" checked disabled/)
    expect(body).toMatch(/value="pay-at-once" checked>/)
    expect(body).toMatch(/value="balance-query">/)
    expect(body).toContain('value="https://seller.example/api"')
    expect(body).toContain('placeholder="https://seller.example/api/order/create"')
  })

  it('names every interface in the reader’s language', async () => {
    const shown = async (locale: string): Promise<string[]> => {
      const { body } = await get(lab.world, FORM, me.cookie, { 'accept-language': locale })
      return INTERFACES.map(({ name }) => body.match(`for="field-url\\.${name}">([^<]+)<`)?.[1] ?? '')
    }
    for (const name of await shown('en')) expect(name).toMatch(/^[A-Z][\w ()]+$/)
    for (const name of await shown('zh-CN')) expect(name).toMatch(/^[\p{Script=Han}（）]+$/u)
  })

  it('suggests known products', async () => {
    await lab.world.pool.query(
      `insert into product (partner_id, partner_deal_id, sale_state, title, created_at, updated_at)
       values ($1, 'K-7', 'on_sale', '<b>Boat</b>', now(), now())`,
      [partner.partner_id],
    )
    expect((await me.open(FORM)).body).toContain('<option value="K-7">&lt;b&gt;Boat&lt;/b&gt;</option>')
  })

  it('is complete for the demo partner: one click starts the whole run', async () => {
    const demo = await newSandboxPartner(lab.world, { client_id: 'demo-partner', base_url: 'http://127.0.0.1:3002' })
    const them = await visitor(lab, demo)
    await unlock(lab, demo.partner_id)
    const { body } = await them.open(FORM)
    const values = (name: string) =>
      [...body.matchAll(new RegExp(`name="${name}" value="([^"]*)"`, 'g'))].map(([, v]) => v)
    const boxes = [...body.matchAll(/type="checkbox" name="functions" value="([^"]*)"([^>]*)>/g)]
    const chosen = boxes.filter(([, , rest]) => rest?.includes(' checked')).map(([, id]) => String(id))
    expect(chosen.sort()).toEqual([...OFFERED_FUNCTIONS].sort())
    const fields = ['main', 'later', 'review', 'level', 'sold_out'].map((name) => [name, values(name)[0]])
    expect(fields).toEqual([
      ['main', 'DEMO-BOAT'],
      ['later', 'DEMO-CASTLE'],
      ['review', 'DEMO-TOWER'],
      ['level', 'DEMO-SHOW'],
      ['sold_out', 'DEMO-SOLD-OUT'],
    ])
    const query = new URLSearchParams([...fields.map(([name, value]) => [String(name), String(value)])])
    for (const id of chosen) query.append('functions', id)
    query.append('base_url', String(/id="field-base_url"[^>]* value="([^"]*)"/.exec(body)?.[1]))
    query.append('quantity', '2')
    const started = await them.send(FORM, query.toString())
    expect(started.statusCode).toBe(303)
    const { choice } = await currentRun(lab.world.deps, demo.partner_id)
    expect(choice.functions).toEqual(OFFERED_FUNCTIONS)
  })
})

describe('test conditions', () => {
  const conditions = async () => (await currentRun(lab.world.deps, partner.partner_id)).choice.conditions

  it('are chosen with the run, and can be changed while it is in progress', async () => {
    expect((await me.open(FORM)).body).not.toContain('value="conditions"')
    expect((await me.send(FORM, filled({ days_ahead: '3' }))).statusCode).toBe(303)
    expect(await conditions()).toEqual({ ...NO_CONDITIONS, days_ahead: 3 })
    const { body } = await me.open(FORM)
    expect(body).toMatch(/name="days_ahead"[^>]* value="3"/)
    expect(body).toContain('value="conditions"')
    const changed = await me.send(FORM, filled({ action: 'conditions', days_ahead: '0', sends_twice: 'on', main: 'X' }))
    expect(changed.statusCode).toBe(200)
    expect(changed.body).toContain('The current run has been changed.')
    expect(changed.body).toContain('name="sends_twice" checked')
    expect(await conditions()).toEqual({ ...NO_CONDITIONS, sends_twice: true })
    expect((await runs()).map(({ choice }) => choice.products.main)).toEqual(['P-1'])
  })

  it('are left out unless one is set', async () => {
    await me.send(FORM, filled({ days_ahead: '0' }))
    expect(await conditions()).toBeUndefined()
  })

  it.each(['31', '-1', '1.5', 'x'])(
    'cannot be %s days ahead, neither for a new nor for the current run',
    async (days_ahead) => {
      await me.send(FORM, filled())
      for (const action of ['start', 'conditions']) {
        const answer = await me.send(FORM, filled({ action, days_ahead }))
        expect([answer.statusCode, action]).toEqual([400, action])
        expect(answer.body).toContain('Enter a whole number from 0 to 30.')
        expect(answer.body).toContain(`value="${days_ahead}"`)
      }
      expect(await conditions()).toBeUndefined()
    },
  )

  it('cannot be changed when there is no run', async () => {
    const answer = await me.send(FORM, filled({ action: 'conditions', days_ahead: '1' }))
    expect(answer.statusCode).toBe(409)
  })

  it('are kept on the page that asks whether to overwrite a run', async () => {
    await me.send(FORM, filled())
    const faults = { sends_twice: 'on', is_slow: 'on', out_of_order: 'on' }
    const question = await me.send(FORM, filled({ days_ahead: '2', ...faults }))
    expect(question.body).toContain('<input type="hidden" name="days_ahead" value="2">')
    for (const name of Object.keys(faults)) {
      expect(question.body).toContain(`<input type="hidden" name="${name}" value="on">`)
    }
  })
})

describe('starting a run', () => {
  it('leads to its page, and stores the URLs', async () => {
    const answer = await me.send(
      FORM,
      filled({ base_url: 'https://new.example/', 'url.order-pay': 'https://pay.example/x' }),
    )
    expect(answer.statusCode).toBe(303)
    const run = await currentRun(lab.world.deps, partner.partner_id)
    expect(answer.headers.location).toBe(`/sandbox/run/${run.run_id}`)
    expect(run.choice.products).toEqual({ main: 'P-1' })
    const { base_url, interface_urls } = await showPartner(lab.world.deps, partner.partner_id)
    expect({ base_url, interface_urls }).toEqual({
      base_url: 'https://new.example/',
      interface_urls: { 'order-pay': 'https://pay.example/x' },
    })
  })

  it('is locked until the signature tool is passed', async () => {
    await lab.world.pool.query('delete from signature_pass where partner_id = $1', [partner.partner_id])
    const locked = await me.open(FORM)
    expect(locked.body).toContain('href="/sandbox/signature"')
    expect(locked.body).toMatch(/value="start" disabled/)
    const answer = await me.send(FORM, filled())
    expect(answer.statusCode).toBe(409)
    expect(textOf(answer)).toContain('Pass the signature tool before you start the test run.')
    expect(await runs()).toEqual([])
  })

  it('shows the form again with all input kept, and each problem beside its field', async () => {
    const answer = await me.send(
      FORM,
      filled({
        functions: ['sold-out', 'balance-query'],
        main: '',
        quantity: '11 & more',
        travel_date: '2026-02-30',
        base_url: 'ftp://seller.example/"x',
        'url.order-pay': 'https://pay.example/#here',
      }),
    )
    expect(answer.statusCode).toBe(400)
    const { body } = answer
    for (const field of ['main', 'sold_out', 'quantity', 'travel_date', 'base_url', 'url.order-pay']) {
      expect(body, field).toMatch(
        new RegExp(`id="field-${field}"[^>]*aria-describedby="field-${field}-problem[^>]*aria-invalid="true"`),
      )
      expect(body, field).toContain(`id="field-${field}-problem"`)
    }
    for (const group of ['pay', 'refund']) expect(body).toContain(`<fieldset aria-describedby="${group}-problem">`)
    expect(body).toContain('value="11 &amp; more"')
    expect(body).toContain('value="ftp://seller.example/&quot;x"')
    expect(body).toMatch(/value="balance-query" checked>/)
    expect(body).toMatch(/value="pay-at-once">/)
    expect(await runs()).toEqual([])
  })

  it('summarizes the problems in the order of the page, each with a link to its field', async () => {
    const problems = {
      functions: ['sold-out'],
      ...{ main: '', quantity: '0', travel_date: '2026-02-30', base_url: 'ftp://seller.example' },
      ...{ 'url.order-pay': 'https://pay.example/#here', days_ahead: '31' },
      ...{ 'contact.product.name': 'Lin', 'contact.product.mail': 'no address' },
    }
    const { body } = await me.send(FORM, filled(problems))
    const summary = /<section class="alert summary" role="alert"[\s\S]*?<\/section>/.exec(body)?.[0] ?? ''
    const links = [...summary.matchAll(/<a href="#([^"]+)">([^<]+)<\/a><\/li>/g)].map(([, id, text]) => [id, text])
    expect(links).toEqual([
      ['function-pay-at-once', 'Payment: Choose at least one way to issue tickets.'],
      ['function-refund-at-once', 'Refunds: Choose at least one way to refund.'],
      ['field-main', expect.stringMatching(/^Main product: ./)],
      ['field-sold_out', expect.stringMatching(/^Sold-out product: ./)],
      ['field-travel_date', expect.stringMatching(/^Travel date: ./)],
      ['field-quantity', 'Tickets per order: Enter a whole number from 1 to 10.'],
      ['field-base_url', expect.stringMatching(/^Base URL: ./)],
      ['field-url.order-pay', expect.stringMatching(/: Remove the \? or #/)],
      ['field-days_ahead', expect.stringMatching(/^Days ahead: ./)],
      ['field-contact.product.mail', expect.stringMatching(/^Product contact: Email address: ./)],
    ])
    for (const [id] of links) {
      const field = new RegExp(`<input[^>]*id="${id}"[^>]*>`).exec(body)?.[0]
      expect(field, id).toContain('aria-invalid="true"')
      const described = /aria-describedby="(\S+?)[ "]/.exec(field ?? '')?.[1]
      expect(body, id).toContain(`id="${described}"`)
    }
    expect((await me.open(FORM)).body).not.toContain('class="alert summary"')
  })

  it.each([
    ['main', 'x'.repeat(256)],
    ['main', 'a\0b'],
    ['base_url', ''],
    ['base_url', 'https://user:pass@seller.example'],
    ['base_url', 'https://seller.example/?a=1'],
    ['quantity', '0'],
    ['quantity', ''],
    ['url.heartbeat', 'nowhere'],
  ])('refuses %s %j', async (field, value) => {
    const answer = await me.send(FORM, filled({ [field]: value }))
    expect(answer.statusCode).toBe(400)
    expect(answer.body).toContain(`id="field-${field}-problem"`)
    expect(await runs()).toEqual([])
  })

  it('ignores unknown functions, products and URLs', async () => {
    const answer = await me.send(
      FORM,
      filled({ functions: [...GOOD.functions, 'nonsense'], other: 'x', 'url.nothing': 'x' }),
    )
    expect(answer.statusCode).toBe(303)
    expect((await runs())[0]?.choice.functions).not.toContain('nonsense')
  })

  it('does not change the URLs of a live partner', async () => {
    await setStage(lab.world.deps, partner.partner_id, { stage: 'live' })
    const page = await me.open(FORM)
    expect(page.body).toMatch(/id="field-base_url"[^>]* readonly/)
    expect(textOf(page)).toContain('Your integration is live')
    expect((await me.send(FORM, filled({ base_url: 'https://evil.example' }))).statusCode).toBe(303)
    expect((await showPartner(lab.world.deps, partner.partner_id)).base_url).toBe('https://seller.example/api')
  })
})

it('starting a run does not change the URLs of a partner that goes live at the same moment', async () => {
  const { pool } = lab.world
  const operator = await pool.connect()
  await operator.query('begin')
  await operator.query(`update partner set stage = 'live' where partner_id = $1`, [partner.partner_id])
  const started = me.send(FORM, filled({ base_url: 'https://evil.example' }))
  await untilLocked(pool)
  await operator.query('commit')
  operator.release()
  expect((await started).statusCode).toBe(303)
  expect((await showPartner(lab.world.deps, partner.partner_id)).base_url).toBe('https://seller.example/api')
})

describe('starting again', () => {
  it('asks first, on a page that says what it overwrites and keeps the form', async () => {
    await me.send(FORM, filled())
    const [first] = await runs()
    await lab.world.pool.query(
      `insert into sandbox_attempt (attempt_id, run_id, step_id, number, started_at, alive_till, ended_at, outcome)
       values (gen_random_uuid(), $1, 'product-pull', 1, now(), now(), now(), 'passed')`,
      [first?.run_id],
    )
    expect(textOf(await me.open(FORM))).toMatch(/Test run 1 is in progress: 1 of \d+ steps passed/)
    const question = await me.send(FORM, filled({ main: 'P-"2"' }))
    expect(question.statusCode).toBe(200)
    expect(textOf(question)).toMatch(/Test run 1 has passed 1 of \d+ steps\./)
    expect(await runs()).toHaveLength(1)
    const fields = new URLSearchParams()
    const [, main = ''] = question.body.split('<main') // the form to sign out is before it
    for (const [, name = '', value = ''] of main.matchAll(/type="hidden" name="([^"]*)" value="([^"]*)"/g)) {
      fields.append(name, value.replaceAll('&quot;', '"'))
    }
    const back = new URLSearchParams([...fields, ['action', 'back']])
    expect((await me.send(FORM, back.toString())).body).toContain('name="main" value="P-&quot;2&quot;"')
    const confirmed = new URLSearchParams([...fields, ['action', 'start']])
    expect((await me.send(FORM, confirmed.toString())).statusCode).toBe(303)
    const [second] = await runs()
    expect([second?.number, second?.choice.products.main]).toEqual([2, 'P-"2"'])
    // The confirmation in the other tab was for replacing run 1, not run 2.
    confirmed.set('later', 'P-3')
    const stale = await me.send(FORM, confirmed.toString())
    expect(stale.statusCode).toBe(200)
    expect(textOf(stale)).toContain('Test run 2 has passed')
  })

  it('is refused after 30 runs within a minute, with all input kept', async () => {
    const startAnother = async () =>
      me.send(FORM, filled({ main: 'P-typed', replaces: (await runs())[0]?.run_id ?? '' }))
    for (let started = 0; started < 30; started++) expect((await startAnother()).statusCode).toBe(303)
    const refused = await startAnother()
    expect([refused.statusCode, refused.headers['retry-after']]).toEqual([429, '60'])
    expect(textOf(refused)).toContain('too often in the last minute')
    expect(refused.body).toContain('value="P-typed"')
    expect(await runs()).toHaveLength(30)
    lab.world.clock.advance(60)
    expect((await startAnother()).statusCode).toBe(303)
  })

  it('with a double click creates one run', async () => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => me.send(FORM, filled())))
    expect(new Set(answers.map(({ headers }) => headers.location)).size).toBe(1)
    expect(await runs()).toHaveLength(1)
  })
})

describe('checking addresses', () => {
  it('tries the URLs of the chosen functions, saves nothing, and keeps the form', async () => {
    const url = `http://127.0.0.1:${new URL(lab.url).port}/nowhere`
    const answer = await me.send(FORM, filled({ action: 'check', base_url: url, main: 'P-9' }))
    expect(answer.statusCode).toBe(200)
    const text = textOf(answer)
    expect(text).toContain('Address check')
    expect(text).toContain(`${url}/order/create`)
    expect(text).not.toContain(`${url}/balance`)
    expect(answer.body).toContain('value="P-9"')
    expect((await showPartner(lab.world.deps, partner.partner_id)).base_url).toBe('https://seller.example/api')
  })

  it('is rate limited, and says so', async () => {
    const check = () => me.send(FORM, filled({ action: 'check', base_url: 'x' }))
    for (let count = 0; count < 12; count++) await check()
    const answer = await check()
    expect(answer.statusCode).toBe(429)
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
    expect(textOf(answer)).toContain('too often in the last minute')
  })
})

describe('home and history', () => {
  it('lead to all runs that are kept, a hundred on a page', async () => {
    await lab.world.pool.query(
      `insert into sandbox_run (run_id, partner_id, number, choice, created_at, superseded_at)
       select gen_random_uuid(), $1, n, '{"functions":[],"products":{"main":"P"},"quantity":1}', now(), now()
       from generate_series(1, 150) n`,
      [partner.partner_id],
    )
    const newest = await me.open('/sandbox/history')
    expect(textOf(newest)).not.toContain('Test run 50 ')
    const [, older = ''] = /href="(\/sandbox\/history\?before=\d+)"/.exec(newest.body) ?? []
    const oldest = await me.open(older)
    expect(textOf(oldest)).toContain('Test run 50 ')
    expect(textOf(oldest)).not.toContain('Test run 51 ')
    expect(oldest.body).not.toContain('rel="next"')
    expect((await me.open('/sandbox/history?before=x')).body).toContain('Test run 150')
  })

  it('show what to do next, and list the runs, newest first', async () => {
    const next = async () => /aria-current="step">\s*<h2><a href="([^"]*)"/.exec((await me.open('/sandbox')).body)?.[1]
    await lab.world.pool.query('delete from signature_pass where partner_id = $1', [partner.partner_id])
    expect(await next()).toBe('/sandbox/signature')
    await unlock(lab, partner.partner_id)
    expect(await next()).toBe('/sandbox/functions')
    expect(textOf(await me.open('/sandbox/history'))).toContain('There is no test run yet.')
    await me.send(FORM, filled())
    expect(await next()).toBe('/sandbox/run')
    const [first] = await runs()
    await me.send(FORM, filled({ main: 'P-2', replaces: String(first?.run_id) }))
    const history = textOf(await me.open('/sandbox/history'))
    expect(history.indexOf('Test run 2')).toBeLessThan(history.indexOf('Test run 1'))
    expect(history).toContain('overwritten 2026-05-06')
    await lab.world.pool.query('update sandbox_run set passed_at = now(), current_step = null where run_id = $1', [
      (await runs())[0]?.run_id,
    ])
    const report = textOf(await me.open(`/sandbox/run/${(await runs())[0]?.run_id}/report`))
    expect(report).toContain('The integration passed at')
    expect(report).toContain(partner.client_id)
  })
})
