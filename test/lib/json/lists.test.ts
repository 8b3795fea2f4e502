import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { parseLossless } from '../../../src/platform/lib/json/lossless.ts'
import { LIST_LIMITS, listOf, mapOf, problemsText, readShape } from '../../../src/platform/lib/json/shape.ts'
import { examineReport } from '../../../src/sandbox/reports/report.ts'
import { type Entries, readEntries } from '../../../src/ticketing/catalogue/entries.ts'
import { INTERFACES } from '../../../src/ticketing/interfaces/index.ts'
import { productPull } from '../../../src/ticketing/interfaces/product.ts'
import { readAnswer } from '../../../src/ticketing/interfaces/read-answer.ts'
import { consumeNotice, dealChangeNotice } from '../../../src/ticketing/mtp/wire.ts'
import { readNotice } from '../../../src/ticketing/mws/index.ts'
import { decideConsumption } from '../../../src/ticketing/orders/consumption.ts'
import type { ChangeableOrder } from '../../../src/ticketing/orders/order-store.ts'
import { processorTime } from '../../processor-time.ts'

const ROOT = new URL('../../../', import.meta.url).pathname
const MIB = 1_048_576

/** Objects that count how many of them were read. */
function watched(count: number, value: unknown): { list: object[]; seen: () => number } {
  const seen = new Set<number>()
  const list = Array.from({ length: count }, (_, place) =>
    Object.defineProperty({}, 'text', {
      enumerable: true,
      get: () => {
        seen.add(place)
        return value
      },
    }),
  )
  return { list, seen: () => seen.size }
}

/** Empty objects, separated by commas, in about so many bytes. */
const objects = (bytes: number): string => Array.from({ length: bytes / 3 }, () => '{}').join()

describe('a list from the network', () => {
  const schema = z.object({ list: listOf('vouchers', z.object({ text: z.string() })) })

  it('that is too long is refused before any of its entries is read', () => {
    const { list, seen } = watched(LIST_LIMITS.vouchers + 1, 'x')
    expect(readShape(schema, { list })).toEqual({
      problems: [{ path: 'list', problem: 'must have at most 1000 entries' }],
    })
    expect(seen()).toBe(0)
  })

  it('of the maximum length is read', () => {
    const { list, seen } = watched(LIST_LIMITS.vouchers, 'x')
    expect(readShape(schema, { list })).toMatchObject({ value: { list: list.map(() => ({ text: 'x' })) } })
    expect(seen()).toBe(list.length)
  })

  it('is read only up to the sixth problem, which is reported as "and more"', () => {
    const { list, seen } = watched(500, 7)
    const result = readShape(schema, { list })
    const text = problemsText('problems' in result ? result.problems : [])
    expect(String(text)).toMatch(/^list\[0\]\.text must be a string; .*; list\[4\]\.text must be a string; and more$/)
    expect(seen()).toBe(6)
  })

  it('may have checks of its own, and be optional', () => {
    const list = listOf('deals', z.string()).min(1, 'must have at least one entry')
    expect(readShape(list, [])).toEqual({ problems: [{ path: '', problem: 'must have at least one entry' }] })
    expect(readShape(list, {})).toEqual({ problems: [{ path: '', problem: 'must be an array' }] })
    expect(readShape(list.meta({ any: 'thing' }), Array(1_001).fill('a'))).toMatchObject({ problems: [{ path: '' }] })
    expect(readShape(list.optional(), ['a'])).toEqual({ value: ['a'] })
  })

  it('has a limit, as has a map of names', () => {
    const map = mapOf('registered', z.string(), z.string())
    const names = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`n${n}`, 'x']))
    expect(readShape(map, names(100))).toMatchObject({ value: { n99: 'x' } })
    expect(readShape(map, names(101))).toEqual({ problems: [{ path: '', problem: 'must have at most 100 entries' }] })
    expect(readShape(map, [])).toMatchObject({ problems: [{ path: '' }] })
  })

  it('is always limited: z.array is only used for data of our own', () => {
    const own = /(store\.ts|^operations\/cli\/.*|signature-test-store\.ts)$/
    // A micro-app as stored and shown.
    const shown: Readonly<Record<string, number>> = {
      'authorization/registry/micro-app-fields.ts': 2,
      'authorization/registry/oidc-fields.ts': 4,
      // The answer of the key set endpoint, for the API reference.
      'authorization/oidc/messages.ts': 1,
      // Stored test runs.
      'sandbox/test-plan/choice.ts': 1,
      // Parsed forms, which have a limit in bytes.
      'authorization/account/wire.ts': 1,
      // A verified ID token, which has a limit in bytes.
      'authorization/upstream/claims.ts': 1,
      'authorization/refusals/record.ts': 1,
      // Names of the database's own schemas.
      'platform/db/shard-count.ts': 2,
    }
    const files = readdirSync(`${ROOT}src`, { recursive: true, encoding: 'utf8' }).filter(
      (file) => file.endsWith('.ts') && !own.test(file) && !file.startsWith('demo/'),
    )
    const found = files.flatMap((file) => {
      const count = readFileSync(`${ROOT}src/${file}`, 'utf8').split('z.array(').length - 1
      return count === (shown[file] ?? 0) ? [] : [`${file}: ${count}`]
    })
    expect(found).toEqual([])
  })
})

describe('the processor time is bounded for', () => {
  // Without limits these took between 1.8 s (for the 90 KB) and a minute.
  const LONGEST_MS = 1_500

  it.each([
    [
      '90 KB of empty vouchers',
      () => readNotice(consumeNotice, Buffer.from(`{"body":{"voucherList":[${objects(90_000)}]}}`)),
    ],
    [
      'a mebibyte of empty vouchers',
      () => readNotice(consumeNotice, Buffer.from(`{"body":{"voucherList":[${objects(MIB)}]}}`)),
    ],
    ['a mebibyte of empty products', () => readNotice(dealChangeNotice, Buffer.from(`{"body":[${objects(MIB)}]}`))],
    ['a report of a mebibyte', () => examineReport({ keys: {} } as never, `{"steps":[${objects(MIB)}]}`, '')],
    ['a number of a mebibyte', () => parseLossless(Buffer.from(`[${'9'.repeat(MIB)}]`))],
    ['a fraction of a mebibyte', () => parseLossless(Buffer.from(`[0.${'9'.repeat(MIB)}e-9999999999]`))],
    ['exponents', () => parseLossless(Buffer.from(`[${'1e400000000,-1E+999999999999,'.repeat(1_000)}1]`))],
  ])('%s', (_what, read) => {
    expect(processorTime(read)).toBeLessThan(LONGEST_MS)
  })

  it('a notice with more values than the longest lists have, which is not parsed', () => {
    const entries = Array.from({ length: 20_000 }, (_, place) => `{"partnerDealId":"deal-${place}","status":2}`)
    const bytes = Buffer.from(`{"body":[${entries.join()}]}`)
    expect(readNotice(dealChangeNotice, bytes)).toMatchObject({ problem: 'HTTP body: more than 40000 values' })
    const longest = Buffer.from(`{"body":[${entries.slice(0, LIST_LIMITS.deals + 1).join()}]}`)
    expect(readNotice(dealChangeNotice, longest)).toEqual({ problem: 'body must have at most 1000 entries' })
  })

  it.each(INTERFACES.map((entry) => [entry.name, entry] as const))('an answer to %s', (_name, entry) => {
    const answers = ['"body":[{}]', '"body":{"vouchers":[{}],"voucherList":[{}],"credentialList":[{}]}'].map((body) => {
      const parsed = parseLossless(Buffer.from(`{"code":200,${body.replaceAll('{}', objects(200_000))}}`))
      return 'value' in parsed ? parsed.value : parsed
    })
    expect(processorTime(() => answers.map((answer) => readAnswer(entry, answer)))).toBeLessThan(LONGEST_MS)
  })

  it('a page of invalid products, of which only a limited number of problems is reported', () => {
    const body = Array.from({ length: LIST_LIMITS.products }, () => ({}))
    const result = { outcome: 'failed', failure: { kind: 'schema' }, json: { code: 200, body }, callId: '' } as never
    let read: unknown
    expect(processorTime(() => (read = readEntries(result, productPull.answer, 'products')))).toBeLessThan(LONGEST_MS)
    const { problems } = read as Entries<unknown>
    expect(problems.length).toBeGreaterThanOrEqual(1_000)
    expect(problems.length).toBeLessThan(1_030)
    const longer = {
      outcome: 'failed',
      failure: { kind: 'schema' },
      json: { code: 200, body: [...body, {}] },
      callId: '',
    } as never
    expect(readEntries(longer, productPull.answer, 'products')).toEqual({ kind: 'schema' })
  })

  it('a report about tens of thousands of vouchers', () => {
    const count = 40_000
    const voucher = (place: number) => `V${place}`
    const before = Array.from({ length: count }, (_, place) => ({
      ...{ voucher: voucher(place), state: 'unused', quantity: 1, picture: null, invalid_at: null },
    })) as never
    const order = {
      order_id: 1n,
      partner_id: 7001n,
      partner_order_id: 'P',
      state: 'paid',
      quantity: count,
      used_quantity: 0,
    }
    const report = {
      ...{ orderId: 1n, partnerOrderId: 'P', quantity: count, usedQuantity: count, refundedQuantity: 0 },
      vouchers: Array.from({ length: count }, (_, place) => ({
        voucher: voucher(place),
        quantity: 1,
        status: 1 as const,
      })),
    }
    const orders = new Map([[1n, { order: { ...order, refunded_quantity: 0 } as ChangeableOrder, vouchers: before }]])
    const at = { cause: { kind: 'notice' }, now: new Date(0) } as const
    let save: ReturnType<typeof decideConsumption>['save']
    // With a pass over all vouchers for each voucher it took half a minute.
    expect(
      processorTime(() => {
        save = decideConsumption(orders, 7001n, report, at).save
      }),
    ).toBeLessThan(3_000)
    expect(save?.update.vouchers).toHaveLength(count)
    expect(save?.changes).toHaveLength(count + 1)
  })
})
