import { describe, expect, it } from 'vitest'
import { type Detail, localized } from '../../src/platform/lib/localized-text.ts'
import { HIDDEN, maskedAnswer, maskedReason } from '../../src/platform/lib/masked-reason.ts'
import type { Direction } from '../../src/sandbox/portal/docs/notices.ts'
import { fieldReference } from '../../src/sandbox/portal/docs/reference.ts'
import { maskedBody, SHOWN_FIELDS } from '../../src/sandbox/portal/traffic/masked-body.ts'

/** Without giving a reason, operators see only the listed fields of a body. */

const shown = (name: string, direction: Direction, body: unknown): unknown =>
  JSON.parse(maskedBody(JSON.stringify(body), { name, direction }) ?? 'null')

describe('a body that operators see without a reason', () => {
  it('keeps ids, quantities, prices, days and states', () => {
    const consumed = {
      partnerId: 7001,
      body: {
        ...{ orderId: '9007199254740993', partnerOrderId: 'P-1', quantity: 2, usedQuantity: '1', refundedQuantity: 0 },
        voucherList: [{ voucher: 'V-1', status: 1, quantity: 1, voucherInvalidTime: '2026-12-31 23:59:59' }],
        ...{ useStartDate: '2026-06-01', useEndDate: null },
      },
    }
    expect(shown('consume', 'notice', consumed)).toEqual({
      ...consumed,
      body: { ...consumed.body, voucherList: [{ ...consumed.body.voucherList[0], voucher: HIDDEN }] },
    })
  })

  it.each<[what: string, name: string, direction: Direction, body: object, kept?: string]>([
    ['a name where a number belongs', 'consume', 'notice', { body: { quantity: 'ERIKA' } }],
    ['a phone number where a number belongs', 'consume', 'notice', { body: { quantity: 13912345678 } }],
    ['a name as an id', 'consume', 'notice', { body: { partnerOrderId: 'ERIKA MUSTERMANN', orderId: 'ERIKA' } }],
    ['a name as a day', 'order-create', 'request', { body: { travelDate: 'ERIKA' } }],
    ['a day of birth that a partner adds', 'order-create', 'request', { body: { visitorBirthDate: '1990-01-01' } }],
    ['a name that ends like a listed one', 'order-pay', 'answer', { body: { holderStatus: 'ERIKA', ownerType: 5 } }],
    ['free text', 'order-pay', 'answer', { code: 300, describe: 'ERIKA has bought', message: 'ERIKA' }],
    ['a visitor', 'order-create', 'request', { body: { visitors: [{ name: 'ERIKA', gender: 1, mobile: '139' }] } }],
    ['a list in a list', 'balance-query', 'request', { body: { partnerDealIds: [['D1', 'ERIKA']] } }],
    ['an object where a number belongs', 'consume', 'notice', { body: { quantity: { name: 'ERIKA', status: 1 } } }],
    ['a list where a number belongs', 'consume', 'notice', { body: { quantity: ['ERIKA', 5] } }],
    ['a listed field in another case', 'consume', 'notice', { body: { ORDERID: 1234, OrderId: 'ERIKA' } }],
    ['a listed field at another place', 'consume', 'notice', { body: { name: { orderId: 1234 } }, orderId: 1234 }],
    ['a name as the name of a field', 'order-create', 'request', { body: { 'Erika M': 1, '13912345678': true } }],
    [
      'codes and documents',
      'order-pay',
      'answer',
      { body: { vouchers: ['V-1'], credentialList: [{ credentialNo: 'X1' }] } },
    ],
    ['a message that the contract does not have', 'nonsense', 'request', { code: 200, orderId: 1234 }],
  ])('hides %s', (_what, name, direction, body) => {
    const text = JSON.stringify(shown(name, direction, body))
    expect(text).toContain(HIDDEN)
    for (const secret of ['ERIKA', 'Erika', '139', '1990', '1234', 'V-1', 'X1', 'D1'])
      expect(text).not.toContain(secret)
  })

  it('may be an answer whose fields are beside code and describe', () => {
    const answer = { code: 200, describe: 'success', partnerOrderId: 'P-1', visitor: 'ERIKA' }
    const { visitor: _, ...known } = answer
    expect(shown('order-create', 'answer', answer)).toEqual({ ...known, describe: HIDDEN, '(unknown 1)': HIDDEN })
  })

  it.each<[string, string, Direction, object, object]>([
    [
      'a map',
      'order-create',
      'request',
      { body: { orderId: 5, additionMap: { E12345678: { note: 'x' }, ZhangSan: 'x' } } },
      { body: { orderId: 5, '(unknown 1)': { '(unknown 1)': { '(unknown 1)': HIDDEN }, '(unknown 2)': HIDDEN } } },
    ],
    ['a list of maps', 'order-pay', 'answer', { ZhangSan: [{ E1: '' }] }, { '(unknown 1)': [{ '(unknown 1)': '' }] }],
    ['a message that the contract lacks', 'nonsense', 'request', { ZhangSan: 1 }, { '(unknown 1)': HIDDEN }],
    [
      'fields that are named like this',
      'consume',
      'notice',
      { '(unknown 1)': 'x', ZhangSan: 'y' },
      { '(unknown 1)': HIDDEN, '(unknown 2)': HIDDEN },
    ],
  ])('numbers unknown fields instead of naming them: %s', (_what, name, direction, body, masked) => {
    expect(shown(name, direction, body)).toEqual(masked)
  })

  it.each([
    ['XML', '<order><name>ERIKA</name></order>'],
    ['a form', 'name=ERIKA&orderId=1'],
    ['JSON with a duplicate name', '{"orderId":"ERIKA","orderId":1}'],
    ['nested too deeply', `${'{"a":'.repeat(40)}1${'}'.repeat(40)}`],
    ['cut off', '{"orderId":1,"na'],
  ])('is left out if it is %s', (_what, text) => {
    expect(maskedBody(text, { name: 'consume', direction: 'notice' })).toBeUndefined()
  })

  it.each(['"ERIKA"', '["ERIKA"]', '13912345678', '[[{"orderId":1234}]]'])(
    'hides what is not an object: %s',
    (text) => {
      expect(maskedBody(text, { name: 'consume', direction: 'notice' })).not.toMatch(/ERIKA|139|1234/)
    },
  )
})

it('every field of the contract is listed either as shown or as masked', () => {
  const { notices, interfaces } = fieldReference('en')
  const fields = [...notices, ...interfaces].flatMap(({ parts }) => parts.flatMap((part) => part.fields))
  const leaves = new Set(fields.filter(({ kind }) => kind !== 'object').map(({ name }) => name))
  expect([...SHOWN_FIELDS].filter((name) => !leaves.has(name))).toEqual([])
  expect([...leaves].filter((name) => !SHOWN_FIELDS.has(name)).sort()).toEqual([
    ...['address', 'aheadTimeRules', 'body', 'certificateSupplement', 'city', 'credentialNo', 'credentialType'],
    ...['credentialVouchers', 'credentials', 'describe', 'effectiveCertificate', 'email', 'exclude', 'frontImage'],
    ...['gender', 'getInAddresses', 'hkmlp', 'imageName', 'imageUrl', 'include', 'latitude', 'levelName', 'longitude'],
    ...['mobile', 'mtp', 'name', 'orderAdditionalList', 'otherNote', 'passport', 'phone', 'pinyin', 'postCode'],
    ...['reason', 'refundNote', 'servicePhones', 'subTitle', 'title', 'tlp', 'unavailableDates', 'voucher'],
    ...['voucherAdditionalList', 'voucherList', 'voucherPics', 'voucherText', 'voucherTimes', 'vouchers'],
  ])
})

describe('the reason why a call was refused', () => {
  const required = localized('field-problem', { field: 'body.quantity', problem: localized('must-be-required') })
  const quoted = localized('not-json', { message: "got 'ERIKA'" })
  it.each<[Detail, string]>([
    [localized('other-quantity', { quantity: 3, order: 7, own: 2 }), 'quantity is 3; order 7 has 2'],
    [localized('several', { problem: required, rest: localized('and-more') }), 'body.quantity is required; and more'],
    [localized('foreign-voucher', { voucher: 'V-1001', order: 7 }), 'voucher *** is not of order 7'],
    [
      localized('code-said', { code: 420, meaning: 'out of stock', describe: 'ERIKA has bought' }),
      '420 (out of stock): ***',
    ],
    [
      localized('partner-says', { remark: 'ERIKA', problem: localized('whole-value', { problem: 'ERIKA' }) }),
      'the partner says "***"; the JSON value ***',
    ],
    [
      localized('other-partner-order', { given: 'ERIKA', order: 7, own: 'P-1' }),
      'partnerOrderId is ***; that of order 7 is ***',
    ],
    [localized('at-line', { problem: quoted, line: 1, column: 2 }), 'not JSON: *** (line 1, column 2)'],
    ['ERIKA has bought', HIDDEN],
    ['', ''],
  ])('is masked where it quotes the partner: %s', (reason, masked) => {
    expect(String(maskedReason(reason))).toBe(masked)
    const answer = JSON.stringify({ code: 300, describe: reason })
    const isKnown = typeof reason !== 'string'
    expect(JSON.parse(maskedAnswer(answer, reason))).toMatchObject({ describe: isKnown ? masked : HIDDEN })
    expect(JSON.parse(maskedAnswer(answer, localized('no-key')))).toMatchObject({ describe: HIDDEN })
  })

  it('omits the position where the answer does', () => {
    const reason = localized('at-line', { problem: localized('http-body', { problem: quoted }), line: 1, column: 2 })
    const answer = JSON.stringify({ code: 300, describe: "HTTP body: not JSON: got 'ERIKA'" })
    expect(JSON.parse(maskedAnswer(answer, reason))).toMatchObject({ describe: 'HTTP body: not JSON: ***' })
    const success = JSON.stringify({ code: 200, describe: 'success' })
    expect(JSON.parse(maskedAnswer(success, null))).toMatchObject({ describe: 'success' })
  })
})
