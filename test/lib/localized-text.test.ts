import { readdirSync, readFileSync } from 'node:fs'
import { parseAst } from 'rolldown/parseAst'
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
    const code = codeOf(files)
    for (const id of IDS) expect(code.includes(`'${id}'`), id).toBe(true)
    const rooms = codeOf(files.filter((path) => ROOMS.test(path)))
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

  it('has one of the known ids', () => {
    // @ts-expect-error: no such id
    expect(() => localized('order-is-blue', {}).toString()).not.toThrow()
  })
})

/** The type of a JSON file does not know the placeholders in its texts, so this reads the calls in the sources. */
describe('the values of a text', () => {
  type Node = Readonly<Record<string, unknown>>
  const nodesIn = (node: unknown): Node[] =>
    typeof node !== 'object' || node === null ? [] : [node as Node, ...Object.values(node).flatMap(nodesIn)]
  const isId = (value: unknown): value is TextId => typeof value === 'string' && IDS.includes(value as TextId)
  const placeholdersOf = (id: TextId): string => String(namesIn(TEXTS[id]).sort())

  /** The ids in the first argument of a call that makes a text, none for a variable, and the names in the second. */
  function callsIn(source: string) {
    const sourceOf = ({ start, end }: Node) => source.slice(Number(start), Number(end))
    const isCall = ({ type, callee }: Node) =>
      type === 'CallExpression' && ['localized', 'problem', 'issue'].includes(String((callee as Node).name))
    return nodesIn(parseAst(source, { lang: 'ts' }))
      .filter(isCall)
      .map((call) => {
        const [id, values] = call.arguments as Node[]
        const properties = (values?.properties ?? (values ? [values] : [])) as Node[]
        // An object that is a variable, or spread, stands as its source, which is the name of no placeholder.
        const given = properties.map((part) => (part.key ? String((part.key as Node).name) : sourceOf(part)))
        return { ids: nodesIn(id).flatMap(({ value }) => (isId(value) ? [value] : [])), given: String(given.sort()) }
      })
  }

  function mistakesIn(source: string): string[] {
    const calls = callsIn(source)
    const named = calls.flatMap(({ ids, given }) => ids.map((id) => ({ id, given })))
    const ofVariables = calls.filter(({ ids }) => ids.length === 0).map(({ given }) => given)
    // A variable has one of the other ids in its file. `fix` is the name of an advice, not an id.
    const words = ofVariables.length > 0 ? source.matchAll(/(?<!fix: )'([\w-]+)'/g) : []
    const others = [...words].flatMap(([, id]) => (isId(id) && named.every((call) => call.id !== id) ? [id] : []))
    return [
      ...named.filter(({ id, given }) => given !== placeholdersOf(id)),
      ...others
        .filter((id) => !ofVariables.includes(placeholdersOf(id)))
        .map((id) => ({ id, given: ofVariables.join(' or ') })),
    ].map(({ id, given }) => `${id} is given ${given || 'nothing'}`)
  }

  it.each([
    ["localized('no-job', { job })", []],
    ["problem(long ? 'no-job' : 'job-running', { job: 7 })", []],
    ["localized('no-job')", ['no-job is given nothing']],
    ["localized('no-job', { id: 7 })", ['no-job is given id']],
    ["issue('no-job', { job, ...more })", ['no-job is given ...more,job']],
    ["localized('no-job', values)", ['no-job is given values']],
    ["const ids = ['no-job', 'no-order']; ids.map((id) => localized(id, { job }))", ['no-order is given job']],
  ])('are compared with its placeholders: %s', (source, mistakes) => {
    expect(mistakesIn(source)).toEqual(mistakes)
  })

  it('are its placeholders wherever it is made', () => {
    const sources = files.map((path) => [path, readFileSync(new URL(path, src), 'utf8')] as const)
    const making = sources.filter(([, source]) => /(localized-text|field-problem)\.ts'/.test(source))
    expect(making.length).toBeGreaterThan(100)
    expect(making.flatMap(([path, source]) => mistakesIn(source).map((mistake) => `${path}: ${mistake}`))).toEqual([])
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
