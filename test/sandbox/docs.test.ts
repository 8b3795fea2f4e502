import { describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { parseLossless } from '../../src/platform/lib/json/lossless.ts'
import { readShape, type ShapeProblem } from '../../src/platform/lib/json/shape.ts'
import { readTexts } from '../../src/platform/lib/root.ts'
import { LOCALE_CODES, translator } from '../../src/platform/lib/web/locale.ts'
import { textKey } from '../../src/sandbox/portal/docs/meanings.ts'
import { docsAnchor, docsLink } from '../../src/sandbox/portal/docs/notices.ts'
import { fieldReference, type Part, type ReferenceSection } from '../../src/sandbox/portal/docs/reference.ts'
import { DOCUMENTED_FUNCTIONS, searchReference } from '../../src/sandbox/portal/docs/routes.ts'
import { stateMachinesOf } from '../../src/sandbox/portal/docs/states.ts'
import { docsTexts } from '../../src/sandbox/portal/docs/texts.ts'
import { interfaceName } from '../../src/sandbox/portal/texts.ts'
import { INTERFACES } from '../../src/ticketing/interfaces/index.ts'
import type { PartnerInterface } from '../../src/ticketing/interfaces/interface.ts'
import { readAnswer } from '../../src/ticketing/interfaces/read-answer.ts'
import {
  consumeNotice,
  dealChangeNotice,
  levelPriceNotice,
  payNotice,
  refundNotice,
  rescheduleNotice,
} from '../../src/ticketing/mtp/wire.ts'
import { readNotice } from '../../src/ticketing/mws/index.ts'
import { ORDER_STATES, REFUND_STATES } from '../../src/ticketing/orders/states.ts'

const { notices, interfaces } = fieldReference('en')
const sections = [...notices, ...interfaces]
const anchors = new Set(
  sections.flatMap(({ parts }) => parts.flatMap((part) => [part.anchor, ...part.fields.map((field) => field.anchor)])),
)

const NOTICE_SHAPES: Record<string, z.ZodType> = {
  'deal-change': dealChangeNotice,
  consume: consumeNotice,
  refund: refundNotice,
  pay: payNotice,
  reschedule: rescheduleNotice,
  'level-prices': levelPriceNotice,
}
const partOf = ({ parts }: ReferenceSection, direction: Part['direction']): Part => {
  const found = parts.find((part) => part.direction === direction)
  if (!found) throw new Error(`no ${direction}`)
  return found
}
const jsonOf = (text: string): unknown => {
  const parsed = parseLossless(Buffer.from(text))
  if ('problem' in parsed) throw new Error(String(parsed.problem))
  return parsed.value
}
const fieldIn = (part: Part, path: string) => part.fields.find((field) => field.path === path)
const sectionNamed = (name: string): ReferenceSection => {
  const found = sections.find((section) => section.name === name)
  if (!found) throw new Error(`no section ${name}`)
  return found
}

describe('an anchor', () => {
  it.each([
    ['body[0].partnerDealId', 'product-pull.answer.body.partnerDealId'],
    ['body.0.partnerDealId', 'product-pull.answer.body.partnerDealId'],
    ['body.partnerDealId', 'product-pull.answer.body.partnerDealId'],
    ['code', 'product-pull.answer.code'],
    ['', 'product-pull.answer'],
    ['body[12].refundStairsRules[3].refundFee', 'product-pull.answer.body.refundStairsRules.refundFee'],
  ])('of the path %j is stable', (path, anchor) => {
    expect(docsAnchor('product-pull', 'answer', path)).toBe(anchor)
    expect(docsLink('product-pull', 'answer', path)).toBe(`/sandbox/docs#${anchor}`)
  })

  it('is unique on the page', () => {
    const all = sections.flatMap(({ parts }) =>
      parts.flatMap((part) => [part.anchor, ...part.fields.map((field) => field.anchor)]),
    )
    const twice = all.filter((anchor, index) => all.indexOf(anchor) !== index)
    expect(twice).toEqual([])
  })
})

/** Every variant of `value` with one part replaced or removed. */
function* spoiled(value: unknown): Generator<unknown> {
  for (const wrong of [undefined, null, '', ' ', -7, 1.5, true, [], {}, [null], '1999-99-99', 'x'.repeat(300)])
    yield wrong
  if (Array.isArray(value)) {
    for (const other of spoiled(value[0])) yield [other, ...value.slice(1)]
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, part] of Object.entries(value)) {
      for (const other of spoiled(part)) yield { ...value, [name]: other }
    }
  }
}

const missingAnchors = (
  name: Parameters<typeof docsAnchor>[0],
  direction: Part['direction'],
  problems: readonly ShapeProblem[],
) => problems.map(({ path }) => docsAnchor(name, direction, path)).filter((anchor) => !anchors.has(anchor))

describe('every problem that a check can find has an anchor on the page', () => {
  it.each(INTERFACES.map((entry) => entry.name))('in an answer to %s', (name) => {
    const entry = INTERFACES.find((candidate) => candidate.name === name) as PartnerInterface
    let found = 0
    for (const answer of spoiled(jsonOf(partOf(sectionNamed(name), 'answer').example))) {
      const reading = readAnswer(entry, answer)
      if (reading.outcome !== 'invalid') continue
      found += reading.problems.length
      expect(missingAnchors(name, 'answer', reading.problems)).toEqual([])
    }
    expect(found).toBeGreaterThan(5)
  })

  it.each(notices.map((section) => section.name))('in the notice %s', (name) => {
    let found = 0
    for (const notice of spoiled(jsonOf(partOf(sectionNamed(name), 'notice').example))) {
      const read = readShape(NOTICE_SHAPES[name] as z.ZodType, notice)
      if (!('problems' in read)) continue
      found += read.problems.length
      expect(missingAnchors(name, 'notice', read.problems)).toEqual([])
    }
    expect(found).toBeGreaterThan(20)
  })
})

describe('an example', () => {
  it.each(INTERFACES.map((entry) => entry.name))('of %s is valid for the interface', (name) => {
    const entry = INTERFACES.find((candidate) => candidate.name === name) as PartnerInterface
    const section = sectionNamed(name)
    const request = jsonOf(partOf(section, 'request').example) as { body: unknown }
    expect(readShape(entry.request, request.body)).toHaveProperty('value')
    expect(readAnswer(entry, jsonOf(partOf(section, 'answer').example))).toMatchObject({ outcome: 'success' })
  })

  it.each(notices.map((section) => section.name))('of the notice %s is accepted', (name) => {
    const text = partOf(sectionNamed(name), 'notice').example
    expect(readNotice(NOTICE_SHAPES[name] as z.ZodType, Buffer.from(text))).toHaveProperty('notice')
  })

  it('shows that an id may exceed the safe integers of JavaScript', () => {
    expect(partOf(sectionNamed('consume'), 'notice').example).toContain('"orderId": 9007199254740993')
  })

  it('has every field of the message', () => {
    const part = partOf(sectionNamed('product-pull'), 'answer')
    for (const { name } of part.fields) expect(part.example).toContain(`"${name}":`)
  })
})

it('every interface has a title in both languages', () => {
  for (const { name } of INTERFACES) {
    expect(interfaceName(name, translator('en'))).toMatch(/^[A-Z]/)
    expect(interfaceName(name, translator('zh-CN'))).toMatch(/\p{Script=Han}/u)
  }
  expect(interfaceName('nothing', translator('en'))).toBe('nothing')
})

describe('the reference', () => {
  it('has a section for each interface and notice, with the fields and codes of its schema', () => {
    expect(interfaces.map(({ name, path }) => [name, path])).toEqual(
      INTERFACES.map(({ name, defaultPath }) => [name, defaultPath]),
    )
    const create = sectionNamed('order-create')
    expect(fieldIn(partOf(create, 'request'), 'body.travelDate')).toMatchObject({
      kind: 'date',
      required: true,
      depth: 1,
    })
    expect(fieldIn(partOf(create, 'request'), 'body.orderId')).toMatchObject({ kind: 'int64', required: true })
    expect(fieldIn(partOf(create, 'request'), 'body.visitors')).toMatchObject({ kind: 'object', list: true })
    expect(fieldIn(partOf(create, 'request'), 'body.visitors.gender')).toMatchObject({ kind: 'int', values: [1, 2] })
    expect(create.codes).toContainEqual({ code: 420, kind: 'failure', meaning: 'out of stock' })
    expect(sectionNamed('order-pay').codes).toContainEqual({ code: 598, kind: 'pending', meaning: 'issuing' })
    const consume = partOf(sectionNamed('consume'), 'notice')
    expect(fieldIn(consume, 'body.voucherList.status')).toMatchObject({ values: [0, 1, 2, 3], required: true })
    expect(fieldIn(consume, 'body.useStartDate')).toMatchObject({ kind: 'date', required: false })
    expect(fieldIn(partOf(sectionNamed('deal-change'), 'notice'), 'body')).toMatchObject({ list: true, required: true })
  })

  it('says which variant of a request a field belongs to', () => {
    const pull = partOf(sectionNamed('product-pull'), 'request')
    expect(fieldIn(pull, 'body.method')?.values).toEqual(['page', 'multi'])
    expect(fieldIn(pull, 'body.pageSize')?.when).toEqual({ field: 'method', value: 'page' })
    expect(fieldIn(pull, 'body.partnerDealIds')?.when).toEqual({ field: 'method', value: 'multi' })
  })

  it('gives every field a meaning in both languages, and has no text without a field', () => {
    const used = sections.flatMap(({ parts }) =>
      parts.flatMap(({ fields }) =>
        fields.flatMap(({ anchor, values }) => [
          textKey('meaning', anchor),
          textKey('when', anchor),
          ...values.map((value) => textKey('value', `${anchor}.${value}`)),
        ]),
      ),
    )
    const [en, zh] = [readTexts('fields.en'), readTexts('fields.zh-CN')]
    expect(Object.keys(en).sort()).toEqual([...new Set(used.filter((key) => key !== undefined))].sort())
    expect(Object.keys(zh)).toEqual(Object.keys(en))
    expect([...Object.values(en), ...Object.values(zh)]).not.toContain('')
    for (const [key, text] of Object.entries(zh))
      if (key.startsWith('meaning.')) expect(text, key).toMatch(/\p{Script=Han}|success/u)
  })

  it('explains every value of every enumeration, and no others', () => {
    // What the values of refundTimeType mean is agreed outside the contract.
    const fields = sections.flatMap(({ parts }) => parts.flatMap((part) => part.fields))
    const enumerations = fields.filter(({ name, values }) => values.length > 0 && name !== 'refundTimeType')
    expect(enumerations.length).toBeGreaterThan(30)
    for (const { anchor, values, valueMeanings } of enumerations) {
      expect(valueMeanings.map(({ value }) => value).sort(), anchor).toEqual(values.map(String).sort())
    }
  })

  it('says how long a list may be', () => {
    expect(fieldIn(partOf(sectionNamed('level-prices'), 'notice'), 'body')).toMatchObject({ list: true, most: 40 })
    expect(fieldIn(partOf(sectionNamed('product-pull'), 'answer'), 'body.voucherText')).toMatchObject({ most: 20 })
  })

  it('says when a field is required, in agreement with the schema', () => {
    const wrongWithout = (name: string, field: string, body: Record<string, unknown>) => {
      const entry = INTERFACES.find((candidate) => candidate.name === name) as PartnerInterface
      const { [field]: _, ...rest } = body
      const isList = name === 'product-pull'
      const reading = readAnswer(entry, { code: 200, body: isList ? [rest] : rest })
      return reading.outcome === 'invalid' && reading.problems.some(({ path }) => path.endsWith(field))
    }
    const [openDate] = (jsonOf(partOf(sectionNamed('product-pull'), 'answer').example) as { body: object[] }).body
    const dated = { ...openDate, useDateMode: 1 }
    const conditions = sections.flatMap(({ name, parts }) =>
      parts.flatMap(({ fields }) =>
        fields.flatMap(({ name: field, requiredWhen }) => (requiredWhen ? [[name, field, requiredWhen]] : [])),
      ),
    )
    expect(conditions.filter(([, , when]) => when === 'useDateMode = 0')).toHaveLength(7)
    expect(conditions.filter(([, , when]) => when !== 'useDateMode = 0')).toEqual([
      ['product-pull', 'voucherText', 'returnVoucher = false'],
      ['order-pay', 'voucherType', 'asyReturnVoucher ≠ true'],
    ])
    for (const [name = '', field = '', when] of conditions) {
      const examples: Record<string, [applies: object, not: object]> = {
        'useDateMode = 0': [{ ...openDate }, dated],
        'returnVoucher = false': [
          { ...dated, returnVoucher: false },
          { ...dated, returnVoucher: true },
        ],
        'asyReturnVoucher ≠ true': [{ vouchers: [] }, { asyReturnVoucher: true }],
      }
      const [applies, not] = examples[when ?? ''] ?? []
      expect(wrongWithout(name, field, applies as Record<string, unknown>), `${name} ${field}`).toBe(true)
      expect(wrongWithout(name, field, not as Record<string, unknown>), `${name} ${field}`).toBe(false)
    }
  })

  it('shows failures beside success, worded as in the checks', () => {
    const consume = partOf(sectionNamed('consume'), 'answer')
    expect(consume.failures.map(({ example }) => jsonOf(example))).toEqual([
      { code: 300, describe: 'BA verification failed', partnerId: '7001' },
      { code: 300, describe: 'body is required', partnerId: '7001' },
    ])
    expect(jsonOf(partOf(sectionNamed('pay'), 'answer').failures[1]?.example ?? '')).toMatchObject({ code: 400 })
    const pay = partOf(sectionNamed('order-pay'), 'answer')
    expect(pay.failures.map(({ when }) => when)).toEqual(sectionNamed('order-pay').codes.map(({ meaning }) => meaning))
    for (const { example } of pay.failures) {
      const entry = INTERFACES.find(({ name }) => name === 'order-pay') as PartnerInterface
      expect(readAnswer(entry, jsonOf(example)).outcome).toMatch(/^(pending|failed)$/)
    }
  })

  it('gives every code and every state its meaning in Chinese', () => {
    const codes = INTERFACES.flatMap((entry: PartnerInterface) => [
      ...Object.values(entry.pending),
      ...Object.values(entry.failures),
    ])
    const states = Object.values({ order: ORDER_STATES, refund: REFUND_STATES }).flatMap((table) =>
      Object.values(table).map(({ means }) => means),
    )
    expect(new Set(Object.keys(readTexts('codes-and-states.zh-CN')))).toEqual(new Set<string>([...codes, ...states]))
    expect(fieldReference('zh-CN').interfaces.find(({ name }) => name === 'order-create')?.codes).toContainEqual({
      code: 420,
      kind: 'failure',
      meaning: '库存不足',
    })
  })
})

describe('a state machine', () => {
  it.each(LOCALE_CODES)('has a box and a row for each state, and an arrow for each transition (%s)', (locale) => {
    const [order, refund] = stateMachinesOf(locale)
    for (const [machine, table] of [
      [order, ORDER_STATES],
      [refund, REFUND_STATES],
    ] as const) {
      const moves = Object.entries<{ readonly next: readonly string[] }>(table).flatMap(([from, { next }]) =>
        next.map((to) => `${from} ${to}`),
      )
      expect(machine?.diagram.boxes.map(({ state }) => state)).toEqual(Object.keys(table))
      expect(machine?.diagram.arrows.map(({ from, to }) => `${from} ${to}`)).toEqual(moves)
      expect(machine?.states.flatMap(({ state, next }) => next.map((to) => `${state} ${to}`))).toEqual(moves)
      const last = machine?.diagram.boxes.filter(({ isLast }) => isLast).map(({ state }) => state)
      expect(last).toEqual(machine?.states.filter(({ next }) => next.length === 0).map(({ state }) => state))
      expect(last).toContain('refunded')
      const places = machine?.diagram.boxes.map(({ x, y }) => `${x} ${y}`) ?? []
      expect(new Set(places).size).toBe(places.length)
      if (locale === 'zh-CN') for (const { means } of machine?.states ?? []) expect(means).toMatch(/\p{Script=Han}/u)
    }
  })
})

describe('the search', () => {
  const search = (query: string) => searchReference(sections, ({ name }) => docsTexts('en').title(name), query)

  it.each([
    ['partnerOrderId', 'order-create.answer.body.partnerOrderId'],
    ['420', 'order-create'],
    ['OUT of STOCK', 'order-create'],
    ['/order/pay', 'order-pay'],
    ['customer service', 'order-refunded.request.body.refundMessageType'],
    ['reschedule', 'order-reschedule'],
  ])('finds %j', (query, anchor) => {
    expect(search(query).found.map((one) => one.anchor)).toContain(anchor)
  })

  it('finds nothing for a blank query, and limits the query and its results', () => {
    expect(search('  ').found).toEqual([])
    expect(search('no such thing')).toMatchObject({ found: [], isCut: false })
    expect(search('e')).toMatchObject({ isCut: true })
    expect(search('e').found).toHaveLength(100)
    expect(search('x'.repeat(1_000)).query).toHaveLength(100)
  })
})

it('each function has at least one section on the page', () => {
  const names = sections.map(({ name }) => String(name))
  for (const { id, sections: about } of DOCUMENTED_FUNCTIONS) {
    expect(about.length, id).toBeGreaterThan(0)
    for (const name of about) expect(names).toContain(name)
  }
})
