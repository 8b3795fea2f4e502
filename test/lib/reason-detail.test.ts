import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { PARTNER_LIMITS } from '../../src/config/call-limits.ts'
import { localized } from '../../src/lib/localized-text.ts'
import { reasonDetail } from '../../src/lib/reason-detail.ts'
import { REASONS } from '../../src/lib/reasons.ts'
import { translator } from '../../src/lib/web/locale.ts'
import { exceededLimit } from '../../src/outbound/exceeded.ts'
import { explainMistake } from '../../src/sandbox/mistake-texts.ts'
import { detailText, reasonText } from '../../src/sandbox/texts.ts'
import { trafficTexts } from '../../src/sandbox/traffic/texts.ts'

/** What the platform says of refused and failed calls is worded for its reader. */

const [en, zh] = [translator('en'), translator('zh-CN')]
const inChinese = (reason: string) => detailText(reasonDetail(reason), zh)

/** Names of fields, headers and causes are the same in both languages. */
const ENGLISH =
  /\b(?:the|is|not|of|does|must|was|and|has|have|more|by|to|within|took|larger|smaller|longer|than|could|closed|before)\b/

const src = new URL('../../src/', import.meta.url)
const code = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((path) => /^(?:mws|mws-wire|mtp|orders|catalogue|partner-calls|outbound)\/.*\.ts$/.test(path))
  .map((path) => readFileSync(new URL(path, src), 'utf8'))
  .join('\n')

/** The clauses in the code, with something in place of each value. */
const MADE = /(?:RefusedRequest|bodyRejected|notAuthenticated\w*)\(\s*(['`])(.*?)\1/gs
const clauses = [...code.matchAll(MADE)]
  .map(([, , text = '']) =>
    text.replace(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, (value) => (/code|seconds/.test(value) ? '5' : 'x1')),
  )
  .filter((clause) => clause !== 'Authorization: x1')

/** Each limit of a call, as a call tells that it was exceeded. */
const CODES = [...code.matchAll(/case '((?:UND_ERR|Timeout)\w+)':/g)].map(([, found = '']) => found)
const exceeded = CODES.map((found) => `${exceededLimit('connect', found, PARTNER_LIMITS)}: connect (${found})`)

const SAID = [
  'Authorization: no colon between clientId and signature',
  'Date: no such date or time',
  'Date differs from our clock by 412 seconds',
  'Date: the weekday is Tue, not Mon',
  'no such path; the nearest path is POST /mtp/api/order/consume/notice',
  'method not allowed: GET; use POST',
  'body.usedQuantity must be a 32-bit integer, as a number or string',
  'body.quantity is required; body.voucherList[0].voucher must not be empty; and more',
  'the JSON value must be an object',
  'partnerId is required',
  'HTTP body: empty',
  "HTTP body: not JSON: Quoted object key expected but got '}' at position 9 (line 1, column 10)",
  'HTTP body: the name "orderId" appears twice in one object (line 2, column 3)',
  'order 7 is paid (tickets are issued); it cannot become closed',
  'could not connect: connect (ECONNREFUSED)',
  'the response took too long: nothing came within 10 s: timeout (UND_ERR_HEADERS_TIMEOUT)',
  'the response is larger than 1 MiB: too-large (UND_ERR_RES_EXCEEDED_MAX_SIZE)',
  'the address or port of the URL is not allowed: address',
  'HTTP status 302; redirects are not followed',
  'the headers of the response are larger than 64 KiB: too-large (UND_ERR_HEADERS_OVERFLOW)',
  'the response is too large: too-large (UND_ERR_RES_EXCEEDED_MAX_SIZE)',
  'the response is larger than 1 MiB',
  'the response is not valid UTF-8',
  'the response is UTF-16, not UTF-8',
  'the response is not valid UTF-8 (line 3, column 7)',
  'HTTP body: compressed (Content-Encoding: gzip); send it uncompressed',
  'the partner says "stock is out"; body[0].title is required',
  'body.orderId is 12; the call was about 13: it was rounded, so the partner reads ids as doubles',
  '420 (out of stock): nothing left',
  'is 19900; the median of this calendar is 199. Prices are in yuan, not cents; 3 more entries like this',
  'names a day that does not exist: 2026-02-30',
]

describe('the reasons of refused and failed calls', () => {
  it('are worded in English as they are made, and in Chinese without English words', () => {
    expect(clauses.length).toBeGreaterThan(40)
    expect(exceeded.length).toBeGreaterThan(4)
    const all = [...clauses, ...exceeded, ...SAID]
    expect(all.filter((reason) => typeof reasonDetail(reason) === 'string')).toEqual([])
    for (const reason of all) {
      const detail = reasonDetail(reason)
      expect(detailText(detail, en)).toBe(reason)
      const words = inChinese(reason).replace(/“.*?”/g, '')
      if (!/^\d+ \(/.test(reason)) expect(words, reason).not.toMatch(ENGLISH)
    }
  })

  it.each([
    [
      'order 7 is paid (tickets are issued); it cannot become closed',
      '订单 7 的状态为“已支付，已出票”，不能变为“已关闭”',
    ],
    ['order 7 is paying: a call is in progress', '订单 7 的状态为“支付中”：有请求正在进行'],
    ['body.orderStatus is 3; the order is paid', 'body.orderStatus：为 3；订单状态为“已支付，已出票”'],
    ['refund R-1 is already refunded; it cannot become refused', '退款 R-1 的状态已是“已退款”，不能变为“已拒绝”'],
    ['voucher V-1 is used', '凭证码 V-1 的状态为“已使用”'],
    // Of a newer process.
    ['order 7 is frozen: a call is in progress', '订单 7 的状态为“frozen”：有请求正在进行'],
  ])('name states in words in Chinese: %s', (reason, said) => {
    expect(inChinese(reason)).toBe(said)
  })

  it('are the same text in the code and on English pages', () => {
    const names = (template: string) =>
      Object.fromEntries([...template.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => [name, `{${name}}`]))
    for (const [id, template] of Object.entries(REASONS)) {
      expect(en(`sandbox.said.${id.replaceAll('-', '_')}`, names(template))).toBe(template)
    }
  })

  it('explain the mistakes of a signature, wherever they are shown', () => {
    const unfit = 'the signature does not match: newline-missing, full-url-signed'
    for (const [locale, t, begin] of [
      ['en', en, 'the signature does not match: '],
      ['zh-CN', zh, '签名不匹配：'],
    ] as const) {
      const [line, url, missing] = (['newline-missing', 'full-url-signed', 'partner-id-missing'] as const).map((name) =>
        explainMistake(locale, name),
      )
      expect(reasonText(unfit, t)).toBe(`${begin}${line}${locale === 'en' ? ' ' : ''}${url}`)
      expect(reasonText('PartnerId is missing: partner-id-missing', t)).toBe(missing)
      expect(detailText(localized('only-unverified', { reason: reasonDetail(unfit) }), t)).toContain(
        `${begin}${line}${locale === 'en' ? ' ' : ''}${url}`,
      )
      for (const reason of [unfit, 'PartnerId is missing: partner-id-missing', 'partnerId is required']) {
        expect(trafficTexts(locale).reason(reason)).toBe(reasonText(reason, t))
      }
    }
  })

  it('that are not known stay as they are, whatever they are', () => {
    for (const reason of ['it is blue', ': ', 'x: connect (E)', '', 'a'.repeat(50_000), 'voucher '.repeat(240)]) {
      expect(detailText(reasonDetail(reason), zh)).toBe(reason)
    }
  })
})
