import { describe, expect, it } from 'vitest'
import { testVisitors } from '../../src/sandbox/certification/steps/test-visitors.ts'

const FACTORS = [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2]

/** GB 11643: eight digits of a birthday that exists, and the right check digit. */
function isIdCard(id: string): boolean {
  const [, year, month, day] = /^\d{6}(\d{4})(\d\d)(\d\d)\d{3}[\dX]$/.exec(id) ?? []
  const isDay = new Date(`${year}-${month}-${day}T00:00:00Z`).toISOString().startsWith(`${year}-${month}-${day}`)
  const sum = FACTORS.reduce((total, factor, place) => total + factor * Number(id[place]), 0)
  return isDay && id[17] === '10X98765432'[sum % 11]
}

const idsOf = (people: readonly { readonly credentials?: unknown }[] = []) =>
  people.map(({ credentials }) => (credentials as Record<string, string>)['0'] ?? '')

describe('visitors of test orders', () => {
  it('each have a valid id card number that no other order uses', () => {
    const orders = Array.from({ length: 4_000 }, () => testVisitors({ visitorInfoType: 3 }, 5))
    const ids = orders.flatMap(({ visitors }) => idsOf(visitors))
    expect(ids).toHaveLength(20_000)
    expect(new Set(ids).size).toBe(20_000)
    expect(ids.filter((id) => !isIdCard(id))).toEqual([])
  })

  it('come with a contact person, who is one of them if there are any', () => {
    const { visitors = [], contact_person } = testVisitors({ visitorInfoType: 3 }, 2)
    expect(contact_person).toEqual(visitors[0])
    const alone = testVisitors({ visitorInfoType: 1 }, 2)
    expect(alone.visitors).toBeUndefined()
    expect(idsOf([alone.contact_person ?? {}]).every(isIdCard)).toBe(true)
  })

  it('are verified with a check that tells right from wrong check digits', () => {
    expect(isIdCard('11010519491231002X')).toBe(true)
    expect(isIdCard('110105194912310021')).toBe(false)
  })
})
