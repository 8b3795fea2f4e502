import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { translator } from '../../../src/platform/lib/web/locale.ts'
import type { Notifications } from '../../../src/sandbox/portal/notify/notifications.ts'
import { contactMessages } from '../../../src/sandbox/portal/pages/run-parts.ts'
import { showPartner } from '../../../src/ticketing/partners/partner.ts'
import { type Lab, openLab } from '../lab.ts'
import { newSandboxPartner, type SandboxPartner } from '../partners.ts'
import { textOf, unlock, type Visitor, visitor } from './visitor.ts'

/** The contacts of a partner, on the page of functions and on the page of a run. */

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
const CONTACTS = {
  'contact.product.name': '林工',
  'contact.product.mail': 'lin@example.com',
  'contact.business.name': 'Bo',
  'contact.business.mail': 'bo@example.com',
}
const stored = async () => (await showPartner(lab.world.deps, partner.partner_id)).contacts
const fieldValue = (body: string, name: string) => new RegExp(`name="${name}"[^>]*? value="([^"]*)"`).exec(body)?.[1]

describe('the contacts form', () => {
  it('says that acceptance needs contacts, saves them, and keeps the other fields as typed', async () => {
    expect(textOf(await me.open(FORM))).toContain('Acceptance needs both contacts.')
    const saved = await me.send(FORM, { action: 'contacts', main: 'P-typed', ...CONTACTS })
    expect(saved.statusCode).toBe(200)
    expect(textOf(saved)).toContain('The contacts have been saved.')
    expect(textOf(saved)).not.toContain('Acceptance needs both contacts.')
    expect(fieldValue(saved.body, 'main')).toBe('P-typed')
    expect(await stored()).toMatchObject({
      product: { name: '林工', mail: 'lin@example.com' },
      business: { name: 'Bo', mail: 'bo@example.com' },
    })
    const { body } = await me.open(FORM)
    for (const [name, value] of Object.entries(CONTACTS)) expect(fieldValue(body, name), name).toBe(value)
  })

  it('shows a problem beside its field, and then stores nothing', async () => {
    const answer = await me.send(FORM, { action: 'contacts', ...CONTACTS, 'contact.product.mail': 'lin' })
    expect(answer.statusCode).toBe(400)
    expect(answer.body).toContain('id="field-contact.product.mail-problem"')
    expect(textOf(answer)).toContain('Enter an email address, such as someone@example.com.')
    expect(fieldValue(answer.body, 'contact.product.mail')).toBe('lin')
    const nothing = await me.send(FORM, { action: 'contacts', 'contact.product.name': '', 'contact.product.mail': '' })
    expect(nothing.statusCode).toBe(400)
    expect(await stored()).toEqual({})
  })

  it('does not remove a contact', async () => {
    await me.send(FORM, { action: 'contacts', ...CONTACTS })
    const answer = await me.send(FORM, {
      action: 'contacts',
      ...CONTACTS,
      'contact.business.name': '',
      'contact.business.mail': '',
    })
    expect(answer.statusCode).toBe(400)
    expect(await stored()).toMatchObject({ business: { name: 'Bo' } })
  })

  it('is checked and stored when a run starts, and kept through the question whether to overwrite a run', async () => {
    const start = {
      action: 'start',
      main: 'P-1',
      quantity: '2',
      base_url: 'https://seller.example/api',
    }
    const form = (contacts: object) => {
      const query = new URLSearchParams({ ...start, ...contacts })
      for (const id of ['product-pull', 'pay-at-once', 'refund-at-once']) query.append('functions', id)
      return query.toString()
    }
    const half = await me.send(FORM, form({ ...CONTACTS, 'contact.business.mail': '' }))
    expect(half.statusCode).toBe(400)
    expect((await me.send(FORM, form({}))).statusCode).toBe(303)
    expect(await stored()).toEqual({})
    const question = await me.send(FORM, form({ quantity: '3', ...CONTACTS }))
    expect(textOf(question)).toContain('Start again?')
    expect(fieldValue(question.body, 'contact.product.mail')).toBe('lin@example.com')
    expect(await stored()).toEqual({})
    const [, shown = ''] = question.body.split('action="/sandbox/functions"')
    const kept = shown.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)
    const agreed = new URLSearchParams([...kept].map(([, name = '', value = '']) => [name, value]))
    agreed.append('action', 'start')
    expect((await me.send(FORM, agreed.toString())).statusCode).toBe(303)
    expect(await stored()).toMatchObject({
      product: { name: '林工', mail: 'lin@example.com' },
      business: { name: 'Bo', mail: 'bo@example.com' },
    })
  })
})

describe('the page of a run', () => {
  it('names the missing contacts before acceptance is requested', async () => {
    const runId = randomUUID()
    await lab.world.pool.query(
      `insert into sandbox_run (run_id, partner_id, number, choice, created_at)
       values ($1, $2, 1, '{"functions":[],"products":{"main":"DEMO-OPEN"},"quantity":2}', $3)`,
      [runId, partner.partner_id, lab.world.clock.now()],
    )
    const page = await me.open(`/sandbox/run/${runId}`)
    expect(textOf(page)).toContain('contacts that you have not added yet: Product contact, Business contact.')
    expect(page.body).toContain('href="/sandbox/functions#contacts"')
    const refused = await me.open(`/sandbox/run/${runId}?refused=contacts_missing`)
    expect(textOf(refused)).toContain('Add them on the Functions page')
  })

  it('says when nobody was notified, and where to add contacts', async () => {
    const runId = randomUUID()
    await lab.world.pool.query(
      `insert into sandbox_run (run_id, partner_id, number, choice, created_at, passed_at)
       values ($1, $2, 1, '{"functions":[],"products":{"main":"DEMO-OPEN"},"quantity":2}', $3, $3)`,
      [runId, partner.partner_id, lab.world.clock.now()],
    )
    const shown = await me.open(`/sandbox/run/${runId}`)
    expect(textOf(shown)).toContain('Who was told Nobody: no contact was registered')
    expect(shown.body.match(/functions#contacts/g)).toHaveLength(1)
    expect(shown.body).not.toContain('class="told"')
  })
})

describe('a message', () => {
  const at = new Date('2026-05-06T10:34:00Z')
  const QUEUED: Notifications['notifications'][number] = {
    notification_id: 'n',
    role: 'product',
    channel: 'mail',
    state: 'waiting',
    attempts: 0,
    last_error: null,
    created_at: at,
    sent_at: null,
    address: 'l***@example.com',
    next_attempt_at: at,
  }
  it.each([
    ['queued', {}, null, ['plain', 'queued', '']],
    ['being sent', { attempts: 1, next_attempt_at: null }, null, ['plain', 'sending', '']],
    [
      'retried later',
      { attempts: 2, last_error: 'the mail server cannot be reached' },
      null,
      ['warning', 'retrying', 'the mail server cannot be reached; next attempt \n'],
    ],
    [
      'retried now',
      { attempts: 2, last_error: 'no', next_attempt_at: null },
      null,
      ['warning', 'retrying', 'no; trying again now'],
    ],
    ['given up', { state: 'failed', attempts: 9, last_error: 'no' }, null, ['bad', 'not delivered', 'no']],
    ['sent', { state: 'sent', attempts: 1, sent_at: at }, null, ['good', 'sent', '\n']],
    [
      'written to a file',
      { state: 'sent', attempts: 1, sent_at: at },
      '/mail',
      ['warning', 'written to a file, not sent', '\n'],
    ],
    [
      'sent to a webhook',
      { channel: 'webhook', state: 'sent', sent_at: at },
      '/mail',
      ['good', 'sent', expect.anything()],
    ],
  ] as const)('that is %s is shown as such', (_name, changes, folder, [tone, word, detail]) => {
    const [shown] = contactMessages('run', { folder, notifications: [{ ...QUEUED, ...changes }] }, translator('en'))
    expect(shown).toMatchObject({ tone, word, detail })
    expect(shown?.retry === null).toBe(word !== 'not delivered')
  })
})
