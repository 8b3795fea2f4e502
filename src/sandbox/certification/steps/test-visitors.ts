import { randomInt } from 'node:crypto'
import { DAY_S, fromEpochMilliseconds } from '../../../platform/lib/clock.ts'
import type { InputOf } from '../../../platform/lib/json/input.ts'
import type { createOrder } from '../../../ticketing/orders/index.ts'

/** Shared by all made-up visitors. */
const TESTER = {
  name: '测试游客',
  pinyin: 'Ceshi Youke',
  mobile: '13800138000',
  email: 'visitor@sandbox.example',
  address: '杭州市西湖区测试路 1 号',
} as const

/** The code of a whole city, which no real id card has. */
const DISTRICT = '110100'
const FIRST_BIRTHDAY = Date.UTC(1980, 0, 1)
const BIRTHDAYS = 7_000
/** GB 11643: the weight of each digit, and the check digits indexed by the weighted sum modulo 11. */
const WEIGHTS = [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2]
const CHECK_DIGITS = '10X98765432'

const ORDINALS = 1_000
let next = randomInt(BIRTHDAYS * ORDINALS)

/** A well-formed id card number of an adult, different each time: a product may allow one order per card. */
function newIdCard(): string {
  next = (next + 1) % (BIRTHDAYS * ORDINALS)
  const birthday = fromEpochMilliseconds(FIRST_BIRTHDAY + (next % BIRTHDAYS) * 1000 * DAY_S)
  const ordinal = String(Math.floor(next / BIRTHDAYS)).padStart(3, '0')
  const digits = DISTRICT + birthday.toISOString().slice(0, 10).replaceAll('-', '') + ordinal
  const sum = WEIGHTS.reduce((total, weight, place) => total + weight * Number(digits[place]), 0)
  return digits + CHECK_DIGITS[sum % CHECK_DIGITS.length]
}

const newTester = () => ({ ...TESTER, credentials: { '0': newIdCard() } })

const NEEDED = { none: 1, one: 2, all: 3, perGroup: 4 } as const

/**
 * As many visitors as the product asks for (visitorInfoType), and always a contact person: the first visitor, if any.
 */
export function testVisitors(
  product: { readonly visitorInfoType?: unknown; readonly visitorInfoGroupSize?: unknown },
  quantity: number,
): Pick<InputOf<typeof createOrder>, 'visitors' | 'contact_person'> {
  const count = countOf(Number(product.visitorInfoType), Number(product.visitorInfoGroupSize), quantity)
  const visitors = Array.from({ length: count }, newTester)
  return { contact_person: visitors[0] ?? newTester(), ...(count > 0 ? { visitors } : {}) }
}

function countOf(type: number, groupSize: number, quantity: number): number {
  switch (type) {
    case NEEDED.one:
      return 1
    case NEEDED.all:
      return quantity
    case NEEDED.perGroup:
      return Math.ceil(quantity / Math.max(1, groupSize || 1))
    default:
      return 0
  }
}
