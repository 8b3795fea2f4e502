import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { smallInt } from '../../../src/platform/lib/json/fields.ts'
import { otherSpellingIn, problemsText, readShape } from '../../../src/platform/lib/json/shape.ts'

const schema = z.object({ list: z.array(z.object({ count: smallInt(), name: z.string(), kind: z.literal([1, 2]) })) })

describe('problems of a shape', () => {
  it('are reported all at once, each with its path', () => {
    const result = readShape(schema, {
      list: [
        { count: 1, name: 'a', kind: 1 },
        { name: 7, kind: 3 },
      ],
    })
    expect(result).toEqual({
      problems: [
        { path: 'list[1].count', problem: 'is required' },
        { path: 'list[1].name', problem: 'must be a string' },
        { path: 'list[1].kind', problem: 'must be one of 1, 2' },
      ],
    })
  })

  it('name a field that is missing only because of its capitals or separators', () => {
    const shaped = z.object({ orderId: smallInt(), body: z.object({ usedQuantity: smallInt() }) })
    const wordsOf = (value: unknown) => {
      const read = readShape(shaped, value)
      return 'problems' in read ? String(problemsText(read.problems)) : ''
    }
    expect(wordsOf({ OrderId: 1, body: { used_quantity: 1, quantity: 1 } })).toBe(
      'orderId is required, in exactly this spelling, not OrderId; ' +
        'body.usedQuantity is required, in exactly this spelling, not used_quantity',
    )
    expect(wordsOf({ order: 1, body: { [`used${'_'.repeat(99)}quantity`]: 1 } })).toBe(
      'orderId is required; body.usedQuantity is required',
    )
  })

  it.each([
    'MtDealId',
    'mt_deal_id',
    'mt-deal-id',
    'mtDealID',
    'MtDealID',
    'MT_DEAL_ID',
    'mtdealid',
    'Mt Deal Id',
    'Mt_Deal_ID',
  ])('know %s from mtDealId', (spelt) => expect(otherSpellingIn({ [spelt]: 1 }, 'mtDealId')).toBe(spelt))

  it('are found soon among very many fields, for each that is missing', () => {
    const names = Array.from({ length: 20 }, (_, n) => `field${n}`)
    const shaped = z.object(Object.fromEntries(names.map((name) => [name, z.string()])))
    const value = Object.fromEntries(Array.from({ length: 100_000 }, (_, n) => [`k${n}`, 1]))
    const timeOf = (work: () => unknown) => {
      const began = performance.now()
      work()
      return performance.now() - began
    }
    const parsing = timeOf(() => shaped.safeParse(value))
    expect(timeOf(() => readShape(shaped, value))).toBeLessThan(3 * parsing + 300)
  })

  it('are worded as one sentence with at most five', () => {
    const result = readShape(z.array(smallInt()), ['a', 'b', 'c', 'd', 'e', 'f', 'g'])
    const text = String(problemsText('problems' in result ? result.problems : []))
    expect(text).toMatch(/^\[0\] must be a 32-bit integer, as a number or string; \[1\] .*; \[4\] .*; and more$/)
  })

  it('of the value itself are worded too', () => {
    const result = readShape(schema, [])
    expect(problemsText('problems' in result ? result.problems : [])).toEqual('the JSON value must be an object')
  })

  it('are absent for a valid value', () => {
    expect(readShape(smallInt(), '7')).toEqual({ value: 7 })
  })
})
