import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { notificationsOf } from '../../src/sandbox/portal/notify/notifications.ts'
import { setContact } from '../../src/ticketing/partners/contact.ts'
import { showPartner } from '../../src/ticketing/partners/partner.ts'
import { call } from './caller.ts'
import { type Lab, openLab, SIMPLE } from './lab.ts'
import { textOf, visitor } from './pages/visitor.ts'
import { walk } from './walk.ts'

/** The partner sets its own contacts, and no run is accepted without them. */

let lab: Lab
let runId: string
beforeAll(async () => {
  lab = await openLab()
  const walked = await walk(lab, SIMPLE)
  expect(walked.failed).toBeUndefined()
  runId = walked.runId
})
afterAll(() => lab.close())
beforeEach(async () => {
  lab.world.clock.advance(61)
  await lab.world.pool.query('delete from partner_contact')
})

const PRODUCT = { name: '林工', mail: 'lin@example.com' }
const BUSINESS = { name: 'Bo', mail: 'bo@example.com' }
const give = (body: object) => call(lab, 'POST', '/contacts', { body })

describe('contacts over the headless API', () => {
  it('can be set one by one, and read', async () => {
    const none = { code: 200, contacts: {}, missing_contacts: ['product', 'business'] }
    expect(await call(lab, 'GET', '/contacts')).toMatchObject(none)
    expect(await give({ business: BUSINESS })).toMatchObject({
      contacts: { business: BUSINESS },
      missing_contacts: ['product'],
    })
    const both = { contacts: { product: PRODUCT, business: BUSINESS }, missing_contacts: [] }
    expect(await give({ product: PRODUCT })).toMatchObject(both)
    expect(await call(lab, 'GET', '/contacts')).toMatchObject(both)
  })

  it('keep a webhook that an operator set, and are audited as set by the partner', async () => {
    const webhook_url = 'https://hooks.example/told?token=planted'
    const { deps, pool } = lab.world
    await setContact(deps, lab.partnerId, { role: 'product', name: 'Before', mail: 'before@example.com', webhook_url })
    lab.world.clock.advance(1) // otherwise it would be chance which event comes last
    const answer = await give({ product: PRODUCT })
    expect(answer.text).not.toContain('planted')
    const { contacts } = await showPartner(deps, lab.partnerId)
    expect(contacts.product).toEqual({ ...PRODUCT, webhook_url })
    const { rows } = await pool.query(
      `select actor, address, request_id, detail from audit_event where event = 'partner_contact_set' order by at desc limit 1`,
    )
    const from = { address: '127.0.0.1', request_id: answer.headers.get('x-request-id') }
    expect(rows).toMatchObject([{ actor: 'partner', ...from, detail: { role: 'product', new_webhook_secret: false } }])
  })

  it.each([
    [{}, 'must have product or business'],
    [{ product: { name: 'Lin' } }, 'body.product.mail'],
    [{ product: { name: '', mail: 'lin@example.com' } }, 'body.product.name'],
    [{ product: { ...PRODUCT, mail: 'lin' } }, 'body.product.mail must be an email address'],
    [{ product: { ...PRODUCT, name: 'Lin\r\nBcc: all@example.com' } }, 'control characters'],
    [{ product: { ...PRODUCT, webhook_url: 'https://hooks.example' } }, 'webhook_url'],
    [{ sales: PRODUCT }, 'sales'],
  ])('refuse the input %j', async (body, why) => {
    expect(await give(body)).toMatchObject({ code: 300, describe: expect.stringContaining(why) })
  })

  it('can change at most 30 times a minute, and sending the same again is no change', async () => {
    for (let n = 0; n < 30; n++) {
      expect(await give({ product: { ...PRODUCT, name: `Lin ${n}` } })).toMatchObject({ code: 200 })
    }
    expect(await give({ product: { ...PRODUCT, name: 'Lin 29' } })).toMatchObject({ code: 200 })
    expect(await give({ product: PRODUCT })).toMatchObject({ status: 429, code: 300 })
  })
})

describe('acceptance', () => {
  const accept = () => call(lab, 'POST', `/runs/${runId}/accept`)

  it('is refused without contacts, saying where to add them, and succeeds once they exist', async () => {
    const refused = await accept()
    expect(refused).toMatchObject({ status: 200, code: 300 })
    for (const said of [
      'product and a business contact',
      '/sandbox/functions#contacts',
      'POST /sandbox/api/contacts',
    ]) {
      expect(refused.describe).toContain(said)
    }
    expect(await call(lab, 'GET', `/runs/${runId}/report`)).toMatchObject({
      report: { passed_at: null, acceptance: { passed: false, missing_contacts: ['product', 'business'] } },
    })
    await give({ product: PRODUCT })
    expect(await accept()).toMatchObject({ code: 300, describe: expect.stringContaining('needs a business contact') })
    await give({ business: BUSINESS })
    expect(await accept()).toMatchObject({ code: 200, passed: true, missing_contacts: [] })
    const { notifications } = await notificationsOf(lab.world.deps, runId)
    expect(notifications.map(({ role, channel, state }) => [role, channel, state])).toEqual([
      ['product', 'mail', 'waiting'],
      ['business', 'mail', 'waiting'],
    ])
  })

  it('of a later run does not notify the contacts again, and says so', async () => {
    await give({ product: PRODUCT, business: BUSINESS })
    const later = await walk(lab, SIMPLE)
    expect(later.failed).toBeUndefined()
    expect(await call(lab, 'POST', `/runs/${later.runId}/accept`)).toMatchObject({ code: 200, passed: true })
    expect((await notificationsOf(lab.world.deps, later.runId)).notifications).toEqual([])
    expect((await notificationsOf(lab.world.deps, runId)).notifications).toHaveLength(2)
    const me = await visitor(lab)
    const page = textOf(await me.open(`/sandbox/run/${later.runId}`))
    expect(page).toContain('your contacts were told when an earlier run passed')
    expect(page).not.toContain('while no contacts were known')
  })

  it('names the missing contacts even when steps are missing too', async () => {
    await call(lab, 'POST', '/runs', { overwrite: true, body: SIMPLE })
    expect(await call(lab, 'POST', '/runs/present/accept')).toMatchObject({
      code: 200,
      passed: false,
      missing_contacts: ['product', 'business'],
    })
  })
})
