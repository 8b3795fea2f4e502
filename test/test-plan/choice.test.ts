import { expect, it } from 'vitest'
import { choice, storedChoice } from '../../src/sandbox/test-plan/choice.ts'

it('a stored choice is read unchanged even if the rules have changed since or a newer release wrote it', () => {
  const stored = {
    functions: ['product-pull', 'of-a-newer-release'],
    products: { main: 'P-1', another: 'P-2' },
    quantity: 99,
    conditions: {
      days_ahead: 365,
      wait_minutes: 999,
      sends_twice: true,
      is_slow: false,
      out_of_order: false,
      is_rude: true,
    },
    added: { later: true },
  }
  expect(choice.safeParse(stored).success).toBe(false)
  expect(storedChoice.parse(stored)).toEqual(stored)
})
