import type { Deps } from '../../platform/deps.ts'
import { LIST_LIMITS } from '../../platform/lib/json/shape.ts'
import type { IssuedTickets } from '../interfaces/index.ts'
import type { RequestOf } from '../partner-calls/index.ts'
import { credentialsOf, saveCredentials } from './issued-store.ts'
import type { OrderRow } from './order-store.ts'
import type { RefundRow } from './refund-store.ts'

/**
 * Keeps the documents that a partner sends with the tickets (within a transaction that holds the lock of the order).
 */
export async function storeCredentials(
  { db }: Pick<Deps, 'db'>,
  orderId: bigint,
  { credentialList = [] }: Pick<IssuedTickets, 'credentialList'>,
): Promise<void> {
  const rows = credentialList
    .filter((person) => person !== undefined)
    .map(({ voucher = '', credentialNo, credentialType }) => ({
      ...{ voucher, credential_no: credentialNo, credential_type: credentialType },
    }))
  if (rows.length > 0) await saveCredentials(db, orderId, rows, LIST_LIMITS.vouchers.most)
}

type Sent = NonNullable<RequestOf<'order-refund'>['credentialList']>

/**
 * The documents of the refunded tickets: those of its codes, or all if it is for the whole order. None if there are
 * more people than tickets: then it is unknown which of those who share a code are meant.
 */
export async function credentialListOf(
  { db }: Pick<Deps, 'db'>,
  { order_id, quantity }: OrderRow,
  { vouchers, refund_quantity }: Pick<RefundRow, 'vouchers' | 'refund_quantity'>,
): Promise<Sent> {
  const whole = refund_quantity === quantity
  const concerned = (await credentialsOf(db, order_id)).filter(({ voucher }) => whole || vouchers.includes(voucher))
  if (concerned.length > refund_quantity) return []
  return concerned.map(({ voucher, credential_no, credential_type }) => ({
    ...{ credentialType: credential_type, credentialNo: credential_no, voucher },
  }))
}
