import type { Deps } from '../../platform/deps.ts'
import { stringifyLossless } from '../../platform/lib/json/lossless.ts'
import { saveAdditional } from './issued-store.ts'

/** Characters of JSON that are kept of one list. */
export const MAX_ADDITIONAL = 16_384

interface Lists {
  readonly voucherAdditionalList?: unknown
  readonly orderAdditionalList?: unknown
}

/**
 * Keeps the lists without a documented format, to be shown with the order (within a transaction that holds its lock).
 * They decide nothing, so nothing in them is refused: entries beyond MAX_ADDITIONAL are counted and left out.
 */
export async function storeAdditional(
  { db }: Pick<Deps, 'db'>,
  orderId: bigint,
  { voucherAdditionalList, orderAdditionalList }: Lists,
): Promise<void> {
  const [vouchers, order] = [boundedList(voucherAdditionalList), boundedList(orderAdditionalList)]
  if (vouchers.given + order.given === 0) return
  const leftOut = vouchers.leftOut + order.leftOut
  await saveAdditional(db, orderId, { vouchers: vouchers.text, order: order.text, leftOut })
}

const isNothing = (value: unknown): boolean => value === undefined || value === null || value === ''

/** As JSON text; a value that is not a list counts as its only entry. */
function boundedList(value: unknown): { readonly text: string; readonly given: number; readonly leftOut: number } {
  const given = Array.isArray(value) ? value : isNothing(value) ? [] : [value]
  const kept: string[] = []
  let size = 2
  for (const entry of given) {
    const text = stringifyLossless([entry]).slice(1, -1)
    size += text.length + 1
    if (size > MAX_ADDITIONAL) break
    kept.push(text)
  }
  return { text: `[${kept.join(',')}]`, given: given.length, leftOut: given.length - kept.length }
}
