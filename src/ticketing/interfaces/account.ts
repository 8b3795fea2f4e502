import { z } from 'zod'
import { idText, int64 } from '../../platform/lib/json/fields.ts'
import { listOf } from '../../platform/lib/json/shape.ts'
import { partnerInterface, plainAnswer } from './interface.ts'

/** Balances are cents; -1 where there is no such account. */
export const balanceQuery = partnerInterface({
  name: 'balance-query',
  defaultPath: '/balance/query',
  reads: true,
  request: z.object({ partnerDealIds: listOf('products', idText()) }),
  answer: z.looseObject({
    body: listOf(
      'products',
      z.looseObject({ partnerDealId: idText(), prepaidAccountBalance: int64(), creditAccountBalance: int64() }),
    ),
  }),
})

export const heartbeat = partnerInterface({
  name: 'heartbeat',
  defaultPath: '/alive',
  reads: true,
  request: z.object({}),
  answer: plainAnswer,
})
