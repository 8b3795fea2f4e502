import type { InputOf } from '../../lib/json/input.ts'
import type { createOrder } from '../../orders/index.ts'

/** An invented person with a well-formed id card number: the check digit fits, the district code is not in use. */
const TESTER = {
  name: '测试游客',
  pinyin: 'Ceshi Youke',
  mobile: '13800138000',
  email: 'visitor@sandbox.example',
  address: '杭州市西湖区测试路 1 号',
  credentials: { '0': '110101199001010015' },
} as const

const NEEDED = { none: 1, one: 2, all: 3, perGroup: 4 } as const

/** As many visitors as the product asks for (visitorInfoType), and always a contact person. */
export function testVisitors(
  product: { readonly visitorInfoType?: unknown; readonly visitorInfoGroupSize?: unknown },
  quantity: number,
): Pick<InputOf<typeof createOrder>, 'visitors' | 'contact_person'> {
  const count = countOf(Number(product.visitorInfoType), Number(product.visitorInfoGroupSize), quantity)
  const visitors = Array.from({ length: count }, () => ({ ...TESTER }))
  return { contact_person: { ...TESTER }, ...(count > 0 ? { visitors } : {}) }
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
