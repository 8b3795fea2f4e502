import { expect, it } from 'vitest'
import { z } from 'zod'
import { exactEntry } from '../../src/ticketing/catalogue/product-store.ts'

const row = z.object({ details: exactEntry })

it('stored JSON keeps its 64-bit ids', () => {
  expect(row.parse({ details: '{"id": 9007199254740993}' })).toEqual({ details: { id: 9007199254740993n } })
})

it.each([
  ['{"title": "cut of', 'the stored JSON cannot be read: not JSON'],
  ['[]', 'expected record'],
])('%s is an error that names the column, not an empty product', (details, message) => {
  const read = row.safeParse({ details })
  expect(read.error?.issues).toMatchObject([{ path: ['details'], message: expect.stringContaining(message) }])
})
