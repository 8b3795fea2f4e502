import { describe, expect, it } from 'vitest'
import { parseInput } from '../../src/platform/lib/json/input.ts'
import { parseLossless } from '../../src/platform/lib/json/lossless.ts'
import { contact, newPartner, onePartner, partnerChanges, stageChange } from '../../src/ticketing/partners/wire.ts'
import { problemsOf } from '../registry/problems.ts'

const url = 'must be an absolute http:// or https:// URL'

describe('a new partner', () => {
  it('needs only a name, and begins in the sandbox', () => {
    expect(parseInput(newPartner, { name: ' Sunny Tickets ' })).toEqual({
      name: 'Sunny Tickets',
      stage: 'sandbox',
      base_url: null,
      interface_urls: {},
      contacts: {},
    })
  })

  it('keeps a PartnerId exact, as number, text or bigint', () => {
    const idOf = (partner_id: unknown) => parseInput(newPartner, { name: 'X', partner_id }).partner_id
    expect(idOf(7001)).toBe(7001n)
    expect(idOf('7001')).toBe(7001n)
    expect(idOf('8985652356562370001')).toBe(8985652356562370001n)
    expect(idOf(9223372036854775807n)).toBe(9223372036854775807n)
  })

  it('keeps URLs as they were typed', () => {
    const urls = {
      base_url: 'HTTPS://Partner.example:8443/api/',
      interface_urls: { 'order-create': 'http://a/b?c=%2F' },
    }
    expect(parseInput(newPartner, { name: 'X', ...urls })).toMatchObject(urls)
  })

  it('is refused with every problem at once, each with its field', () => {
    const input = {
      partner_id: 0,
      client_id: 'with space',
      name: '',
      stage: 'production',
      status: 'suspended',
      base_url: 'https://u:p@partner.example/',
      interface_urls: { 'order-create': 'ftp://x', 'Order Pay': 'https://x', 'order-query': 'https://x/#f', poi: 7 },
      contacts: { product: { name: '', mail: 'nobody', webhook_url: 'x' }, business: {}, boss: {} },
      client_secret: 'mine',
    }
    expect(problemsOf(newPartner, input)).toEqual({
      partner_id: 'must be at least 1',
      client_id: 'must have 1 to 64 visible ASCII characters, without whitespace or colons',
      name: 'must have at least 1 character',
      stage: 'must be sandbox or live',
      base_url: 'must not contain a user name or password',
      'interface_urls.order-create': url,
      'interface_urls.Order Pay': 'is not the name of an interface, such as order-create',
      'interface_urls.order-query': 'must not have a fragment',
      'interface_urls.poi': 'must be a string',
      'contacts.product.name': 'must have at least 1 character',
      'contacts.product.mail': 'must be an email address: someone@example.com',
      'contacts.product.webhook_url': url,
      'contacts.business.name': 'is required',
      'contacts.business.mail': 'is required',
      'contacts.boss': 'is not a known field',
      status: 'is not a known field',
      client_secret: 'is not a known field',
    })
  })

  it.each([
    ['a', true],
    ['a'.repeat(64), true],
    ['A.b-c_d~e/f=', true],
    ['', false],
    ['a'.repeat(65), false],
    ['a:b', false],
    ['a b', false],
    ['a\tb', false],
    ['a\nb', false],
    ['a\u0000b', false],
    ['票', false],
    [7, false],
    [null, false],
  ])('with the clientId %j is valid: %j', (client_id, good) => {
    expect(Object.keys(problemsOf(newPartner, { name: 'X', client_id }))).toEqual(good ? [] : ['client_id'])
  })

  it.each([
    0,
    -1,
    '0',
    1.5,
    '1.5',
    '',
    'abc',
    '9223372036854775808',
    2 ** 63,
    Number('8985652356562370001'),
    true,
    null,
  ])('with the PartnerId %j is refused', (partner_id) => {
    expect(Object.keys(problemsOf(newPartner, { name: 'X', partner_id }))).toEqual(['partner_id'])
  })

  it.each([
    'partner.example',
    '//partner.example',
    'https://',
    'javascript:alert(1)',
    'file:///etc/passwd',
    'https://user@partner.example/',
    'https://partner.example/#top',
    'https://partner.example/?a=b',
    'https://partner.example/?',
    'https://partner.example/a b',
    'https://partner.example\\a',
    'https://partner.example/\u0000',
    `https://partner.example/${'a'.repeat(2_048)}`,
    '',
    7,
  ])('with the base URL %j is refused', (base_url) => {
    expect(Object.keys(problemsOf(newPartner, { name: 'X', base_url }))).toEqual(['base_url'])
  })

  it.each(['http://127.0.0.1:3002', 'https://[::1]/mtp', 'https://partner.example', 'https://票.example/a'])(
    'with the base URL %j is accepted: addresses are checked only when called',
    (base_url) => {
      expect(problemsOf(newPartner, { name: 'X', base_url })).toEqual({})
    },
  )

  it.each([undefined, null, [], 'text', 7n])('%s is refused', (input) => {
    expect(Object.keys(problemsOf(newPartner, input))).toEqual(['body'])
  })

  it('cannot be given a prototype', () => {
    const body = parseLossless(
      Buffer.from('{"name":"X","__proto__":{"stage":"live"},"interface_urls":{"__proto__":"x"}}'),
    )
    expect(problemsOf(newPartner, 'value' in body ? body.value : undefined)).toEqual({
      ['__proto__']: 'is not a known field',
    })
  })
})

describe('changes of a partner', () => {
  it('have only the given fields, without defaults', () => {
    expect(parseInput(partnerChanges, {})).toEqual({})
    expect(parseInput(partnerChanges, { base_url: null })).toEqual({ base_url: null })
  })

  it('cannot touch ids, status, stage, contacts and secrets', () => {
    const input = { partner_id: 1, client_id: 'x', status: 'active', stage: 'live', contacts: {}, client_secret: 'x' }
    expect(Object.values(problemsOf(partnerChanges, input))).toEqual(Array(6).fill('is not a known field'))
  })
})

it('a stage is sandbox or live', () => {
  expect(parseInput(stageChange, { stage: 'live' })).toEqual({ stage: 'live' })
  expect(problemsOf(stageChange, {})).toEqual({ stage: 'is required' })
})

it('a contact has a name, a mail address and an optional webhook', () => {
  const minimal = { name: '王小明', mail: 'wang@partner.example' }
  expect(parseInput(contact, minimal)).toEqual({ ...minimal, webhook_url: null })
  const webhook_url = 'https://partner.example/hook?key=1'
  expect(parseInput(contact, { ...minimal, webhook_url })).toEqual({ ...minimal, webhook_url })
  for (const mail of ['', 'a@b', 'a b@c.de', 'a@b.c\nBcc: x@y.de', `${'a'.repeat(250)}@b.de`]) {
    expect(Object.keys(problemsOf(contact, { ...minimal, mail }))).toEqual(['mail'])
  }
})

it.each([
  ['7001', 7001n],
  ['0007001', 7001n],
  ['9223372036854775807', 9223372036854775807n],
  ['', 0n],
  ['-7001', 0n],
  ['7001.0', 0n],
  ['0x1b59', 0n],
  ['99999999999999999999', 0n],
  [' 7001', 0n],
  ['7001\u0000', 0n],
])('a path with %s names the PartnerId %s', (text, id) => {
  expect(onePartner.safeParse({ partner_id: text }).data?.partner_id ?? 0n).toBe(id)
})
