import { describe, expect, it } from 'vitest'
import { type Detail, localized } from '../../src/platform/lib/localized-text.ts'
import { examine } from '../../src/sandbox/checks/examine.ts'
import type { CallRecord } from '../../src/ticketing/partner-calls/call-store.ts'
import { PRODUCT } from '../interfaces/product-example.ts'
import { inEnglish } from '../sandbox/in-english.ts'

const answered = (http_status: number, body: unknown, name = 'order-query'): CallRecord =>
  ({
    partner_id: 7001n,
    interface: name,
    order_id: null,
    request_body: '{}',
    duration_ms: 5,
    http_status,
    response_headers: { 'content-type': 'application/json' },
    response_body: typeof body === 'string' ? body : JSON.stringify(body),
    failure: null,
    failure_detail: null,
  }) as unknown as CallRecord

const refusal = {
  check: 'signature-checked',
  accepted: (said: Detail) => localized('accepted-signature', { said }),
} as const
const failed = (...of: Parameters<typeof examine>) =>
  examine(...of)
    .map(inEnglish)
    .flatMap(({ id, passed, actual }) => (passed ? [] : [[id, actual]]))

describe('a forged call', () => {
  it.each([
    [200, { code: 300, describe: 'BA verification failed', partnerId: '7001' }],
    [200, { code: 410, describe: 'BA验证错误', partnerId: '7001' }],
    [200, { code: 300, describe: 'unknown clientId', partnerId: 'nobody' }],
    [401, ''],
    [403, '<h1>Forbidden</h1>'],
  ])('is refused by HTTP %i with %j', (status, body) => {
    expect(failed(answered(status, body), { refusal })).toEqual([])
  })

  it.each([
    ['success', 200, { code: 200, describe: 'success' }, 'code 200: "success"'],
    ['no code', 200, { describe: 'no' }, 'code missing: "no"'],
    ['a code that is not a number', 200, { code: 'FAIL' }, 'code "FAIL"'],
  ])('is not refused by %s', (_name, status, body, said) => {
    expect(failed(answered(status, body), { refusal })).toEqual([
      ['signature-checked', `accepted a call with a wrong signature (${said})`],
    ])
  })

  it('is not refused by a code that means "not yet"', () => {
    const later = answered(200, { code: 999 }, 'level-price-calendar')
    expect(failed(later, { refusal })).toMatchObject([['signature-checked', expect.stringContaining('999')]])
  })

  it('is not refused by the same answer that the genuine call got', () => {
    const none = { code: 301, describe: 'no such order' }
    expect(failed(answered(200, none), { refusal: { ...refusal, genuineAnswer: none } })).toHaveLength(1)
    const different = { code: 301, describe: 'bad BA', partnerId: '7001' }
    expect(failed(answered(200, different), { refusal: { ...refusal, genuineAnswer: none } })).toEqual([])
  })

  it.each([
    [500, '', 'http-status'],
    [404, '{"code":300}', 'http-status'],
    [302, '', 'http-status'],
    [200, 'no', 'json'],
    [200, '"{\\"code\\":300}"', 'json'],
  ])('is not refused by HTTP %i with %j, which is not a valid answer', (status, body, check) => {
    expect(failed(answered(status, body), { refusal })).toMatchObject([[check, expect.anything()]])
  })
})

describe('an expected failure', () => {
  const expectation = { codes: 'failure', usual: [420] } as const

  it('may have a code that the contract does not name, with a warning', () => {
    expect(
      failed(answered(200, { code: 420, describe: 'none left', partnerId: '7001' }, 'order-create'), expectation),
    ).toEqual([])
    expect(
      failed(answered(200, { code: 410, describe: 'none left', partnerId: '7001' }, 'order-create'), expectation),
    ).toEqual([['usual-code', '410: "none left"']])
  })

  it('must not be answered with success', () => {
    const sold = { code: 200, describe: 'success', partnerId: '7001', body: { partnerOrderId: 'P' } }
    expect(failed(answered(200, sold, 'order-create'), expectation)).toEqual([['code', '200: "success"']])
  })
})

describe('a product with invalid fields that are not essential', () => {
  it('causes a warning for each of them', () => {
    const body = [PRODUCT, { ...PRODUCT, orderCancelTime: 30, getInAddresses: [''] }]
    const findings = examine(answered(200, { code: 200, describe: 'success', partnerId: '7001', body }, 'product-pull'))
    expect(findings.filter(({ passed }) => !passed)).toMatchObject([
      { id: 'soft-fields', level: 'warning', actual: '""' },
      { id: 'soft-fields', level: 'warning', actual: '30' },
    ])
  })
})

describe('an issue of tickets with invalid fields that are not essential', () => {
  it('causes a warning for each of them', () => {
    const body = { voucherType: 1, vouchers: ['a', 'b'], voucherPics: ['x', null], realNameType: 2 }
    const findings = examine(answered(200, { code: 200, describe: 'success', partnerId: '7001', body }, 'order-pay'))
    const soft = { id: 'soft-fields', level: 'warning', passed: false }
    expect(findings.filter(({ id }) => id === 'fields' || id === 'soft-fields')).toMatchObject([
      { id: 'fields', passed: true },
      { ...soft, path: 'body.voucherPics[1]', actual: 'null' },
      { ...soft, path: 'body.realNameType', actual: '2' },
    ])
  })
})

describe('an answer that cannot be used', () => {
  it('because it is too large fails a separate check, which names the limit', () => {
    const failure_detail = 'the response is larger than 1 MiB: too-large (UND_ERR_RES_EXCEEDED_MAX_SIZE)'
    const huge = { ...answered(200, ''), http_status: null, response_body: null, failure: 'too-large', failure_detail }
    expect(examine(huge).map(inEnglish)).toMatchObject([
      { id: 'reached', passed: true },
      { id: 'answer-size', passed: false, expected: 'at most 1 MiB', actual: failure_detail },
    ])
  })

  it('because it never arrived reports both time limits', () => {
    const silent = { ...answered(200, ''), http_status: null, response_body: null, failure: 'timeout' }
    expect(examine(silent).map(inEnglish)).toMatchObject([
      { id: 'reached', expected: 'a response within 10 s (a warning after 3 s)' },
    ])
  })

  it.each([
    ['{"code":200,\n  "describe" "success"}', 'line 2, column 14'],
    ['{"code":200,\n "code":200}', 'line 2, column 2'],
    ['<h1>It works!</h1>', 'line 1, column 1'],
  ])('because it is not JSON reports the line and column: %s', (body, place) => {
    expect(failed(answered(200, body))).toMatchObject([['json', expect.stringContaining(`(${place}); it begins: `)]])
    expect(failed(answered(200, body))[0]?.[1]).not.toContain('at position')
  })

  it.each([
    [JSON.stringify('{"code":200}'), 'a string that contains JSON (encoded twice), beginning: "{\\"code\\":200}"'],
    ['"ok"', '"ok"'],
    ['[{"code":200}]', '[{"code":200}]'],
    ['null', 'null'],
  ])('because it is not an object fails for that reason, not for missing fields: %s', (body, actual) => {
    expect(
      examine(answered(200, body))
        .filter(({ passed }) => !passed)
        .map(inEnglish),
    ).toEqual([{ id: 'json', passed: false, expected: 'a JSON object', actual }])
  })

  it('because of a field reports its value, also when the fields are beside the code', () => {
    const fields = { voucherType: 9, vouchers: ['a'] }
    const envelope = { code: 200, describe: 'success', partnerId: '7001' }
    for (const answer of [
      { ...envelope, body: fields },
      { ...envelope, ...fields },
      { ...envelope, ...fields, body: null },
    ])
      expect(failed(answered(200, answer, 'order-pay'))).toEqual([['fields', '9']])
    expect(failed(answered(200, envelope, 'product-pull'))).toEqual([['fields', 'missing']])
  })

  it.each([
    ['application/json', true],
    ['application/json; charset=utf-8', true],
    ['application/json;charset=UTF8', true],
    ['text/html; charset=utf-8', false],
    ['application/json; charset=GBK', false],
  ])('because of its Content-Type fails a check, except for UTF-8 JSON: %s', (type, isRight) => {
    const call = { ...answered(200, { code: 200 }), response_headers: { 'content-type': type } }
    expect(examine(call).find(({ id }) => id === 'content-type')?.passed).toBe(isRight)
  })

  it.each([
    ['marketPrice', 'is required because useDateMode is 0'],
    ['voucherText', 'is required because returnVoucher is false'],
  ])('because %s is missing reports why it is required', (field, why) => {
    const body = [{ ...PRODUCT, useDateMode: 0, returnVoucher: false, [field]: undefined }]
    const findings = examine(answered(200, { code: 200, describe: 'success', body }, 'product-pull'))
    expect(findings.map(inEnglish).filter(({ passed }) => !passed)).toContainEqual(
      expect.objectContaining({ id: 'fields', path: `body[0].${field}`, expected: why, actual: 'missing' }),
    )
  })
})

describe('the envelope of an answer', () => {
  const whole = { code: 200, describe: 'success', partnerId: '7001' }
  const envelopes = (body: object | string, stage?: 'sandbox' | 'live', expectation = {}) =>
    examine(answered(200, body, 'heartbeat'), expectation, stage)
      .map(inEnglish)
      .flatMap(({ id, passed, level, path, expected, actual }) =>
        passed || (id !== 'envelope' && id !== 'code') ? [] : [[level, path, expected, actual]],
      )

  it('consists of an integer and two strings', () => {
    expect(envelopes(whole)).toEqual([])
  })

  it.each([
    [{ code: '200' }, ['code', 'an integer, not a string', '"200"']],
    [{ describe: undefined }, ['describe', 'a non-empty string', 'missing']],
    [{ describe: null }, ['describe', 'a non-empty string', 'null']],
    [{ describe: '' }, ['describe', 'a non-empty string', '""']],
    [{ describe: 5 }, ['describe', 'a non-empty string', 'the number 5, not a string']],
    [{ partnerId: undefined }, ['partnerId', 'a string, such as "7001"', 'missing']],
  ])('with %j is an error in the sandbox and a warning for a live partner', (change, problem) => {
    expect(envelopes({ ...whole, ...change })).toEqual([['error', ...problem]])
    expect(envelopes({ ...whole, ...change }, 'live')).toEqual([['warning', ...problem]])
  })

  it.each(['7001', '9007199254740993'])('with the number %s as partnerId is a warning', (digits) => {
    const warning = ['warning', 'partnerId', `a string, such as "${digits}"`, `the number ${digits}, not a string`]
    const body = `{"code":200,"describe":"success","partnerId":${digits}}`
    expect(envelopes(body)).toEqual([warning])
    expect(envelopes(body, 'live')).toEqual([warning])
  })

  it.each([true, ['7001'], { id: 7001 }, 7001.5, null, ' '])('with %j as partnerId is an error', (partnerId) => {
    const [[level, path] = []] = envelopes({ ...whole, partnerId })
    expect([level, path]).toEqual(['error', 'partnerId'])
  })

  it('is required of refusals too, and refusing a signature must name the reason', () => {
    const problems = envelopes({ code: '300' }, 'sandbox', { refusal })
    expect(problems.map(([, path]) => path)).toEqual(['code', 'describe', 'partnerId'])
    const vague = answered(200, { code: 300, describe: 'failed', partnerId: '7001' })
    expect(failed(vague, { refusal })).toEqual([])
    const ofSignature = { refusal: { ...refusal, ofSignature: true } }
    expect(failed(vague, ofSignature)).toEqual([['refusal-reason', '"failed"']])
    const saying = (describe: string) => failed(answered(200, { code: 300, describe, partnerId: '7001' }), ofSignature)
    for (const named of ['BA_FAILED', 'ba error', 'Invalid Signature', 'SIGN ERROR', 'Unknown Client', '签名错误'])
      expect(saying(named), named).toEqual([])
    for (const other of ['bad request', 'Database down']) expect(saying(other), other).toHaveLength(1)
    expect(failed(answered(200, { code: 301 }), { codes: 'failure' }).map(([id]) => id)).toEqual([
      'envelope',
      'envelope',
    ])
  })
})

describe('an answer that is not UTF-8 text', () => {
  const whole = { code: 200, describe: 'success', partnerId: '7001' }
  // The last byte of a GBK character may be a backslash, which then swallows the quote after it.
  it.each([
    ['GBK', whole, {}, localized('at-line', { problem: localized('not-utf8'), line: 1, column: 22 })],
    [
      'GBK with a backslash',
      '{"code":200,"describe":"\ufffd\\"}',
      {},
      localized('at-line', { problem: localized('not-utf8'), line: 1, column: 25 }),
    ],
    ['UTF-16', '\ufffd\ufffd{\ufffd"\ufffd', {}, localized('is-utf16')],
    ['gzip', whole, { 'content-encoding': 'gzip' }, localized('is-compressed', { coding: 'gzip' })],
  ])('is reported as such, whatever its stored text looks like: %s', (_name, stored, headers, problem) => {
    const call = {
      ...answered(200, stored),
      response_headers: { 'content-type': 'application/json', ...headers },
      failure: 'json',
      failure_detail: localized('response-is', { problem }),
    }
    expect(failed(call)).toEqual([['json', String(problem)]])
  })
})

it.each([
  ['order-pay', 598],
  ['order-refund', 602],
  ['order-refund', 606],
])('an answer of %s with code %i may have empty ids', (name, code) => {
  const body = { orderId: 0, refundId: '', partnerOrderId: '' }
  const call = answered(200, { code, describe: 'later', partnerId: '7001', body }, name)
  const sent = { ...call, request_body: '{"body":{"orderId":5,"refundId":"R","partnerOrderId":"P"}}' }
  expect(failed(sent, { codes: [code] })).toEqual([])
})
