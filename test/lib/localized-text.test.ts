import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { PARTNER_LIMITS } from '../../src/platform/config/call-limits.ts'
import { readShape } from '../../src/platform/lib/json/shape.ts'
import {
  type Detail,
  LocalizedText,
  localized,
  storedDetail,
  storedJson,
  TEXTS,
  type TextId,
  withValues,
} from '../../src/platform/lib/localized-text.ts'
import { translator } from '../../src/platform/lib/web/locale.ts'
import { WORDS } from '../../src/platform/lib/web/worded.ts'
import { exactReason } from '../../src/platform/outbound/call-failure.ts'
import { NOTICES } from '../../src/sandbox/portal/docs/notices.ts'
import { detailText, explainMistake } from '../../src/sandbox/portal/texts.ts'
import { trafficTexts } from '../../src/sandbox/portal/traffic/texts.ts'
import { INTERFACES } from '../../src/ticketing/interfaces/index.ts'
import { PRODUCT } from '../interfaces/product-example.ts'

/** The reason of a refusal or failure is an id with values, which is worded in the reader's language. */

const [en, zh] = [translator('en'), translator('zh-CN')]
const IDS = Object.keys(TEXTS) as TextId[]
const namesIn = (words = ''): string[] => [...words.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)

/** Common English words. Names of fields, headers and causes stay English in Chinese texts. */
const ENGLISH =
  /\b(?:the|is|not|of|does|must|was|and|has|have|more|by|to|within|took|larger|smaller|longer|than|could|closed|before|required|entries|characters)\b/

const src = new URL('../../src/', import.meta.url)
const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'))
const TABLES = ['reasons.ts', 'refusals.ts', 'finding-texts.ts', 'json/field-texts.ts'].map(
  (name) => `platform/lib/${name}`,
)
/** The folders in which calls are made, refused, checked and shown. */
const ROOMS =
  /^[a-z]+\/(?:mws|mws-wire|mtp|orders|catalogue|partner-calls|partner-reach|outbound|interfaces|checks|certification|portal|explain|console)\//

const codeOf = (paths: readonly string[]): string =>
  paths
    .map((path) =>
      readFileSync(new URL(path, src), 'utf8')
        .replace(/\/\*.*?\*\//gs, '')
        .replace(/^\s*\/\/.*$/gm, ''),
    )
    .join('\n')

describe('every id', () => {
  it.each(IDS)('%s has a Chinese text with the same values and without English words', (id) => {
    // Values that hold English words, used only in English.
    const brought = ['meaning', 'message']
    const words = WORDS['zh-CN'][id]
    expect(words?.trim() ?? '').not.toBe('')
    expect(new Set(namesIn(words))).toEqual(new Set(namesIn(TEXTS[id]).filter((name) => !brought.includes(name))))
    expect(words?.replace(/\{\w+\}|“.*?”/g, '')).not.toMatch(ENGLISH)
  })

  it('is in the Chinese file, which has no others', () => {
    expect(Object.keys(WORDS['zh-CN']).sort()).toEqual([...IDS].sort())
  })

  it('is used, and no code repeats or compares its sentence', () => {
    const others = files.filter((path) => !TABLES.includes(path))
    const code = codeOf(others)
    for (const id of IDS) expect(code.includes(`'${id}'`), id).toBe(true)
    const rooms = codeOf(others.filter((path) => ROOMS.test(path)))
    const sentences = IDS.flatMap((id) => TEXTS[id].split(/\{\w+\}/)).filter(
      (part) => part.trim().split(/\s+/).length > 5,
    )
    expect(sentences.length).toBeGreaterThan(40)
    expect(sentences.filter((sentence) => rooms.includes(sentence.trim()))).toEqual([])
  })
})

describe('a text', () => {
  const nested = localized('partner-says', {
    remark: '卖完了',
    problem: localized('field-problem', { field: 'body', problem: localized('must-be-required') }),
  })

  it('is English when converted to a string', () => {
    expect(String(nested)).toBe('the partner says "卖完了"; body is required')
    expect(`${nested}`).toBe(String(nested))
    expect(JSON.parse(JSON.stringify({ nested }))).toEqual({ nested: String(nested) })
    expect(String('as it came')).toBe('as it came')
  })

  it('is stored with its id and values, and restored from them', () => {
    const stored = JSON.parse(storedJson({ nested, plain: 'as it came' }))
    expect(stored.nested.values.problem.values.problem).toEqual({ id: 'must-be-required', values: {} })
    expect(storedDetail.parse(stored.nested)).toEqual(nested)
    expect(storedDetail.parse(stored.nested)).toBeInstanceOf(LocalizedText)
    expect(storedDetail.parse(stored.plain)).toBe('as it came')
    expect(JSON.parse(storedJson('a\0b\ud83d'))).toBe('a\ufffdb\ufffd')
  })

  it('with an id of a newer release is shown as its values', () => {
    const newer = storedDetail.parse({ id: 'of-tomorrow', values: { order: '7', state: 'frozen' } })
    expect([String(newer), detailText(newer, zh)]).toEqual(['7, frozen', '7, frozen'])
  })

  it('keeps its id when values are masked, at any depth', () => {
    const masked = withValues(nested, (value, name) => (name === 'remark' ? '***' : value))
    expect(String(masked)).toBe('the partner says "***"; body is required')
    expect(masked).toBeInstanceOf(LocalizedText)
  })

  it('accepts only the values that its sentence names', () => {
    // @ts-expect-error: `order` is missing
    localized('order-exists', {})
    // @ts-expect-error: there is no `refund` in it
    localized('order-exists', { order: 7n, refund: 'r' })
    // @ts-expect-error: no such id
    expect(() => localized('order-is-blue', {}).toString()).not.toThrow()
  })
})

describe('in Chinese', () => {
  const state = { state: 'paid', meaning: 'tickets are issued', to: 'closed' }
  it.each<[Detail, string]>([
    [localized('order-cannot-become', { order: 7, ...state }), '订单 7 的状态为“已支付，已出票”，不能变为“已关闭”'],
    [localized('call-in-progress', { order: 7, state: 'paying' }), '订单 7 的状态为“支付中”：有请求正在进行'],
    [
      localized('field-problem', {
        field: 'body.orderStatus',
        problem: localized('status-of-issued', { named: 3, state: 'paid' }),
      }),
      'body.orderStatus：为 3；订单状态为“已支付，已出票”',
    ],
    [
      localized('refund-decided', { refund: 'R-1', state: 'refunded', to: 'refused' }),
      '退款 R-1 的状态已是“已退款”，不能变为“已拒绝”',
    ],
    [localized('voucher-is', { voucher: 'V-1', state: 'used' }), '凭证码 V-1 的状态为“已使用”'],
    // Of a newer release.
    [localized('call-in-progress', { order: 7, state: 'frozen' }), '订单 7 的状态为“frozen”：有请求正在进行'],
  ])('states are translated: %s', (detail, said) => {
    expect(detailText(detail, zh)).toBe(said)
  })

  it('as in English, mistakes of a signature are explained everywhere', () => {
    const unfit = localized('signature-mistakes', { mistakes: 'newline-missing, full-url-signed' })
    for (const [locale, t, begin, between] of [
      ['en', en, 'the signature does not match: ', ' '],
      ['zh-CN', zh, '签名不匹配：', ''],
    ] as const) {
      const [line, url, missing] = (['newline-missing', 'full-url-signed', 'partner-id-missing'] as const).map((name) =>
        explainMistake(locale, name),
      )
      expect(detailText(unfit, t)).toBe(`${begin}${line}${between}${url}`)
      expect(detailText(localized('partner-id-missing'), t)).toBe(missing)
      expect(detailText(localized('only-unverified', { reason: unfit }), t)).toContain(
        `${begin}${line}${between}${url}`,
      )
      expect(trafficTexts(locale).reason(unfit)).toBe(detailText(unfit, t))
    }
  })
})

describe('each limit of a call', () => {
  const http = readFileSync(new URL('platform/outbound/call-failure.ts', src), 'utf8')
  const codes = [...http.matchAll(/case '((?:UND_ERR|Timeout)\w+)':/g)].map(([, found = '']) => found)
  it.each(codes)('has a text for when it is exceeded: %s', (code) => {
    const exceeded = exactReason({ failure: 'connect', code, isAnswered: false }, PARTNER_LIMITS)
    expect(detailText(exceeded ?? '', zh)).toMatch(/\d+ (?:秒|KiB|MiB)/)
  })
})

describe('the problems of fields', () => {
  const WRONG: readonly unknown[] = [undefined, null, {}, [], [{}], 'x', '', 9e15, true, { a: 1 }, 'x'.repeat(300)]
  const broken = (example: object): unknown[] =>
    Object.keys(example).flatMap((name) => WRONG.map((value) => ({ ...example, [name]: value })))
  const problemsOf = (shape: z.ZodType, values: readonly unknown[]): Detail[] =>
    values.flatMap((value) => {
      const read = readShape(shape, value)
      return 'problems' in read ? read.problems.map(({ problem }) => problem) : []
    })

  it('in answers and notices are localized texts', () => {
    const answers = [...WRONG, ...broken(PRODUCT).map((product) => [product])].map((body) => ({ code: 200, body }))
    const problems = [
      ...INTERFACES.flatMap(({ answer }) => problemsOf(answer as z.ZodType, answers)),
      ...NOTICES.flatMap(({ shape }) => problemsOf(shape, [...WRONG, ...broken({ partnerId: 1, code: 1, body: 1 })])),
    ]
    expect(new Set(problems.map(String)).size).toBeGreaterThan(12)
    expect(problems.filter((problem) => typeof problem === 'string')).toEqual([])
  })
})
