import { expect, it } from 'vitest'
import type { z } from 'zod'
import { compiledOf } from '../../../src/platform/lib/compiled.ts'
import { consumeNotice } from '../../../src/ticketing/mtp/wire.ts'
import { changeableOrder, voucherOfOrder } from '../../../src/ticketing/orders/order-store.ts'

it.each(Object.entries({ consumeNotice, changeableOrder, voucherOfOrder }))('%s is compiled', (_name, schema) => {
  const isAsItWas = compiledOf<z.ZodType>(schema) === schema // which is what zod returns if it cannot compile
  expect(isAsItWas).toBe(false)
})
