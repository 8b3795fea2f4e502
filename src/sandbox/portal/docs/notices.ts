import type { z } from 'zod'
import { MOUNT } from '../../../platform/config/mounts.ts'
import type { InterfaceName } from '../../../ticketing/interfaces/index.ts'
import {
  consumeNotice,
  dealChangeNotice,
  levelPriceNotice,
  payNotice,
  refundNotice,
  rescheduleNotice,
} from '../../../ticketing/mtp/index.ts'
import { PATH } from '../../../ticketing/mws-wire/index.ts'

/** Stable kebab-case names, like those of the interfaces. */
export type NoticeName = 'deal-change' | 'consume' | 'refund' | 'pay' | 'reschedule' | 'level-prices'

export type Direction = 'request' | 'answer' | 'notice'

/**
 * The id of a field in `/sandbox/docs`, such as `order-create.answer.body.partnerOrderId`, from the path of a
 * ShapeProblem or zod issue. An empty path is the message as a whole.
 */
export function docsAnchor(name: InterfaceName | NoticeName, direction: Direction, path: string): string {
  const steps = path.split(/[.[\]]+/).filter((step) => step !== '' && !/^\d+$/.test(step))
  return [name, direction, ...steps].join('.')
}

export const docsLink = (...field: Parameters<typeof docsAnchor>): string => `/sandbox/docs#${docsAnchor(...field)}`

/** Paths without a prefix, and the schemas by which notices are parsed. */
export const NOTICES: readonly { readonly name: NoticeName; readonly path: string; readonly shape: z.ZodType }[] = [
  { name: 'deal-change', path: MOUNT + PATH.dealChange, shape: dealChangeNotice },
  { name: 'consume', path: MOUNT + PATH.consume, shape: consumeNotice },
  { name: 'refund', path: MOUNT + PATH.refund, shape: refundNotice },
  { name: 'pay', path: MOUNT + PATH.pay, shape: payNotice },
  { name: 'reschedule', path: MOUNT + PATH.reschedule, shape: rescheduleNotice },
  { name: 'level-prices', path: MOUNT + PATH.levelPrices, shape: levelPriceNotice },
]
